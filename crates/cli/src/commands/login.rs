//! `atelier login`, `logout` and `profile`: which services one uses, and as whom.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use atelier_contract::catalogue::Catalogue;
use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::client::fault::{ExitReason, Fault};
use crate::client::profile::{self, Profiles};
use crate::client::{ApiRequest, Client};
use crate::command::{ClientCommand, Command, Group, block_on};
use crate::terminal::screen;

/// Signs in to a service: prompts for a key and stores it.
#[derive(Args)]
pub(super) struct Login {
    /// URL of the service.
    url: String,
    /// Name of the profile to store it in.
    #[arg(long, short, value_name = "NAME", default_value = "default")]
    profile: String,
    /// Stores an operator token instead of an API key.
    #[arg(long)]
    operator: bool,
    /// Reads the key from a file instead of prompting for it.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Stores the key without checking it.
    #[arg(long)]
    unchecked: bool,
}

impl ClientCommand for Login {
    const NAME: &str = "login";
    const GROUP: Group = Group::Here;
    const EXAMPLES: &str = "\
atelier login http://127.0.0.1:8080
atelier login https://media.example.com --profile work --key-file key.txt
atelier login https://media.example.com --profile work --operator
echo \"$KEY\" | atelier login https://media.example.com";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        block_on(self.sign_in(catalogue))
    }
}

impl Login {
    async fn sign_in(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let url = url::Url::parse(&self.url).ok();
        if !url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
        {
            bail!(Fault::new(
                ExitReason::Usage,
                "URL: must be an http or https URL such as http://127.0.0.1:8080"
            ));
        }
        let secret = self.secret()?;
        if secret.is_empty() || secret.contains(char::is_whitespace) {
            bail!(Fault::new(ExitReason::Usage, "the key must be one word"));
        }
        let file = profile::file()?;
        let mut profiles = Profiles::read(&file)?;
        let url = self.url.trim_end_matches('/').to_owned();
        let kept = profiles.profiles.entry(self.profile.clone()).or_default();
        if kept.url != url {
            // A secret is for the service it was given for.
            *kept = profile::Profile::default();
            kept.url = url;
        }
        if self.operator {
            kept.token = secret;
        } else {
            kept.key = secret;
        }
        let who = if self.unchecked {
            String::new()
        } else {
            let client = Client::new(kept.clone(), catalogue)?;
            check(&client, self.operator).await?
        };
        let place = kept.url.clone();
        profiles.current.clone_from(&self.profile);
        profiles.write(&file)?;
        screen::note(format!(
            "signed in to {place}{who}; stored as `{}` in {}",
            self.profile,
            file.display()
        ));
        Ok(ExitCode::SUCCESS)
    }

    fn secret(&self) -> Result<String> {
        let text = match &self.key_file {
            Some(file) => {
                std::fs::read_to_string(file).with_context(|| file.display().to_string())?
            }
            None if std::io::stdin().is_terminal() => hidden(if self.operator {
                "token: "
            } else {
                "API key: "
            })?,
            None => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                text
            }
        };
        Ok(text.trim().to_owned())
    }
}

/// Tries a key; whose it is.
async fn check(client: &Client, operator: bool) -> Result<String> {
    if operator {
        let page = client.operation("admin.stats")?;
        client
            .call(page, &ApiRequest::plain(page, page.path.clone()))
            .await?;
        return Ok(" as an operator".into());
    }
    let page = client
        .catalogue
        .operations
        .iter()
        .find(|page| page.path == atelier_contract::ACCOUNT_PATH);
    let page = page.context("the service has no page about the account")?;
    let answer = client
        .call(page, &ApiRequest::plain(page, page.path.clone()))
        .await?;
    let data = &answer["data"];
    let email = data["email"].as_str().unwrap_or_default();
    Ok(format!(" as {email}, balance {}", data["balance"]))
}

/// Asks for a line that is not shown while it is typed.
fn hidden(question: &str) -> Result<String> {
    let terminal = std::io::stdin();
    let before = tcgetattr(&terminal)?;
    let mut dark = before.clone();
    dark.local_modes.remove(LocalModes::ECHO);
    screen::ask(question);
    tcsetattr(&terminal, OptionalActions::Flush, &dark)?;
    let mut line = String::new();
    let read = terminal.lock().read_line(&mut line);
    tcsetattr(&terminal, OptionalActions::Flush, &before)?;
    screen::note("");
    read?;
    Ok(line)
}

/// Signs out: deletes a profile with its keys.
#[derive(Args)]
pub(super) struct Logout {
    /// Profile to delete; by default the current one.
    profile: Option<String>,
}

impl Command for Logout {
    const NAME: &str = "logout";
    const GROUP: Group = Group::Here;
    const EXAMPLES: &str = "atelier logout\natelier logout work";

    fn run(self) -> Result<ExitCode> {
        let file = profile::file()?;
        let mut profiles = Profiles::read(&file)?;
        let name = self.profile.unwrap_or_else(|| profiles.usual().to_owned());
        if profiles.profiles.remove(&name).is_none() {
            bail!(Fault::new(
                ExitReason::Usage,
                format!("there is no profile `{name}`")
            ));
        }
        if profiles.current == name {
            profiles.current = profiles.profiles.keys().next().cloned().unwrap_or_default();
        }
        profiles.write(&file)?;
        screen::note(format!("forgot `{name}`"));
        Ok(ExitCode::SUCCESS)
    }
}

/// Lists the profiles, or switches to one.
#[derive(Args)]
pub(super) struct ProfileCommand {
    /// Profile to switch to.
    name: Option<String>,
}

impl Command for ProfileCommand {
    const NAME: &str = "profile";
    const GROUP: Group = Group::Here;
    const EXAMPLES: &str = "atelier profile\natelier profile work";

    fn run(self) -> Result<ExitCode> {
        let file = profile::file()?;
        let mut profiles = Profiles::read(&file)?;
        if let Some(name) = self.name {
            profiles.chosen(Some(&name))?;
            profiles.current = name;
            profiles.write(&file)?;
        }
        let names = profiles.profiles.keys().map(|name| name.chars().count());
        let urls = profiles
            .profiles
            .values()
            .map(|one| one.url.chars().count());
        let widest = (names.max().unwrap_or(0), urls.max().unwrap_or(0));
        for (name, profile) in &profiles.profiles {
            let mark = if *name == profiles.usual() { "*" } else { " " };
            let what = match (profile.key.is_empty(), profile.token.is_empty()) {
                (false, false) => "key, operator token",
                (false, true) => "key",
                (true, false) => "operator token",
                (true, true) => "nothing",
            };
            let (names, urls) = widest;
            screen::say(format!(
                "{mark} {name:names$}  {:urls$}  {what}",
                profile.url
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}
