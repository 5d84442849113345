//! `atelier complete`: what may come next on an unfinished line, for the scripts that `atelier completions` prints.

use std::path::Path;
use std::process::ExitCode;

use atelier_contract::catalogue::{ApiOperation, Catalogue};
use clap::{Arg, ArgMatches, Command, ValueHint};
use serde_json::Value;

use super::known_models::{self, ModelNames, ModelsWanted};
use super::nouns::operation_of;
use super::operation_help;
use crate::client::{field_names, field_of, model_field};
use crate::command::{Entry, Group};
use crate::terminal::screen;

/// What it is called.
pub(crate) const NAME: &str = "complete";

/// Its line in the table of commands; what it does needs the whole of them.
pub(crate) const ENTRY: Entry = Entry {
    group: Group::Here,
    words: |_| words(),
    run: |_, _| Ok(ExitCode::SUCCESS),
};

/// Bash breaks words behind these, and before this one.
const BREAKS: [char; 2] = ['=', ':'];
const KEPT_BREAK: char = '@';
/// What bash would read as something else than a letter of a file's name.
const SPECIAL: &str = " \t\\\"'`$&;|<>()*?[]{}#!~";

fn words() -> Command {
    Command::new(NAME)
        .about("Lists completions for an unfinished line")
        .hide(true)
        .arg(Arg::new("shell").required(true))
        .arg(Arg::new("line").required(true).allow_hyphen_values(true))
}

/// Something that may come next.
#[derive(Debug, PartialEq)]
struct CompletionCandidate {
    text: String,
    about: String,
}

/// Prints what may come next.
pub(crate) fn run(matches: &ArgMatches, whole: &Command, catalogue: &'static Catalogue) {
    let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
    let (shell, line) = (text("shell"), text("line"));
    let (words, quoted) = split(&line);
    let current = words.last().cloned().unwrap_or_default();
    let profile = profile_in(&words);
    let names = |wanted: ModelsWanted<'_>| known_models::ask(catalogue, profile, wanted);
    for next in candidates(whole, catalogue, &words, &names) {
        match shell.as_str() {
            "bash" => screen::say(in_bash(&next.text, &current, quoted)),
            _ => screen::say(format!("{}\t{}", next.text, next.about)),
        }
    }
}

/// The profile that a line names.
fn profile_in(words: &[String]) -> Option<&str> {
    let mut finished = words.iter().zip(words.iter().skip(1));
    let behind = finished.find(|(option, _)| matches!(option.as_str(), "--profile" | "-p"));
    let behind = behind.map(|(_, name)| name.as_str());
    behind.or_else(|| {
        words
            .iter()
            .find_map(|word| word.strip_prefix("--profile="))
    })
}

/// What bash puts into the line: it replaces only what stands behind the last break, or behind a quote that is open, and
/// takes what it is given as it is.
fn in_bash(text: &str, current: &str, quoted: Option<usize>) -> String {
    if let Some(place) = quoted {
        return text.get(place..).unwrap_or_default().to_owned();
    }
    let broken = current.rfind(BREAKS).map_or(0, |place| place + 1);
    let cut = broken.max(current.rfind(KEPT_BREAK).unwrap_or(0));
    let mut shown = String::new();
    for letter in text.get(cut..).unwrap_or_default().chars() {
        if SPECIAL.contains(letter) {
            shown.push('\\');
        }
        shown.push(letter);
    }
    shown
}

/// The words of a line, the last one being unfinished, and where in it a quote is open; quotes and backslashes are read as
/// shells do.
fn split(line: &str) -> (Vec<String>, Option<usize>) {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut opened = 0;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = words.last_mut();
        match (letter, quote, last) {
            ('\\', None | Some('"'), Some(word)) => word.extend(letters.next()),
            (letter, Some(open), _) if letter == open => quote = None,
            ('\'' | '"', None, Some(word)) => {
                quote = Some(letter);
                opened = word.len();
            }
            (' ' | '\t', None, Some(word)) => {
                if !word.is_empty() {
                    words.push(String::new());
                }
            }
            (letter, _, Some(word)) => word.push(letter),
            (_, _, None) => {}
        }
    }
    (words, quote.map(|_| opened))
}

