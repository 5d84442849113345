//! Who takes payments: a folder for each provider, and a line here.

mod epay;
mod manual;
mod stripe;

use super::provider::PaymentProvider;
use crate::context::Context;

/// Makes a provider of the settings; `None` when it takes no payments.
type Build = fn(&Context) -> Result<Option<Box<dyn PaymentProvider>>, String>;

const ALL: &[Build] = &[stripe::build, epay::build, manual::build];

/// Every provider that takes payments. One that cannot be used is left out, and the log says why.
pub(super) fn all(context: &Context) -> Vec<Box<dyn PaymentProvider>> {
    let built = ALL.iter().filter_map(|build| {
        let wrong = |why| tracing::error!(why, "a provider of payments cannot be used");
        build(context).map_err(wrong).ok().flatten()
    });
    built.collect()
}
