//! Records as the store keeps them. The engine reads them and hands them on; who shows one converts it there.

pub use atelier_store::{
    Account, AccountCredits, AccountFilter, AccountLimitsPatch, AccountPatch, AttemptRow, AuditRow,
    CreditRow, Delivery, DeliveryTry, EventRow, GroupedUsage, Invitation, JobFilter, JobPage,
    JobSummary, Key, KeySpending, LedgerFilter, LedgerRow, Link, Member, MemberProfile, Membership,
    OperatorRow, PaymentFilter, PaymentRow, PaymentState, PendingInvitation, Period, Person,
    Redeemed, RefundRow, SUMMARIES_MAX, SessionRow, SpenderFilter, Upload, UsageGroup, UsageKind,
    UsageQuestion, UsageRow, VoucherBatch, VoucherTerms,
};