fn candidates(
    whole: &Command,
    catalogue: &'static Catalogue,
    words: &[String],
    names: &ModelNames<'_>,
) -> Vec<CompletionCandidate> {
    let (current, before) = words
        .split_last()
        .map_or(("", words), |(last, rest)| (last.as_str(), rest));
    let mut command = whole;
    let mut path = Vec::new();
    let mut options: Vec<&Arg> = whole.get_arguments().collect();
    for word in before.iter().skip(1) {
        if let Some(inner) = command.find_subcommand(word) {
            let kept = command.get_arguments().filter(|arg| arg.is_global_set());
            options = kept.chain(inner.get_arguments()).collect();
            path.push(inner.get_name());
            command = inner;
        }
    }
    let mut found = Vec::new();
    let asked = before.last().and_then(|word| option(&options, word));
    if let Some(arg) = asked.filter(|arg| arg.get_action().takes_values()) {
        let values = arg.get_possible_values();
        found.extend(values.iter().map(|value| candidate(value.get_name(), "")));
        if let Some(models) = models_for(&path, arg, catalogue, names) {
            found.extend(models.iter().map(|name| candidate(name, "")));
        } else if values.is_empty() {
            found.extend(files("", current));
        }
    } else if current.starts_with('-') {
        for arg in &options {
            if let Some(long) = arg.get_long() {
                let about = arg.get_help().map(ToString::to_string);
                found.push(candidate(&format!("--{long}"), &about.unwrap_or_default()));
            }
        }
    } else {
        let inner = command.get_subcommands().filter(|one| !one.is_hide_set());
        found.extend(inner.map(|one| {
            candidate(
                one.get_name(),
                &one.get_about().map(ToString::to_string).unwrap_or_default(),
            )
        }));
        for arg in command.get_positionals() {
            let values = arg.get_possible_values();
            found.extend(values.iter().map(|value| candidate(value.get_name(), "")));
        }
        if let ["models", "get" | "change" | "remove" | "preview"] = path.as_slice() {
            let models = names(ModelsWanted::Every);
            found.extend(models.iter().map(|name| candidate(name, "")));
        }
        if let Some(operation) = operation_of(catalogue, &path) {
            found.extend(fields(catalogue, &operation, current, names));
        }
        if takes_files(command) && !current.contains('=') {
            found.extend(files("", current));
        }
    }
    found.retain(|one| one.text.starts_with(current));
    found
}

/// The models that an option of `models` may name, if it names one.
fn models_for(
    path: &[&str],
    arg: &Arg,
    catalogue: &Catalogue,
    names: &ModelNames<'_>,
) -> Option<Vec<String>> {
    match (path.first(), arg.get_long()) {
        (Some(&"models"), Some("like")) => Some(known_models::likes(catalogue)),
        (Some(&"models"), Some("successor")) => Some(names(ModelsWanted::Every)),
        _ => None,
    }
}

/// Whether words of a command may be files.
fn takes_files(command: &Command) -> bool {
    let mut bare = command.get_positionals();
    bare.any(|arg| arg.get_value_hint() == ValueHint::FilePath)
}

fn option<'a>(options: &[&'a Arg], word: &str) -> Option<&'a Arg> {
    let by_long = |arg: &&&Arg| {
        arg.get_long()
            .is_some_and(|long| word == format!("--{long}"))
    };
    let by_short = |arg: &&&Arg| {
        arg.get_short()
            .is_some_and(|short| word == format!("-{short}"))
    };
    let found = options.iter().find(|arg| by_long(arg) || by_short(arg));
    found.copied()
}

fn candidate(text: &str, about: &str) -> CompletionCandidate {
    let about = about.lines().next().unwrap_or_default().to_owned();
    CompletionCandidate {
        text: text.to_owned(),
        about,
    }
}

