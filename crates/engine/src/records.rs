//! Records as the store keeps them. The engine reads them and hands them on; who shows one converts it there.

pub use atelier_store::{
    Account, AccountCredits, AccountFilter, AccountLimitsPatch, AccountPatch, AttemptRow, AuditRow,
    CreditRow, Delivery, DeliveryTry, EventRow, GroupedUsage, JobFilter, JobPage, JobSummary, Key,
    KeySpending, LedgerFilter, LedgerRow, Link, OperatorRow, PaymentFilter, PaymentRow,
    PaymentState, Period, Redeemed, RefundRow, SUMMARIES_MAX, SpenderFilter, Upload, UsageGroup,
    UsageKind, UsageQuestion, UsageRow, VoucherBatch, VoucherTerms,
};
