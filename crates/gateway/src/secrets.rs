//! The service's own secrets: the master key that everything is derived from, and the operator's token.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use atelier_contract::hex;
use atelier_engine::random_bytes;
use sha2::{Digest as _, Sha256};

use crate::app::Store;
use crate::config::Config;

/// Where nodes that share a database find the master key, unless it is configured.
const SHARED_KEY: &str = "master_key";
/// Tells whether a configured master key is the one the database was made with.
pub(crate) const KEY_CHECK: &str = "master_key_check";
/// The file of the master key beside a SQLite database, and of the one that is about to replace it.
pub(crate) const KEY_FILE: &str = "master.key";
const FRESH_FILE: &str = "master.key.new";
/// Where the hash of a generated operator token is kept.
const ADMIN_TOKEN: &str = "admin_token_hash";

/// What a strict service without a key of its own is told.
const STRICT_KEY: &str = "master_key: not set, and `strict` does not allow the key in the database beside the secrets that it encrypts";

/// The master key: configured, or beside the SQLite file, or in the database that several nodes share.
pub(crate) async fn master_key(config: &Config, store: &Store) -> Result<[u8; 32]> {
    let key = if !config.master_key.is_empty() {
        Sha256::digest(config.master_key.reveal().as_bytes()).into()
    } else if store.is_postgres() {
        if config.strict {
            bail!(STRICT_KEY);
        }
        let fresh = hex(&random_bytes::<32>());
        from_hex(&store.settings().put_if_absent(SHARED_KEY, &fresh).await?)?
    } else {
        in_folder(&config.data_dir)?
    };
    let stands = store
        .settings()
        .put_if_absent(KEY_CHECK, &check_of(&key))
        .await?;
    if stands == check_of(&key) {
        return Ok(key);
    }
    // A change of the key that was cut off between its commit and the renaming of its file.
    if config.master_key.is_empty()
        && let Ok(text) = fs::read_to_string(config.data_dir.join(FRESH_FILE))
        && let Ok(fresh) = from_hex(text.trim())
        && stands == check_of(&fresh)
    {
        replace_file(&config.data_dir)?;
        return Ok(fresh);
    }
    bail!(
        "this database was created with another master key: set master_key, or restore the file master.key"
    );
}

fn check_of(key: &[u8; 32]) -> String {
    hex(&Sha256::digest([b"atelier/check".as_slice(), key].concat()))
}

/// A master key that takes the place of the present one.
pub(crate) struct NewKey {
    pub(crate) key: [u8; 32],
    /// What has to be stored in the commit that seals the secrets with it.
    pub(crate) settings: Vec<(String, String)>,
    in_folder: bool,
}

impl NewKey {
    /// Makes a key of the kind that is in use: from a text, in the shared database, or in a file.
    pub(crate) fn make(config: &Config, store: &Store, text: Option<&str>) -> Result<Self> {
        let configured = !config.master_key.is_empty();
        let key: [u8; 32] = match text {
            Some(text) if configured && !text.trim().is_empty() => {
                Sha256::digest(text.trim().as_bytes()).into()
            }
            None if !configured => random_bytes(),
            _ => bail!(
                "--new-key replaces the setting master_key; it is for installations that use that setting, and only for them"
            ),
        };
        let mut settings = vec![(KEY_CHECK.to_owned(), check_of(&key))];
        let in_folder = !configured && !store.is_postgres();
        if in_folder {
            // On the disk before anything is sealed with it.
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(config.data_dir.join(FRESH_FILE))?;
            file.write_all(hex(&key).as_bytes())?;
            file.sync_all()?;
        } else if !configured {
            settings.push((SHARED_KEY.to_owned(), hex(&key)));
        }
        Ok(Self {
            key,
            settings,
            in_folder,
        })
    }

    /// Everything is sealed with it: the old key's file gives way.
    pub(crate) fn finish(&self, config: &Config) -> Result<()> {
        if self.in_folder {
            replace_file(&config.data_dir)?;
        }
        Ok(())
    }
}

fn replace_file(folder: &Path) -> Result<()> {
    fs::rename(folder.join(FRESH_FILE), folder.join(KEY_FILE)).context("master.key")?;
    fs::File::open(folder)?.sync_all()?;
    Ok(())
}

/// The file is made once and never written again.
fn in_folder(folder: &Path) -> Result<[u8; 32]> {
    let path = folder.join(KEY_FILE);
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    match made {
        Ok(mut file) => {
            file.write_all(hex(&random_bytes::<32>()).as_bytes())?;
            file.sync_all()?;
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    }
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    from_hex(text.trim()).with_context(|| path.display().to_string())
}

fn from_hex(text: &str) -> Result<[u8; 32]> {
    let mut key = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        bail!("a master key has 64 hexadecimal digits");
    }
    for (place, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16)
            .context("a master key is hexadecimal")?;
    }
    Ok(key)
}

/// The operator's token: its hash, and the token itself when it was made just now.
pub(crate) struct AdminToken {
    pub(crate) hash: [u8; 32],
    pub(crate) fresh: Option<String>,
}

/// The configured token, or one that is made at the first start and only kept as a hash.
pub(crate) async fn admin_token(config: &Config, store: &Store) -> Result<AdminToken> {
    let hash = |token: &str| -> [u8; 32] { Sha256::digest(token.as_bytes()).into() };
    if !config.admin_token.is_empty() {
        return Ok(AdminToken {
            hash: hash(config.admin_token.reveal()),
            fresh: None,
        });
    }
    let token = format!("adm_{}", hex(&random_bytes::<24>()));
    let ours = hex(&hash(&token));
    let stored = store.settings().put_if_absent(ADMIN_TOKEN, &ours).await?;
    let fresh = (stored == ours).then_some(token);
    Ok(AdminToken {
        hash: from_hex(&stored)?,
        fresh,
    })
}