/// The fields of an operation, and the values of the one that has been begun.
fn fields(
    catalogue: &Catalogue,
    operation: &str,
    current: &str,
    names: &ModelNames<'_>,
) -> Vec<CompletionCandidate> {
    let Some(operation) = catalogue.find(operation) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if operation.makes.is_some() {
        found.extend(models_of(catalogue, operation, current, names));
    }
    for (name, _) in field_names(catalogue, operation) {
        let schema = field_of(catalogue, operation, &name).unwrap_or(&Value::Null);
        let kind = operation_help::kind(catalogue, schema);
        let Some(begun) = current.strip_prefix(&format!("{name}=")) else {
            found.push(candidate(&format!("{name}="), &kind));
            continue;
        };
        if let Some(file) = begun.strip_prefix('@') {
            found.extend(files(&format!("{name}=@"), file));
            continue;
        }
        let words = operation_help::allowed_values(catalogue, schema);
        let words = words.unwrap_or_else(|| match kind.as_str() {
            "true | false" => vec!["true".into(), "false".into()],
            picture if picture.contains("@file") => vec!["@".into()],
            _ => Vec::new(),
        });
        found.extend(
            words
                .iter()
                .map(|word| candidate(&format!("{name}={word}"), "")),
        );
    }
    found
}

/// The models that a request may name, asked for once the field is begun: an operator may have made some since.
fn models_of(
    catalogue: &Catalogue,
    operation: &ApiOperation,
    current: &str,
    names: &ModelNames<'_>,
) -> Vec<CompletionCandidate> {
    let name = model_field(catalogue, operation);
    let field = format!("{name}=");
    let begun = current.starts_with(&field);
    let beginning = !current.is_empty() && field.starts_with(current);
    let own = field_of(catalogue, operation, name);
    if !begun && (!beginning || own.is_some()) {
        return Vec::new();
    }
    let built_in = own.and_then(|schema| operation_help::allowed_values(catalogue, schema));
    let built_in = built_in.unwrap_or_default();
    let mut models = names(ModelsWanted::Of(&operation.name));
    models.retain(|name| !built_in.contains(name));
    match (begun, models.is_empty()) {
        (true, _) => models
            .iter()
            .map(|name| candidate(&format!("{field}{name}"), ""))
            .collect(),
        (false, false) => vec![candidate(&field, "a model of this service")],
        (false, true) => Vec::new(),
    }
}

