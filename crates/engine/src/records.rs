//! Records as the store keeps them. The engine reads them and hands them on; who shows one converts it there.

pub use atelier_store::{
    Account, AccountFilter, AccountLimitsPatch, AccountPatch, AttemptRow, AuditRow, Delivery,
    DeliveryTry, JobFilter, JobPage, JobSummary, Key, LedgerRow, OperatorRow, SUMMARIES_MAX,
    Upload, UsageRow,
};
