//! Reads the settings: defaults, then the file, then the environment, then the command line. A name that is not in
//! the defaults is an error that says so.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use toml::{Table, Value};

use super::Config;
use super::check::check;
use super::error::SettingError;
use super::wording::humanize;

/// The defaults, with a sentence about each setting.
pub(super) static DEFAULTS: &str = include_str!("../../../../config/default.toml");
/// Environment variables of this name are settings.
const PREFIX: &str = "ATELIER_";
/// Environment variables that are not settings although they look like some: the file itself, wishes of tests,
/// and what is meant for the command line as a client.
const NOT_SETTINGS: [&str; 5] = [
    "ATELIER_CONFIG",
    "ATELIER_CRASH_AT",
    "ATELIER_STALL_AT",
    "ATELIER_TEST_",
    "ATELIER_CLIENT_",
];

/// Settings that name a file or folder. In a file of settings a relative one is meant from that file's folder.
const FILES: [&str; 8] = [
    "data_dir",
    "log.access",
    "tls.certificate",
    "tls.key",
    "credentials.certificate",
    "credentials.key",
    "prices.file",
    ASSETS,
];
/// A folder, unless it is the address of a bucket.
const ASSETS: &str = "assets.url";

/// Where settings come from besides the defaults.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) file: Option<PathBuf>,
    /// Variables whose name starts with `ATELIER_`.
    pub(crate) environment: Vec<(String, String)>,
    /// Settings of the command line: path and text.
    pub(crate) command_line: Vec<(&'static str, String)>,
}

impl Sources {
    /// The environment of this process.
    pub(crate) fn of_process(
        file: Option<PathBuf>,
        command_line: Vec<(&'static str, String)>,
    ) -> Self {
        let environment: Vec<_> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with(PREFIX))
            .collect();
        let named = environment
            .iter()
            .find(|(name, _)| name == "ATELIER_CONFIG");
        let file = file.or_else(|| named.map(|(_, value)| PathBuf::from(value)));
        Self {
            file,
            environment,
            command_line,
        }
    }

    /// The variable that sets a setting.
    pub(super) fn variable(path: &str) -> String {
        format!("{PREFIX}{}", path.replace('.', "_").to_uppercase())
    }

    /// Who has the last word about a setting.
    pub(super) fn origin(&self, path: &str) -> String {
        if self.command_line.iter().any(|(name, _)| *name == path) {
            return "command line".into();
        }
        let variable = Self::variable(path);
        if self.environment.iter().any(|(name, _)| *name == variable) {
            return variable;
        }
        let file = self
            .file
            .as_ref()
            .and_then(|file| Some((file, read_table(file).ok()?)));
        match file {
            Some((file, table)) if value_at(&table, path).is_some() => file.display().to_string(),
            _ => "default".into(),
        }
    }

    /// The settings that result.
    pub(crate) fn config(&self) -> Result<Config> {
        Ok(read(self.table()?)?)
    }

    /// The same before they are read as what they are.
    pub(super) fn table(&self) -> Result<Table> {
        let mut table: Table = DEFAULTS.parse().context("config/default.toml")?;
        if let Some(file) = &self.file {
            let mut read = read_table(file)?;
            let folder = file.parent().unwrap_or(Path::new(""));
            FILES
                .iter()
                .for_each(|path| place_in(folder, &mut read, path));
            overlay(&mut table, read, "").with_context(|| file.display().to_string())?;
        }
        for (name, text) in &self.environment {
            if !NOT_SETTINGS.iter().any(|other| name.starts_with(other)) {
                set_by_variable(&mut table, name, text)?;
            }
        }
        for (path, text) in &self.command_line {
            let place = find(&mut table, path).ok_or_else(|| SettingError::unknown(*path, []))?;
            *place = read_as(place, text).map_err(|why| SettingError::new(*path, why))?;
        }
        Ok(table)
    }
}

/// The settings of a table that has all of them; else the first that will not do.
fn read(table: Table) -> Result<Config, SettingError> {
    let config: Config =
        serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
            let field = error.path().to_string();
            let message = error.inner().message();
            // What is read apart is told with a path of its own.
            match message.split_once(": ") {
                Some((inside, why)) if inside.starts_with(&format!("{field}[")) => {
                    SettingError::new(inside, why.trim_end())
                }
                _ => SettingError::new(field, humanize(message)),
            }
        })?;
    check(&config)?;
    Ok(config)
}

fn read_table(file: &Path) -> Result<Table> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    text.parse()
        .map_err(|error| anyhow!("{}", malformed(file, &text, &error)))
}

