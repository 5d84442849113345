//! What an invariant is: rows of a kind, and a condition on one of them that never holds while all is well.

/// Something that is always so.
#[derive(Debug)]
pub(crate) struct Invariant {
    /// Its name, after its group; metrics and reports carry it.
    pub(crate) name: &'static str,
    /// What is wrong when it is broken.
    pub(crate) what: &'static str,
    /// The rows it is asked of.
    pub(crate) of: RowKind,
    /// The condition of a broken row. It sees the row by the name of its table and reaches others by key; `:now` is the
    /// service's own time. It is one statement's business, so that it holds of one moment while others write.
    pub(crate) broken: &'static str,
    /// Whether it is promised only while a service works on the database.
    pub(crate) at_work: bool,
}

/// Rows that are walked over, by a key that has an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// Asked about all the time, so what is asked of them is as quick of an account with millions of jobs.
    Accounts,
    /// Accounts as well, for what goes over all their jobs.
    Histories,
    Checkpoints,
    Entries,
    Jobs,
    OpenJobs,
    LiveAttempts,
    Deliveries,
    OpenDeliveries,
    Calls,
    Queues,
    Tallies,
    Totals,
    Hours,
    Assets,
    Models,
    KeyWindows,
    PriceGroups,
    Credits,
    HoldParts,
    VoucherBatches,
    Vouchers,
    Plans,
    PlanPeriods,
    Payments,
    Products,
    ImportedAccounts,
}

impl RowKind {
    /// All of them, in the order in which they are looked at.
    pub(crate) const ALL: [Self; 27] = [
        Self::Accounts,
        Self::Histories,
        Self::Checkpoints,
        Self::Queues,
        Self::OpenJobs,
        Self::OpenDeliveries,
        Self::LiveAttempts,
        Self::Calls,
        Self::Jobs,
        Self::Entries,
        Self::Deliveries,
        Self::Assets,
        Self::Tallies,
        Self::Totals,
        Self::Hours,
        Self::Models,
        Self::KeyWindows,
        Self::PriceGroups,
        Self::Credits,
        Self::HoldParts,
        Self::VoucherBatches,
        Self::Vouchers,
        Self::Plans,
        Self::PlanPeriods,
        Self::Payments,
        Self::Products,
        Self::ImportedAccounts,
    ];
}
