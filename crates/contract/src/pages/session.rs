//! A session of the console.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::families::artgen::account::AccountRecord;
use crate::fields::Flag;

/// Credential that opens a session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SignIn {
    /// An API key, an operator's token, or the word of a link.
    pub secret: String,
}

/// How a session is ended.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct SignOut {
    /// Whether every session of the same key or operator ends as well.
    #[serde(default)]
    pub everywhere: Flag<false>,
    /// Whether only an operator's look at an account ends.
    #[serde(default)]
    pub visit: Flag<false>,
}

/// Who is signed in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Session {
    /// To be sent back as `X-CSRF-Token` with everything that changes something.
    pub csrf: String,
    /// The account's side, if there is one.
    pub account: Option<AccountRecord>,
    /// The operator's side, if there is one.
    pub operator: Option<SignedInOperator>,
    /// Whether the account's side may only look, as an operator who looks at an account may.
    pub looking: bool,
}

/// An operator who is signed in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SignedInOperator {
    /// The name in the audit list.
    pub name: String,
    /// Role: `operator` or `viewer`.
    pub role: String,
}

/// Nothing more to say.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SignedOut")]
pub struct SignOutReply {
    /// Always true: the session is over.
    pub signed_out: bool,
}
