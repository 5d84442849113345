//! `atelier config`: what the service on this machine is set to, and what each setting means.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use super::command::{Command, Group};
use super::place::Place;
use crate::client::fault::{End, Fault};
use crate::config::explain::{Setting, settings};
use crate::terminal::screen::{self, Ink};

/// The settings of the service: print, check, explain.
#[derive(Args)]
pub(super) struct Settings {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Prints every setting as it is now, as TOML; secrets are hidden.
    Print {
        #[command(flatten)]
        place: Place,
        /// Only those that differ from the defaults.
        #[arg(long)]
        changed: bool,
    },
    /// Says whether the service could start with these settings.
    Check(Place),
    /// Says what a setting is for, what it is now and who said so.
    Explain {
        #[command(flatten)]
        place: Place,
        /// Its path, or a part of it or of its description.
        setting: String,
    },
}

impl Command for Settings {
    const NAME: &str = "config";
    const GROUP: Group = Group::Service;
    const EXAMPLES: &str = "\
atelier config print --changed
atelier config check --config atelier.toml
atelier config explain jobs.max_queue
atelier config explain retention";

    fn run(self) -> Result<ExitCode> {
        match self.what {
            What::Print { place, changed } => {
                print(&settings(&place.sources(Vec::new()))?, changed);
            }
            What::Check(place) => {
                if let Err(error) = place.config() {
                    bail!(Fault::new(End::Refused, format!("{error:#}")));
                }
                screen::say("the settings are good");
            }
            What::Explain { place, setting } => {
                explain(&settings(&place.sources(Vec::new()))?, &setting)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(all: &[Setting], changed: bool) {
    let mut section = "";
    for setting in all {
        if changed && setting.from == "default" {
            continue;
        }
        let (inside, name) = setting.path.rsplit_once('.').unwrap_or(("", &setting.path));
        if inside != section {
            screen::say(format!("\n[{inside}]"));
            section = inside;
        }
        let from = match setting.from.as_str() {
            "default" => String::new(),
            from => screen::ink(Ink::Faint, &format!("  # {from}")),
        };
        screen::say(format!("{name} = {}{from}", setting.now));
    }
}

fn explain(all: &[Setting], asked: &str) -> Result<()> {
    let asked = asked.to_lowercase();
    let exact = |one: &&Setting| one.path == asked || one.variable.to_lowercase() == asked;
    let alike =
        |one: &&Setting| one.path.contains(&asked) || one.about.to_lowercase().contains(&asked);
    let mut found: Vec<&Setting> = all.iter().filter(exact).collect();
    if found.is_empty() {
        let inside = format!("{}.", asked.trim_end_matches('.'));
        let below = |one: &&Setting| one.path.starts_with(&inside);
        found = all.iter().filter(below).collect();
    }
    if found.is_empty() {
        found = all.iter().filter(alike).collect();
    }
    if found.is_empty() {
        bail!(Fault::new(
            End::Usage,
            format!("no setting is about `{asked}`; `atelier config print` has all")
        ));
    }
    for (number, setting) in found.iter().enumerate() {
        if number > 0 {
            screen::say("");
        }
        screen::say(screen::ink(Ink::Bold, &setting.path));
        setting
            .about
            .lines()
            .for_each(|line| screen::say(format!("  {line}")));
        screen::say(format!("  now       {}  ({})", setting.now, setting.from));
        screen::say(format!("  default   {}", setting.usual));
        screen::say(format!("  variable  {}", setting.variable));
    }
    Ok(())
}
