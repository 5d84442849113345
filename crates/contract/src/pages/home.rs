//! The first page: where everything else is.

use schemars::JsonSchema;
use serde::Serialize;

/// Where the documents are.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Home {
    /// The name of the service.
    pub service: &'static str,
    /// Version of the program that answers.
    pub version: &'static str,
    /// The interface for machines.
    pub openapi: &'static str,
    /// The interface for people.
    pub docs: &'static str,
    /// A page to look at an account with.
    pub console: &'static str,
    /// Whether it can take work.
    pub ready: &'static str,
}
