//! The first start on an empty database: a demo account, its key, and lines a newcomer can paste. The journal keeps what it is
//! told for as long as it likes and shows it to others, so there the lines go into a file.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use atelier_contract::Quota;
use atelier_engine::records::AccountFilter;
use atelier_engine::{Engine, NewAccountRequest};

use crate::app::Store;
use crate::config::Config;

const EMAIL: &str = "demo@example.com";
const QUOTA: Quota = Quota::from_thousandths(1_000_000);
/// Remembers that the demo account was made, so that one that was removed does not come back.
const DONE: &str = "demo_account";

/// Where the journal is told apart: systemd names the device and the inode of the stream that it has connected.
const JOURNAL: &str = "JOURNAL_STREAM";
/// The file for what the journal is not told, in the data folder, and the one that is about to become it.
const FILE: &str = "first-start.txt";
const FRESH_FILE: &str = "first-start.txt.new";

/// Makes the demo account when the database has never had one; gives back its key.
pub(crate) async fn demo_key(
    config: &Config,
    store: &Store,
    engine: &Arc<Engine>,
) -> Result<Option<String>> {
    if !config.demo_account {
        return Ok(None);
    }
    let (_, accounts) = store
        .accounts()
        .list(&AccountFilter::default(), 0, 1)
        .await?;
    let ours = engine.now_ms().to_string();
    if accounts > 0 || store.settings().put_if_absent(DONE, &ours).await? != ours {
        return Ok(None);
    }
    let request = NewAccountRequest {
        email: EMAIL.to_owned(),
        balance: QUOTA,
        max_queue: None,
        email_verified: true,
    };
    let (_, key) = engine
        .admin()
        .accounts()
        .create("first start", request)
        .await
        .map_err(|refusal| anyhow!(refusal))?;
    Ok(Some(key))
}

/// The word of a link that signs the demo account in to the console once.
pub(crate) async fn link(engine: &Engine, key: Option<&str>) -> Result<Option<String>> {
    match key {
        Some(key) => {
            let word = engine.admin().sessions().link(key).await;
            Ok(Some(word.map_err(|refusal| anyhow!(refusal))?))
        }
        None => Ok(None),
    }
}

/// What a newcomer is told.
pub(crate) fn welcome(
    base_url: &str,
    key: Option<&str>,
    admin_token: Option<&str>,
    link: Option<&str>,
) -> Option<String> {
    if key.is_none() && admin_token.is_none() {
        return None;
    }
    let mut lines =
        vec!["This is the first start. Keep these; they are shown only once.".to_owned()];
    if let Some(key) = key {
        lines.push(format!("  demo account   {EMAIL} with {QUOTA} quota"));
        lines.push(format!("  API key        {key}"));
    }
    if let Some(token) = admin_token {
        lines.push(format!("  admin token    {token}"));
    }
    lines.push(match link {
        // What follows the mark never leaves the browser by itself, so it stands in no log.
        Some(word) => format!("  console        {base_url}/console/#{word}  (signs in once)"),
        None => format!("  console        {base_url}/console/"),
    });
    if let Some(key) = key {
        lines.push(String::new());
        lines.push("Try it:".to_owned());
        lines.push(format!(
            "  curl -s {base_url}/artgen/v1/imagine -H 'SVC-API-KEY: {key}' \
             -d '{{\"prompt\":\"a lighthouse at dawn\"}}' -H 'Content-Type: application/json'"
        ));
    }
    lines.push(String::new());
    Some(lines.join("\n"))
}

/// What is said on standard output: the welcome, or where it is, when standard output is the journal.
#[expect(
    clippy::disallowed_methods,
    reason = "systemd says it in the environment; it is no setting"
)]
pub(crate) fn startup_message(welcome: String, folder: &Path) -> String {
    let stream = std::env::var(JOURNAL).unwrap_or_default();
    if !is_journal(&stream) {
        return welcome;
    }
    match put_aside(&welcome, folder) {
        Ok(path) => format!(
            "This is the first start. Its token, key and link are in {}, for this user alone; read it and delete it.\n",
            path.display()
        ),
        Err(error) => format!(
            "This is the first start. Its token, key and link are lost, because {} cannot be written: {error}. Set admin_token \
             in the configuration and make a key with it.\n",
            folder.join(FILE).display()
        ),
    }
}

/// Whether standard output is the stream with this device and inode.
fn is_journal(stream: &str) -> bool {
    let Some((device, inode)) = stream.split_once(':') else {
        return false;
    };
    let Ok(about) = rustix::fs::fstat(io::stdout().as_fd()) else {
        return false;
    };
    device.parse() == Ok(about.st_dev) && inode.parse() == Ok(about.st_ino)
}

/// Writes a text that nobody else may read, in the place of an earlier one.
fn put_aside(text: &str, folder: &Path) -> io::Result<PathBuf> {
    let (fresh, path) = (folder.join(FRESH_FILE), folder.join(FILE));
    // One that was left behind may have been made by somebody else, for somebody else.
    let _ = std::fs::remove_file(&fresh);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&fresh, &path)?;
    // Said as whoever reads the log can find it.
    Ok(path.canonicalize().unwrap_or(path))
}
