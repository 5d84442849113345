//! The service's own secrets: the master key that everything is derived from, and the operator's token.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use atelier_engine::{key, random_bytes};
use sha2::{Digest as _, Sha256};

use crate::app::Store;
use crate::config::Config;

/// Where nodes that share a database find the master key, unless it is configured.
const SHARED_KEY: &str = "master_key";
/// Tells whether a configured master key is the one the database was made with.
const KEY_CHECK: &str = "master_key_check";
/// Where the hash of a generated admin token is kept.
const ADMIN_TOKEN: &str = "admin_token_hash";

/// The master key: configured, or beside the SQLite file, or in the database that several nodes share.
pub(crate) async fn master_key(config: &Config, store: &Store) -> Result<[u8; 32]> {
    let key = if !config.master_key.is_empty() {
        Sha256::digest(config.master_key.reveal().as_bytes()).into()
    } else if store.is_postgres() {
        let fresh = key::hex(&random_bytes::<32>());
        from_hex(&store.put_setting_if_absent(SHARED_KEY, &fresh).await?)?
    } else {
        in_folder(&config.data_dir)?
    };
    let check = key::hex(&Sha256::digest(
        [b"atelier/check".as_slice(), &key].concat(),
    ));
    if store.put_setting_if_absent(KEY_CHECK, &check).await? != check {
        bail!(
            "this database was made with another master key: set master_key, or bring back the file master.key"
        );
    }
    Ok(key)
}

/// The file is made once and never written again.
fn in_folder(folder: &Path) -> Result<[u8; 32]> {
    let path = folder.join("master.key");
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    match made {
        Ok(mut file) => {
            file.write_all(key::hex(&random_bytes::<32>()).as_bytes())?;
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
    let token = format!("adm_{}", key::hex(&random_bytes::<24>()));
    let ours = key::hex(&hash(&token));
    let stored = store.put_setting_if_absent(ADMIN_TOKEN, &ours).await?;
    let fresh = (stored == ours).then_some(token);
    Ok(AdminToken {
        hash: from_hex(&stored)?,
        fresh,
    })
}
