//! `atelier config`: what the service on this machine is set to, and what each setting means.

use std::process::ExitCode;

use anyhow::{Result, bail};
use atelier_cli::screen::{self, TextStyle};
use atelier_cli::{Command, ExitReason, Fault, Group, block_on};
use clap::{Args, Subcommand};

use super::instance_options::InstanceOptions;
use super::rehearsal::rehearse;
use crate::config::explain::{Setting, settings};

/// Settings of the service: print, check, explain.
#[derive(Args)]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    what: ConfigAction,
}

#[derive(Subcommand)]
enum ConfigAction {
    /// Prints every setting with its value, as TOML; secrets are hidden.
    Print {
        #[command(flatten)]
        instance: InstanceOptions,
        /// Only settings that differ from their defaults.
        #[arg(long)]
        changed: bool,
    },
    /// Checks whether the service would start with these settings, without touching its data.
    Check(InstanceOptions),
    /// Shows what a setting does, its value, and where the value comes from.
    Explain {
        #[command(flatten)]
        instance: InstanceOptions,
        /// Path of the setting, or a part of its path or description.
        setting: String,
    },
}

impl Command for ConfigCommand {
    const NAME: &str = "config";
    const GROUP: Group = Group::Service;
    const EXAMPLES: &str = "\
atelier config print --changed
atelier config check --config atelier.toml
atelier config explain jobs.max_queue
atelier config explain retention";

    fn run(self) -> Result<ExitCode> {
        match self.what {
            ConfigAction::Print { instance, changed } => {
                print(&settings(&instance.sources(Vec::new()))?, changed);
            }
            ConfigAction::Check(instance) => {
                return block_on(async {
                    let checked = match instance.config() {
                        Ok(config) => rehearse(&config).await,
                        Err(error) => Err(error),
                    };
                    if let Err(error) = checked {
                        bail!(Fault::new(ExitReason::Refused, screen::cause(&error)));
                    }
                    screen::say("the settings are valid");
                    Ok(ExitCode::SUCCESS)
                });
            }
            ConfigAction::Explain { instance, setting } => {
                explain(&settings(&instance.sources(Vec::new()))?, &setting)?;
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
            from => screen::ink(TextStyle::Faint, &format!("  # {from}")),
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
            ExitReason::Usage,
            format!("no setting matches `{asked}`; `atelier config print` lists all")
        ));
    }
    for (number, setting) in found.iter().enumerate() {
        if number > 0 {
            screen::say("");
        }
        screen::say(screen::ink(TextStyle::Bold, &setting.path));
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
