//! Records as the store keeps them. The engine reads them and hands them on; who shows one converts it there.

pub use atelier_store::{
    Account, AccountCredits, AccountFilter, AccountLimitsPatch, AccountPatch, AttemptRow, AuditRow,
    BookRow, CloseTally, CreditRow, Delivery, DeliveryTry, EventRow, ExportPart, ExportRun,
    GroupedUsage, JobFilter, JobPage, JobSummary, Key, KeySpending, LedgerFilter, LedgerRow, Link,
    MonthClose, NoticeDelivery, NoticeSubscription, OperatorRow, PaymentFilter, PaymentRow,
    PaymentState, Period, Redeemed, RefundRow, SUMMARIES_MAX, SpenderFilter, Statement, Upload,
    UsageGroup, UsageKind, UsageQuestion, UsageRow, VoucherBatch, VoucherTerms,
};