/// The files whose names begin like this.
fn files(before: &str, begun: &str) -> Vec<CompletionCandidate> {
    let (folder, _) = begun
        .rsplit_once('/')
        .map_or(("", begun), |(folder, name)| (folder, name));
    let place = match (folder, begun.starts_with('/')) {
        ("", true) => Path::new("/"),
        ("", false) => Path::new("."),
        (folder, _) => Path::new(folder),
    };
    let prefix = &begun[..begun.rfind('/').map_or(0, |place| place + 1)];
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut found: Vec<CompletionCandidate> = entries
        .map(|entry| {
            let end = if entry.path().is_dir() { "/" } else { "" };
            candidate(
                &format!(
                    "{before}{prefix}{}{end}",
                    entry.file_name().to_string_lossy()
                ),
                "",
            )
        })
        .filter(|one| {
            !one.text
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .trim_start_matches(before)
                .starts_with('.')
        })
        .collect();
    found.sort_by(|one, other| one.text.cmp(&other.text));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{COMMAND_LINE, catalogue};

    fn after(line: &str) -> Vec<String> {
        let nobody = |_: ModelsWanted<'_>| -> Vec<String> { Vec::new() };
        after_asking(line, &nobody)
    }

    fn after_asking(line: &str, names: &ModelNames<'_>) -> Vec<String> {
        let found = candidates(&COMMAND_LINE.words(), catalogue(), &split(line).0, names);
        found.into_iter().map(|next| next.text).collect()
    }

    /// The promise: a model that an operator made a second ago is offered, and the service is asked only where one may stand.
    #[test]
    fn models_of_the_service_are_offered_where_one_is_named() {
        let asked = std::cell::Cell::new(0);
        let names = |wanted: ModelsWanted<'_>| {
            asked.set(asked.get() + 1);
            match wanted {
                ModelsWanted::Of("facegen.swap") => vec!["swapper-9".to_owned()],
                ModelsWanted::Of(_) => vec!["image-1".to_owned(), "seedream-4-5".to_owned()],
                ModelsWanted::Every => vec!["kling-v3".to_owned()],
            }
        };
        let after = |line: &str| after_asking(line, &names);
        assert_eq!(
            after("atelier call imgmodel.generations model=s"),
            ["model=seedream-4-5"]
        );
        let image = "atelier call imgmodel.generations model=image-1";
        assert_eq!(after(image), ["model=image-1"], "no name stands twice");
        assert_eq!(after("atelier call facegen.swap mod"), ["model="]);
        assert_eq!(
            after("atelier call facegen.swap model=s"),
            ["model=swapper-9"]
        );
        assert_eq!(after("atelier models change k"), ["kling-v3"]);
        assert_eq!(after("atelier models add x --successor k"), ["kling-v3"]);
        assert!(after("atelier models add x --like vidgen_partner/").len() > 1);
        assert_eq!(asked.get(), 6);
        after("atelier call imgmodel.generations prompt='a' qual");
        assert_eq!(asked.get(), 6, "nobody is asked without need");
        let words = split("atelier call x --profile work model=").0;
        assert_eq!(profile_in(&words), Some("work"));
    }

    #[test]
    fn commands_operations_fields_and_values_are_completed() {
        assert!(after("atelier im").contains(&"imagine".into()));
        assert!(!after("atelier ").contains(&"complete".into()));
        assert_eq!(after("atelier call artgen.im"), ["artgen.imagine"]);
        assert!(after("atelier call artgen.imagine prompt='a b' ").contains(&"mode=".into()));
        assert_eq!(after("atelier call artgen.imagine mode=t"), ["mode=turbo"]);
        assert_eq!(after("atelier imagine \"a fox\" mode=t"), ["mode=turbo"]);
        assert_eq!(after("atelier keys iss"), ["issue"]);
        assert!(after("atelier keys issue na").contains(&"name=".into()));
        assert!(after("atelier call artgen.imagine --wa").contains(&"--wait".into()));
        assert!(after("atelier imagine x --pictures si").contains(&"sixel".into()));
        assert_eq!(after("atelier completions z"), ["zsh"]);
    }

    #[test]
    fn files_are_completed_behind_the_sign_for_them() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("cat.png"), b"").expect("written");
        let place = folder.path().display();
        let found = after(&format!("atelier call design.vectorize image=@{place}/c"));
        assert_eq!(found, [format!("image=@{place}/cat.png")]);
        let found = after(&format!("atelier edit {place}/c"));
        assert_eq!(found, [format!("{place}/cat.png")]);
        let found = after(&format!("atelier files upload {place}/c"));
        assert_eq!(found, [format!("{place}/cat.png")]);
    }

    #[test]
    fn lines_are_split_as_shells_split_them() {
        assert_eq!(split(r#"a "b c" d\ e 'f"#).0, ["a", "b c", "d e", "f"]);
        assert_eq!(split("a ").0, ["a", ""]);
    }

    #[test]
    fn bash_gets_what_stands_behind_the_last_break_as_it_would_be_typed() {
        let put = |line: &str, text: &str| {
            let (words, quoted) = split(line);
            in_bash(text, words.last().expect("a word"), quoted)
        };
        assert_eq!(put("atelier call x mode=t", "mode=turbo"), "turbo");
        let picture = "image=@a/one cat.png";
        assert_eq!(
            put("atelier call x image=@a/o", picture),
            "@a/one\\ cat.png"
        );
        assert_eq!(put("atelier edit a/o", "a/one cat.png"), "a/one\\ cat.png");
        assert_eq!(
            put("atelier edit \"a/one c", "a/one cat.png"),
            "a/one cat.png"
        );
        assert_eq!(put("atelier call x image=@'a/o", picture), "a/one cat.png");
    }
}
