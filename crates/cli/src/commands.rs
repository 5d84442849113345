//! What calls a service. What a file here does is a line in the table of commands; everything else is made from the
//! tables of operations.

mod account;
mod backends;
mod batch;
pub(crate) mod call;
mod callbacks;
pub(crate) mod client_options;
pub(crate) mod complete;
mod completions;
mod export;
mod groups;
mod known_models;
mod login;
pub(crate) mod man;
mod mcp;
mod models;
mod named_call;
pub(crate) mod nouns;
mod operation_command;
mod operation_help;
mod output;
mod results;
mod tally;
mod verify;
mod watch;

use crate::command::Entry;

/// What a caller does with jobs and the account, and an operator with models and groups.
pub(crate) const CALLER: &[Entry] = &[
    Entry::client::<watch::WatchCommand>(),
    Entry::client::<account::Account>(),
    Entry::client::<verify::VerifyCommand>(),
    callbacks::ENTRY,
    Entry::client::<export::ExportCommand>(),
    Entry::client::<models::ModelsCommand>(),
    backends::ENTRY,
    Entry::client::<groups::GroupsCommand>(),
];

/// What belongs to the program itself.
pub(crate) const PROGRAM: &[Entry] = &[
    Entry::client::<login::Login>(),
    Entry::of::<login::Logout>(),
    Entry::of::<login::ProfileCommand>(),
    Entry::client::<mcp::Mcp>(),
    Entry::of::<completions::Completions>(),
    complete::ENTRY,
    man::ENTRY,
];
