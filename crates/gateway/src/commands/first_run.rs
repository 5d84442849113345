//! The first start on an empty database: a demo account, its key, and lines a newcomer can paste. The journal keeps what it is
//! told for as long as it likes and shows it to others, so there the lines go into a file.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use atelier_cli::screen;
use atelier_contract::Quota;
use atelier_engine::records::AccountFilter;
use atelier_engine::{Engine, NewAccountRequest};

use crate::app::Store;
use crate::config::{Config, Log};

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

/// Where the first start shows what it shows once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WelcomePlace {
    /// Standard output.
    Output,
    /// Standard error, because programs read standard output.
    ErrorOutput,
    /// A file, because the journal keeps what it is given and shows it to others.
    File,
}

/// Where it belongs with these settings of the log.
#[expect(
    clippy::disallowed_methods,
    reason = "systemd says it in the environment; it is no setting"
)]
pub(crate) fn place(log: &Log) -> WelcomePlace {
    let journal = std::env::var(JOURNAL).unwrap_or_default();
    let is_json = log.format == "json";
    let is_journal = if is_json {
        leads_to(&journal, io::stderr().as_fd())
    } else {
        leads_to(&journal, io::stdout().as_fd())
    };
    match (is_journal, is_json) {
        (true, _) => WelcomePlace::File,
        (false, true) => WelcomePlace::ErrorOutput,
        (false, false) => WelcomePlace::Output,
    }
}

/// What a newcomer needs and is shown once.
pub(crate) struct Welcome {
    pub(crate) base_url: String,
    pub(crate) data_dir: PathBuf,
    /// The API key of the demo account.
    pub(crate) key: Option<String>,
    pub(crate) operator_token: Option<String>,
    /// The word of a link that signs in to the console once.
    pub(crate) link: Option<String>,
}

impl Welcome {
    /// Shows it at the first start, and nothing later.
    pub(crate) fn show(&self, place: WelcomePlace) {
        if self.key.is_none() && self.operator_token.is_none() {
            return;
        }
        let text = match place {
            WelcomePlace::Output | WelcomePlace::ErrorOutput => self.text(),
            WelcomePlace::File => self.put_aside(),
        };
        if place == WelcomePlace::ErrorOutput {
            screen::note(text);
        } else if screen::try_say(text).is_err() {
            // What is shown only once must not get lost.
            screen::note(self.put_aside());
        }
    }

    fn text(&self) -> String {
        let Self { base_url, .. } = self;
        let mut lines = vec![
            format!(
                "Atelier {}, first start. Keep the key and the token: they are shown only once.",
                env!("CARGO_PKG_VERSION")
            ),
            String::new(),
            format!("  data folder     {}", self.data_dir.display()),
        ];
        if let Some(key) = &self.key {
            lines.push(format!("  demo account    {EMAIL} with {QUOTA} quota"));
            lines.push(format!("  API key         {key}"));
        }
        if let Some(token) = &self.operator_token {
            lines.push(format!("  operator token  {token}"));
        }
        lines.push(match &self.link {
            // What follows the mark never leaves the browser by itself, so it stands in no log.
            Some(word) => format!("  console         {base_url}/console/#{word}  (signs in once)"),
            None => format!("  console         {base_url}/console/"),
        });
        if let Some(key) = &self.key {
            lines.extend([
                String::new(),
                "Try it:".to_owned(),
                String::new(),
                format!(
                    "  curl -s {base_url}/artgen/v1/imagine -H 'SVC-API-KEY: {key}' \
                     -H 'Content-Type: application/json' -d '{{\"prompt\":\"a lighthouse at dawn\"}}'"
                ),
                String::new(),
                format!("If you lose the key: atelier local account key {EMAIL}"),
            ]);
        }
        lines.push(String::new());
        lines.join("\n")
    }

    /// Writes it to a file that nobody else may read; where that is.
    fn put_aside(&self) -> String {
        match write_privately(&self.text(), &self.data_dir) {
            Ok(path) => format!(
                "First start. API key, operator token and console link are in {}, which only this user can read. \
                 Read it, then delete it.\n",
                path.display()
            ),
            Err(error) => format!(
                "First start. {} is not writable ({error}), so API key and operator token are lost. Set `admin_token`, \
                 and issue a key with: atelier local account key {EMAIL}\n",
                self.data_dir.join(FILE).display()
            ),
        }
    }
}

/// Whether a stream is the one with the device and inode that systemd names.
fn leads_to(journal: &str, stream: BorrowedFd<'_>) -> bool {
    let Some((device, inode)) = journal.split_once(':') else {
        return false;
    };
    let Ok(about) = rustix::fs::fstat(stream) else {
        return false;
    };
    device.parse() == Ok(about.st_dev) && inode.parse() == Ok(about.st_ino)
}

/// Writes a text that nobody else may read, in the place of an earlier one.
fn write_privately(text: &str, folder: &Path) -> io::Result<PathBuf> {
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
