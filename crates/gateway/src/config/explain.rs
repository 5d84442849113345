//! The settings as people ask about them: what each is for, what it is now, and who said so.

use anyhow::Result;
use toml::Value;

use super::load::{DEFAULTS, Sources, paths, value_at};

/// Settings whose values are never shown.
const SECRETS: [&str; 12] = [
    "database",
    "database_pooler",
    "admin_token",
    "master_key",
    "prompts.moderation_key",
    "translation.key",
    "payments.stripe.secret_key",
    "payments.stripe.webhook_secret",
    "payments.epay.key",
    "assets.access_key",
    "assets.secret_key",
    "mail.url",
];

/// A setting, as `atelier config` shows it.
pub(crate) struct Setting {
    /// Its path, such as `jobs.lease_s`.
    pub(crate) path: String,
    /// What it is for.
    pub(crate) about: String,
    /// The variable that sets it.
    pub(crate) variable: String,
    /// Its default, as TOML.
    pub(crate) usual: String,
    /// What it is now, as TOML; hidden when it is a secret.
    pub(crate) now: String,
    /// Which source set it.
    pub(crate) from: String,
}

/// Every setting, in the order of the defaults.
pub(crate) fn settings(sources: &Sources) -> Result<Vec<Setting>> {
    let usual = Sources::default().table()?;
    let now = sources.table()?;
    let mut all: Vec<Setting> = paths(&usual, "")
        .into_iter()
        .map(|path| {
            let written = |value: Option<&Value>| value.map(inline).unwrap_or_default();
            let (usual, now) = (
                written(value_at(&usual, &path)),
                written(value_at(&now, &path)),
            );
            let hidden = SECRETS.contains(&path.as_str()) && now != "\"\""
                || ["backends", "people.oidc"].contains(&path.as_str()) && now != "[]";
            Setting {
                about: sentence(&path),
                variable: Sources::variable(&path),
                usual,
                now: if hidden { "(hidden)".into() } else { now },
                from: sources.origin(&path),
                path,
            }
        })
        .collect();
    all.sort_by_key(|setting| place(&setting.path));
    Ok(all)
}

/// A value as it stands behind a sign of equality.
fn inline(value: &Value) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{name} = {}", inline(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(yes) => yes.to_string(),
        Value::Datetime(time) => time.to_string(),
    }
}

/// Where a setting stands in the defaults.
fn place(path: &str) -> usize {
    line_of(path).unwrap_or(usize::MAX)
}

/// The number of the line of the defaults that sets it.
fn line_of(path: &str) -> Option<usize> {
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut inside = "";
    for (number, line) in DEFAULTS.lines().enumerate() {
        if let Some(title) = line.strip_prefix('[') {
            inside = title.trim_end_matches(']');
        }
        let set = line.split_once(" = ").map(|(name, _)| name);
        if inside == section && set == Some(name) {
            return Some(number);
        }
    }
    None
}

/// The comment above it.
fn sentence(path: &str) -> String {
    let Some(number) = line_of(path) else {
        return String::new();
    };
    let lines: Vec<&str> = DEFAULTS.lines().take(number).collect();
    let above = lines.iter().rev().map_while(|line| line.strip_prefix("# "));
    let mut above: Vec<&str> = above.collect();
    above.reverse();
    above.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_sentence_and_a_variable() {
        let all = settings(&Sources::default()).expect("settings");
        assert!(all.len() > 80, "{}", all.len());
        for setting in &all {
            assert!(!setting.about.is_empty(), "{}", setting.path);
            assert_eq!(setting.from, "default", "{}", setting.path);
        }
        assert_eq!(all[0].path, "listen");
        assert_eq!(all[0].variable, "ATELIER_LISTEN");
    }

    #[test]
    fn who_said_so_is_told_and_secrets_are_not() {
        let sources = Sources {
            file: None,
            environment: vec![
                ("ATELIER_MASTER_KEY".into(), "hush-hush".into()),
                ("ATELIER_LOG_LEVEL".into(), "debug".into()),
            ],
            command_line: vec![("listen", "c:3".into())],
        };
        let all = settings(&sources).expect("settings");
        let find = |path: &str| all.iter().find(|one| one.path == path).expect("a setting");
        assert_eq!(find("master_key").now, "(hidden)");
        assert_eq!(find("log.level").from, "ATELIER_LOG_LEVEL");
        assert_eq!(
            (find("listen").now.as_str(), find("listen").from.as_str()),
            ("\"c:3\"", "command line")
        );
    }

    #[test]
    fn what_the_settings_hide_is_hidden_here_too() {
        // Some say nothing without others.
        let beside = [
            "stripe.secret_key",
            "stripe.webhook_secret",
            "epay.key",
            "epay.merchant",
        ];
        let beside = beside.map(|name| (Sources::variable(&format!("payments.{name}")), "x"));
        let epay = Sources::variable("payments.epay.base_url");
        let beside = beside
            .into_iter()
            .chain([(epay, "https://pay.example.com")]);
        let beside: Vec<_> = beside.map(|(name, text)| (name, text.to_owned())).collect();
        for path in SECRETS {
            let variable = Sources::variable(path);
            let others = beside.iter().filter(|(name, _)| *name != variable).cloned();
            let environment = others.chain([(variable.clone(), "sentinel".to_owned())]);
            let environment = environment.collect();
            let config = Sources {
                environment,
                ..Sources::default()
            }
            .config()
            .expect(path);
            assert!(!format!("{config:?}").contains("sentinel"), "{path}");
        }
        let hidden = format!("{:?}", Sources::default().config().expect("settings"))
            .matches("(none)")
            .count();
        assert_eq!(hidden, SECRETS.len());
    }
}
