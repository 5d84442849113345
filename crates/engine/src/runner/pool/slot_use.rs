//! What a place at a worker account was taken for.

use atelier_fairness::share::FairPermit;

/// How a place was taken.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, told by another part"
)]
#[derive(Default)]
pub(super) struct SlotUse {
    /// To see whether the worker account is well again.
    pub(super) probe: bool,
    /// The vendor was asked already.
    pub(super) began: bool,
    /// For long work.
    pub(super) long: bool,
    /// One of several slots is left to short work of the same account, on all nodes together.
    pub(super) leaves_one: bool,
    /// That its account has one job more in hand.
    pub(super) _counted: Option<FairPermit>,
}