/// Where a file is no TOML, and why.
fn malformed(file: &Path, text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text.as_bytes()[..at];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before
        .iter()
        .rev()
        .take_while(|byte| **byte != b'\n')
        .count()
        + 1;
    let why = error.message().trim().replace('\n', "; ");
    format!("{}, line {line}, column {column}: {why}", file.display())
}

/// Has a relative path begin at a folder.
fn place_in(folder: &Path, table: &mut Table, path: &str) {
    let Some(Value::String(text)) = find(table, path) else {
        return;
    };
    let is_address = path == ASSETS && text.contains("://");
    if !text.is_empty() && !is_address {
        *text = folder.join(&*text).to_string_lossy().into_owned();
    }
}

/// Lays a file over the defaults; a name the defaults do not have is refused.
fn overlay(base: &mut Table, over: Table, path: &str) -> Result<(), SettingError> {
    for (name, value) in over {
        let full = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        if !base.contains_key(&name) {
            let known: Vec<String> = paths(base, path);
            return Err(SettingError::unknown(
                full,
                known.iter().map(String::as_str),
            ));
        }
        match (base.get_mut(&name), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => overlay(inner, value, &full)?,
            (Some(place), value) => *place = value,
            (None, _) => {}
        }
    }
    Ok(())
}

fn set_by_variable(table: &mut Table, name: &str, text: &str) -> Result<(), SettingError> {
    let wanted = name[PREFIX.len()..].to_lowercase();
    let known = paths(table, "");
    let path = known.iter().find(|path| path.replace('.', "_") == wanted);
    let path = path.cloned().ok_or_else(|| {
        let known: Vec<String> = known.iter().map(|path| Sources::variable(path)).collect();
        SettingError::unknown(name, known.iter().map(String::as_str))
    })?;
    if let Some(place) = find(table, &path) {
        *place = read_as(place, text).map_err(|why| SettingError::new(name, why))?;
    }
    Ok(())
}

/// The value of a setting.
pub(super) fn value_at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut value = None;
    let mut inside = Some(table);
    for name in path.split('.') {
        value = inside?.get(name);
        inside = value.and_then(Value::as_table);
    }
    value
}

/// The paths of all settings.
pub(super) fn paths(table: &Table, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in table {
        let full = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        match value {
            Value::Table(inner) => found.extend(paths(inner, &full)),
            _ => found.push(full),
        }
    }
    found
}

fn find<'a>(table: &'a mut Table, path: &str) -> Option<&'a mut Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let value = table.get_mut(first)?;
    if rest.is_empty() {
        Some(value)
    } else {
        find(value.as_table_mut()?, rest)
    }
}

/// Reads text as a value of the same kind as the one it replaces; else says what it must be.
fn read_as(old: &Value, text: &str) -> Result<Value, &'static str> {
    let plain = text.trim();
    Ok(match old {
        Value::Integer(_) => Value::Integer(plain.parse().map_err(|_| "must be a whole number")?),
        Value::Float(_) => Value::Float(plain.parse().map_err(|_| "must be a number")?),
        Value::Boolean(_) => Value::Boolean(plain.parse().map_err(|_| "must be true or false")?),
        Value::Array(_) if text.trim_start().starts_with('[') => {
            let read = format!("list = {text}").parse::<Table>();
            let read = read.map_err(|_| "must be a list")?;
            read.get("list")
                .cloned()
                .unwrap_or_else(|| Value::Array(Vec::new()))
        }
        Value::Array(items) => {
            let like = items.first().cloned();
            let parts = text
                .split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty());
            Value::Array(
                parts
                    .map(|part| read_item(like.as_ref(), part))
                    .collect::<Result<_, _>>()?,
            )
        }
        _ => Value::String(text.to_owned()),
    })
}

/// Reads an item of a list; an empty default does not tell its kind, so digits alone are a number.
fn read_item(like: Option<&Value>, text: &str) -> Result<Value, &'static str> {
    match like {
        Some(like) => read_as(like, text),
        None => Ok(text
            .parse()
            .map_or_else(|_| Value::String(text.to_owned()), Value::Integer)),
    }
}

