//! The commands that act on the installation of this machine, and the command line that they are part of. What calls a
//! service over HTTP is in the crate of the command line.

mod archive;
mod audit;
mod backup;
mod config;
mod doctor;
mod first_run;
mod instance_options;
mod local;
mod maintenance;
mod rehearsal;
mod serve;
mod start_checks;

use std::sync::LazyLock;

use atelier_cli::{CommandLine, Entry};
use atelier_contract::catalogue::Catalogue;

use crate::catalogue::catalogue;
use serve::Serve;

/// The whole command line; without a word it starts the service.
pub(crate) static COMMAND_LINE: CommandLine = CommandLine::new::<Serve>(LOCAL, || &CATALOGUE);

/// The commands of this machine.
const LOCAL: &[Entry] = &[
    Entry::of::<Serve>(),
    Entry::of::<config::ConfigCommand>(),
    Entry::of::<doctor::Doctor>(),
    Entry::of::<maintenance::Audit>(),
    Entry::of::<maintenance::Backup>(),
    Entry::of::<maintenance::Restore>(),
    Entry::of::<maintenance::Archive>(),
    Entry::of::<local::Local>(),
];

/// Everything that can be called; read once, and not by a service.
static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(catalogue);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_can_be_built_and_says_what_it_does() {
        let mut whole = COMMAND_LINE.words();
        whole.clone().debug_assert();
        whole.build();
        let mut seen = 0;
        let mut left: Vec<&clap::Command> = whole.get_subcommands().collect();
        while let Some(command) = left.pop() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            left.extend(command.get_subcommands());
            seen += 1;
        }
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn the_service_starts_without_the_other_words() {
        for line in [&["atelier"][..], &["atelier", "serve", "--data-dir", "a"]] {
            assert!(
                COMMAND_LINE
                    .start_words()
                    .try_get_matches_from(line)
                    .is_ok(),
                "{line:?}"
            );
            assert!(
                COMMAND_LINE.words().try_get_matches_from(line).is_ok(),
                "{line:?}"
            );
        }
        for line in ["--help", "--version", "help", "jobs"] {
            let read = COMMAND_LINE
                .start_words()
                .try_get_matches_from(["atelier", line]);
            assert!(read.is_err(), "{line} is for the whole command line");
        }
    }

    #[test]
    fn every_submit_of_the_table_can_be_called_by_name() {
        let whole = COMMAND_LINE.words();
        let call = whole.find_subcommand("call").expect("call");
        for family in atelier_contract::FAMILIES {
            for submit in family.submits {
                assert!(
                    call.find_subcommand(submit.name).is_some(),
                    "{}",
                    submit.name
                );
            }
        }
    }

    #[test]
    fn every_command_of_its_own_has_examples() {
        let whole = COMMAND_LINE.words();
        // What is hidden is for the shell's scripts.
        for command in whole.get_subcommands().filter(|one| !one.is_hide_set()) {
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let plain = command.get_subcommands().next().is_none()
                && command.get_arguments().all(clap::Arg::is_global_set);
            assert!(
                plain || help.contains("Example") || help.contains("Fields"),
                "{}",
                command.get_name()
            );
        }
    }

    #[test]
    fn the_help_of_every_operation_has_each_of_its_fields() {
        let whole = COMMAND_LINE.words();
        let call = whole.find_subcommand("call").expect("call");
        let mut fields = 0;
        for command in call.get_subcommands() {
            let operation = CATALOGUE.find(command.get_name()).expect("an operation");
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let in_path = operation.path.split('/');
            let in_path =
                in_path.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
            let mut names: Vec<&str> = in_path.collect();
            let body = operation.body.as_ref().or(operation.form.as_ref());
            for object in operation.query.iter().chain(body) {
                let path = object["$ref"].as_str();
                let name = path.and_then(|path| path.rsplit('/').next());
                let object = name.map_or(object, |name| &CATALOGUE.schemas[name]);
                let inside = object["properties"].as_object().into_iter().flatten();
                names.extend(inside.map(|(name, _)| name.as_str()));
            }
            for name in &names {
                let listed = help.contains(&format!("  {name}"));
                assert!(listed, "{}: {name}\n{help}", operation.name);
            }
            fields += names.len();
            let example = help.contains(&format!("Example:\n  atelier call {}", operation.name));
            assert_eq!(example, operation.example.is_some(), "{help}");
        }
        assert!(fields > 400, "{fields}");
    }
}
