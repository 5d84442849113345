//! Payment providers: a folder for each, and a line here.

mod epay;
mod manual;
mod stripe;

use super::provider::PaymentProvider;
use crate::context::Context;

/// Makes a provider of the settings; `None` when it takes no payments.
type Build = fn(&Context) -> Option<Box<dyn PaymentProvider>>;

const ALL: &[Build] = &[stripe::build, epay::build, manual::build];

/// Every provider that takes payments.
pub(super) fn all(context: &Context) -> Vec<Box<dyn PaymentProvider>> {
    ALL.iter().filter_map(|build| build(context)).collect()
}
