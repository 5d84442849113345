//! Records as the store keeps them. The engine reads them and hands them on; who shows one converts it there.

pub use atelier_store::{
    Account, AccountFilter, AccountLimitsPatch, AccountPatch, AttemptRow, AuditRow, Delivery,
    DeliveryTry, GroupedUsage, JobFilter, JobPage, JobSummary, Key, KeySpending, LedgerFilter,
    LedgerRow, Link, OperatorRow, Period, SUMMARIES_MAX, SpenderFilter, Upload, UsageGroup,
    UsageKind, UsageQuestion, UsageRow,
};