#[cfg(test)]
impl Config {
    /// The defaults, for tests of single parts.
    pub(crate) fn defaults() -> Self {
        Sources::default()
            .config()
            .expect("the defaults are complete")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_variable(name: &str, value: &str) -> Result<Config> {
        let environment = vec![(name.to_owned(), value.to_owned())];
        Sources {
            environment,
            ..Sources::default()
        }
        .config()
    }

    #[test]
    fn no_two_settings_share_a_variable() {
        let table: Table = DEFAULTS.parse().expect("the defaults are TOML");
        let names: Vec<_> = paths(&table, "")
            .iter()
            .map(|path| path.replace('.', "_"))
            .collect();
        let unique: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
    }

    #[test]
    fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("atelier.toml");
        std::fs::write(
            &file,
            "listen = \"a:1\"\n[limits]\nheaders = 7\nconnections = 8\n",
        )
        .expect("written");
        let sources = Sources {
            file: Some(file),
            environment: vec![
                ("ATELIER_LIMITS_HEADERS".into(), "9".into()),
                ("ATELIER_LISTEN".into(), "b:2".into()),
            ],
            command_line: vec![("listen", "c:3".into())],
        };
        let config = sources.config().expect("settings");
        assert_eq!((config.limits.headers, config.limits.connections), (9, 8));
        assert_eq!(config.listen, "c:3");
    }

    #[test]
    fn an_unknown_name_is_named() {
        let error = with_variable("ATELIER_LISTNE", "x").expect_err("unknown");
        assert_eq!(
            error.to_string(),
            "ATELIER_LISTNE: no such setting; did you mean ATELIER_LISTEN?"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("atelier.toml");
        std::fs::write(&file, "[limits]\nhaeders = 7\n").expect("written");
        let error = Sources {
            file: Some(file),
            ..Sources::default()
        }
        .config()
        .expect_err("unknown");
        assert!(
            format!("{error:#}")
                .contains("limits.haeders: no such setting; did you mean limits.headers?"),
            "{error:#}"
        );
    }

    /// The promise: a path in a file of settings is meant from that file's folder, wherever the service was started.
    #[test]
    fn a_path_in_a_file_begins_at_the_files_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("atelier.toml");
        let text = "data_dir = \"data\"\n[prices]\nfile = \"/prices.toml\"\n[log]\naccess = \"\"\n\
                    [tls]\ncertificate = \"tls/chain.pem\"\nkey = \"key.pem\"\n[assets]\nurl = \"s3://bucket/prefix\"\n";
        std::fs::write(&file, text).expect("written");
        let sources = Sources {
            file: Some(file),
            environment: vec![("ATELIER_TLS_KEY".into(), "other.pem".into())],
            ..Sources::default()
        };
        let config = sources.config().expect("settings");
        assert_eq!(config.data_dir, folder.path().join("data"));
        assert_eq!(config.tls.certificate, folder.path().join("tls/chain.pem"));
        assert_eq!(
            config.tls.key,
            Path::new("other.pem"),
            "a variable is meant from here"
        );
        assert_eq!(config.prices.file, Path::new("/prices.toml"));
        assert_eq!(config.log.access, Path::new(""));
        assert_eq!(config.assets.url, "s3://bucket/prefix");
    }

    /// The promise: whoever adds a setting for a file cannot forget that it is meant from the folder of the file of settings.
    #[test]
    fn every_setting_that_is_a_path_is_known_as_one() {
        let table: Table = DEFAULTS.parse().expect("the defaults are TOML");
        for path in FILES {
            assert!(value_at(&table, path).is_some(), "{path}");
        }
        for path in paths(&table, "") {
            let name = path.rsplit('.').next().unwrap_or_default();
            let is_named_so =
                ["file", "dir", "folder", "certificate"].contains(&name) || name.ends_with("_dir");
            assert!(!is_named_so || FILES.contains(&path.as_str()), "{path}");
        }
    }

