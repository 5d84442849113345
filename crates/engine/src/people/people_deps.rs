//! What looks after people uses of the other parts.

use std::sync::Arc;

use crate::admin::Admin;
use crate::context::Context;
use crate::mail::Mail;

/// Why an older release may not work beside people.
pub(crate) const LACKS: &str = "knows of no people";

/// What the people part uses of the other parts.
#[derive(Clone)]
pub(crate) struct PeopleDeps {
    pub(crate) context: Arc<Context>,
    pub(crate) admin: Arc<Admin>,
    pub(crate) mail: Arc<Mail>,
}
