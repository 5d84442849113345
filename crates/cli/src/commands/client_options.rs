//! What every command has that talks to a service: which one, and how it answers.

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::Args;

use crate::client::Client;
use crate::client::profile::{Profiles, file};

/// Which service, and how it answers.
#[derive(Args, Clone)]
pub(crate) struct ClientOptions {
    /// Profile to use, as named at `login`.
    #[arg(
        long,
        short,
        global = true,
        value_name = "NAME",
        help_heading = "Everywhere"
    )]
    profile: Option<String>,
    /// Prints the service's responses as JSON, unchanged.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(super) json: bool,
    /// Prints only what was asked for.
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub(super) quiet: bool,
}

impl ClientOptions {
    /// A way to the service.
    pub(super) fn client(&self, catalogue: &'static Catalogue) -> Result<Client> {
        let profiles = Profiles::read(&file()?)?;
        Client::new(profiles.chosen(self.profile.as_deref())?, catalogue)
    }
}

/// Adds the options of some group to a command that keeps saying what it does itself.
pub(crate) fn add_options<A: Args>(command: clap::Command) -> clap::Command {
    let about = command.get_about().cloned();
    A::augment_args(command).about(about.unwrap_or_default())
}