    #[test]
    fn a_file_that_is_no_toml_is_told_with_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("atelier.toml");
        std::fs::write(&file, "[jobs]\ntries = \n").expect("written");
        let sources = Sources {
            file: Some(file.clone()),
            ..Sources::default()
        };
        let said = sources.config().expect_err("no TOML").to_string();
        assert!(
            said.starts_with(&format!("{}, line 2, column 9: ", file.display())),
            "{said}"
        );
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let config = with_variable("ATELIER_OUTBOUND_PORTS", "80, 8080").expect("settings");
        assert_eq!(config.outbound.ports, [80, 8080]);
        let config = with_variable("ATELIER_OUTBOUND_ALLOW", "127.0.0.0/8").expect("settings");
        assert_eq!(config.outbound.allow, ["127.0.0.0/8"]);
    }

    #[test]
    fn secrets_do_not_show() {
        let config = with_variable("ATELIER_ADMIN_TOKEN", "hush-hush").expect("settings");
        assert!(!format!("{config:?}").contains("hush-hush"));
        assert_eq!(config.admin_token.reveal(), "hush-hush");
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let error = with_variable("ATELIER_JOBS_RENEW_S", "29").expect_err("too late");
        let error = error
            .downcast::<SettingError>()
            .expect("a setting is named");
        assert_eq!(error.field, "jobs.renew_s");
    }

    /// The promise: a list of words for a family that does not exist is a mistake that is told, not a list for nobody.
    #[test]
    fn families_of_words_are_known_ones() {
        let config = with_variable("ATELIER_PROMPTS_FAMILIES", "clipgen, motion");
        assert_eq!(
            config.expect("settings").prompts.families,
            ["clipgen", "motion"]
        );
        let error = with_variable("ATELIER_PROMPTS_FAMILIES", "clipgen, moton").expect_err("none");
        let error = error
            .downcast::<SettingError>()
            .expect("a setting is named");
        assert_eq!(error.field, "prompts.families");
        assert!(
            error.why.contains("moton") && error.why.contains("motion"),
            "{error}"
        );
    }

    /// The promise: no setting makes loops and waiting calls look around without a pause.
    #[test]
    fn a_pause_of_nothing_is_refused() {
        let error = with_variable("ATELIER_JOBS_IDLE_MS", "0").expect_err("no pause");
        let error = error
            .downcast::<SettingError>()
            .expect("a setting is named");
        assert_eq!(error.field, "jobs.idle_ms");
    }

    #[test]
    fn a_value_in_a_file_that_will_not_do_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("atelier.toml");
        std::fs::write(&file, "[limits]\nheaders = \"many\"\n").expect("written");
        let sources = Sources {
            file: Some(file),
            ..Sources::default()
        };
        let error = sources.config().expect_err("no number");
        let error = error
            .downcast::<SettingError>()
            .expect("a setting is named");
        assert_eq!(error.field, "limits.headers");
    }

    /// The promise: wherever the type of a section is, a value that is none of its kind is named by its whole path.
    #[test]
    fn every_value_of_another_kind_is_named_by_its_path() {
        let defaults: Table = DEFAULTS.parse().expect("the defaults are TOML");
        for path in paths(&defaults, "") {
            let mut table = defaults.clone();
            let place = find(&mut table, &path).expect("a setting");
            *place = match place {
                Value::String(_) => Value::Boolean(true),
                _ => Value::String("many".into()),
            };
            let error = read(table).expect_err(&path);
            assert_eq!(error.field, path);
            assert!(error.why.contains("must be"), "{error}");
        }
    }

    /// The promise: a model of the settings that nobody could sell is a mistake that is told with its field, before a start.
    #[test]
    fn a_model_that_cannot_be_sold_is_named_with_its_field() {
        for (models, field) in [
            (
                r#"[{ name = "a", like = "nothing/at-all" }]"#,
                "models[0].like",
            ),
            (
                r#"[{ name = "a", like = "imgmodel/image-1" }, { name = "A", like = "imgmodel/image-1" }]"#,
                "models[1].name",
            ),
            (
                r#"[{ name = "a", like = "imgmodel/image-1", aliases = ["image-1"] }]"#,
                "models[0].aliases[0]",
            ),
        ] {
            let error = with_variable("ATELIER_MODELS", models).expect_err(models);
            let error = error
                .downcast::<SettingError>()
                .expect("a setting is named");
            assert_eq!(error.field, field, "{error}");
        }
        let good =
            r#"[{ name = "a", like = "imgmodel/image-1", routes = [{ backend = "made later" }] }]"#;
        let config = with_variable("ATELIER_MODELS", good).expect("settings");
        assert_eq!(config.models[0].name, "a");
    }

    #[test]
    fn times_are_told_what_they_must_be_in_their_own_unit() {
        for (path, value, why) in [
            (
                "jobs.lease_s",
                Value::String("long".into()),
                "must be a whole number from 0 to 3153600000, is \"long\"",
            ),
            (
                "jobs.renew_s",
                Value::Integer(-1),
                "must be from 1 to 3153600000",
            ),
            (
                "jobs.tidy_s",
                Value::Integer(0),
                "must be from 1 to 3153600000",
            ),
            (
                "retention.audit_days",
                Value::Integer(i64::MAX),
                "must be from 0 to 36500",
            ),
        ] {
            let mut table: Table = DEFAULTS.parse().expect("the defaults are TOML");
            *find(&mut table, path).expect("a setting") = value;
            let error = read(table).expect_err(path);
            assert_eq!(error, SettingError::new(path, why));
        }
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_told_what_it_must_be() {
        for (name, value, why) in [
            ("ATELIER_LIMITS_HEADERS", "many", "must be a whole number"),
            ("ATELIER_DEMO_ACCOUNT", "maybe", "must be true or false"),
        ] {
            let error = with_variable(name, value).expect_err(name);
            let error = error
                .downcast::<SettingError>()
                .expect("a setting is named");
            assert_eq!(error, SettingError::new(name, why));
        }
    }
}
