//! Who one is at which service: addresses and keys in a file for the user's own eyes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::fault::{ExitReason, Fault};

/// The profile that is used when none is named.
const USUAL: &str = "default";

/// Everything in the file.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Profiles {
    /// The one that is used when none is named.
    #[serde(default)]
    pub(crate) current: String,
    /// All of them by name.
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

/// A service and what one is there.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct Profile {
    /// Address of the service.
    #[serde(default)]
    pub(crate) url: String,
    /// API key of an account.
    #[serde(default)]
    pub(crate) key: String,
    /// Token of an operator, for the operators' pages.
    #[serde(default)]
    pub(crate) token: String,
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.url)
    }
}

/// A variable of the environment that is meant for the command line.
pub(crate) fn variable(name: &str) -> Option<String> {
    let text = std::env::var_os(name)?.into_string().ok()?;
    (!text.is_empty()).then_some(text)
}

/// Where the file is.
pub(crate) fn file() -> Result<PathBuf> {
    if let Some(file) = variable("ATELIER_CLIENT_CONFIG") {
        return Ok(file.into());
    }
    let folder = match variable("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(variable("HOME").context("HOME is not set")?).join(".config"),
    };
    Ok(folder.join("atelier").join("profiles.toml"))
}

/// Writes a file for its owner alone, whole or not at all.
pub(crate) fn write_secret(file: &Path, text: &str) -> Result<()> {
    let place = || file.display().to_string();
    if let Some(folder) = file.parent() {
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
        made.with_context(place)?;
    }
    let fresh = file.with_extension(format!("new-{}", std::process::id()));
    let mut writer = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)
        .with_context(place)?;
    let written = writer.write_all(text.as_bytes());
    let moved = written.and_then(|()| std::fs::rename(&fresh, file));
    if moved.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    moved.with_context(place)
}

impl Profiles {
    /// Reads the file; nothing is in it while it does not exist.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error).with_context(|| file.display().to_string()),
        };
        toml::from_str(&text).with_context(|| file.display().to_string())
    }

    /// Writes it, readable for its owner alone, whole or not at all.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        write_secret(file, &self.text())
    }

    fn text(&self) -> String {
        // A JSON text is also one of TOML.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut text =
            String::from("# Written by `atelier login`. It holds secrets: keep it to yourself.\n");
        let _ = writeln!(text, "current = {}", quoted(&self.current));
        for (name, profile) in &self.profiles {
            let _ = writeln!(text, "\n[profiles.{}]", quoted(name));
            let fields = [
                ("url", &profile.url),
                ("key", &profile.key),
                ("token", &profile.token),
            ];
            for (field, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
                let _ = writeln!(text, "{field} = {}", quoted(value));
            }
        }
        text
    }

    /// The name that is meant when none is given.
    pub(crate) fn usual(&self) -> &str {
        if self.current.is_empty() {
            USUAL
        } else {
            &self.current
        }
    }

    /// The profile to use: what the environment says goes over the file.
    pub(crate) fn chosen(&self, named: Option<&str>) -> Result<Profile, Fault> {
        let by_variable = variable("ATELIER_CLIENT_PROFILE");
        let named = named.map(str::to_owned).or(by_variable);
        let name = named.as_deref().unwrap_or_else(|| self.usual());
        let mut profile = match (self.profiles.get(name), &named) {
            (Some(profile), _) => profile.clone(),
            (None, Some(name)) => {
                let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
                let message = format!(
                    "there is no profile `{name}`; there are: {}",
                    known.join(", ")
                );
                return Err(Fault::new(ExitReason::Usage, message));
            }
            (None, None) => Profile::default(),
        };
        let places = [
            ("ATELIER_CLIENT_URL", &mut profile.url),
            ("ATELIER_CLIENT_KEY", &mut profile.key),
            ("ATELIER_CLIENT_TOKEN", &mut profile.token),
        ];
        for (name, place) in places {
            if let Some(value) = variable(name) {
                *place = value;
            }
        }
        if profile.url.is_empty() {
            let message = "not signed in to any service; run `atelier login URL`";
            return Err(Fault::new(ExitReason::NotAllowed, message));
        }
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn keys_are_kept_for_the_user_alone_and_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("deep/profiles.toml");
        let mut profiles = Profiles::read(&file).expect("nothing yet");
        let profile = Profile {
            url: "http://127.0.0.1:8080".into(),
            key: "at_\"odd\"".into(),
            token: String::new(),
        };
        profiles.profiles.insert("my house".into(), profile);
        profiles.current = "my house".into();
        profiles.write(&file).expect("written");
        profiles.write(&file).expect("written over");
        let mode = file.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = Profiles::read(&file).expect("read");
        assert_eq!(again.usual(), "my house");
        assert_eq!(again.profiles["my house"].key, "at_\"odd\"");
    }
}
