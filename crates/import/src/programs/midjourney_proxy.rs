//! midjourney-proxy, from the lines of JSON that its databases export: users with their tokens, and Discord accounts. Fields are
//! known in any case, and values in the forms that exports of MongoDB and LiteDB have.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use atelier_contract::LimitWindow;
use serde_json::{Map, Value};

use super::PAGE;
use crate::error::ImportError;
use crate::money::Units;
use crate::records::{ForeignKey, SourceAccount, SourceChannel, SourceKey, SourceState};
use crate::report::{ReportAction, ReportRow};

/// The longest line that is read.
const LINE_MOST: u64 = 4 * 1024 * 1024;

/// An export.
pub(super) struct MidjourneyProxy {
    users: Lines,
    keys: Lines,
    discord: Vec<String>,
}

/// The lines of a file as they come.
struct Lines {
    reader: BufReader<File>,
    number: usize,
}

/// A line as a record.
enum ExportLine {
    User(ExportedUser),
    Discord(String),
}

/// A user of an export.
struct ExportedUser {
    id: String,
    name: String,
    email: Option<String>,
    token: Option<String>,
    disabled: bool,
    total_limit: i64,
    total_count: i64,
    day_limit: i64,
    queue: i64,
    created_ms: Option<i64>,
    ends_ms: Option<i64>,
}

impl Lines {
    fn open(path: &PathBuf) -> Result<Self, ImportError> {
        Ok(Self {
            reader: BufReader::new(File::open(path)?),
            number: 0,
        })
    }

    /// The next record; nothing behind the last.
    fn next(&mut self) -> Result<Option<ExportLine>, ImportError> {
        loop {
            let mut line = String::new();
            let mut limited = std::io::Read::take(&mut self.reader, LINE_MOST);
            let read = limited.read_line(&mut line);
            self.number += 1;
            let wrong = |why: String| ImportError::Line {
                number: self.number,
                why,
            };
            if read.map_err(|error| wrong(error.to_string()))? == 0 {
                return Ok(None);
            }
            if line.len() as u64 == LINE_MOST {
                return Err(wrong(format!("is longer than {LINE_MOST} bytes")));
            }
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() {
                continue;
            }
            let read: Result<Map<String, Value>, _> = serde_json::from_str(line);
            let fields = read.map_err(|error| {
                wrong(format!(
                    "is no JSON object ({error}); export one record a line"
                ))
            })?;
            return Ok(Some(record(fields).map_err(wrong)?));
        }
    }
}

fn record(fields: Map<String, Value>) -> Result<ExportLine, String> {
    let fields: Map<String, Value> = fields
        .into_iter()
        .map(|(name, value)| (name.to_lowercase(), value))
        .collect();
    let text = |name: &str| {
        fields
            .get(name)
            .map(plain)
            .filter(|text| !text.is_empty() && text != "null")
    };
    let id = text("_id").or_else(|| text("id"));
    let id = id.ok_or("has neither `_id` nor `id`")?;
    if fields.contains_key("guildid") || fields.contains_key("usertoken") {
        return Ok(ExportLine::Discord(id));
    }
    if !fields.contains_key("token") && !fields.contains_key("role") {
        return Err("is neither a user (`Token`, `Role`) nor a Discord account (`GuildId`)".into());
    }
    let number = |name: &str| -> i64 {
        text(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    };
    let status = text("status").unwrap_or_default();
    Ok(ExportLine::User(ExportedUser {
        name: text("name").unwrap_or_else(|| id.clone()),
        email: text("email"),
        token: text("token"),
        disabled: matches!(status.to_uppercase().as_str(), "1" | "DISABLED"),
        total_limit: number("totaldrawlimit"),
        total_count: number("totaldrawcount"),
        day_limit: number("daydrawlimit"),
        queue: number("queuesize"),
        created_ms: fields.get("createtime").and_then(moment),
        ends_ms: fields.get("validendtime").and_then(moment),
        id,
    }))
}

/// A value as text: exports wrap numbers and identifiers in objects that say what they are.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(wrapped) => wrapped.values().next().map(plain).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// A moment in any of the forms of an export.
fn moment(value: &Value) -> Option<i64> {
    let text = plain(value);
    if let Ok(ms) = text.parse::<i64>() {
        return Some(ms);
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(at.as_millisecond());
    }
    let local: jiff::civil::DateTime = text.parse().ok()?;
    let at = local.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(at.timestamp().as_millisecond())
}

impl MidjourneyProxy {
    pub(super) fn open(from: &str) -> Result<Self, ImportError> {
        let path = PathBuf::from(from);
        let mut source = Self {
            users: Lines::open(&path)?,
            keys: Lines::open(&path)?,
            discord: Vec::new(),
        };
        // The whole file is looked at before anything is taken over: a line that cannot be read speaks for another file.
        let mut lines = Lines::open(&path)?;
        let mut any = false;
        while let Some(line) = lines.next()? {
            any = true;
            if let ExportLine::Discord(id) = line {
                source.discord.push(id);
            }
        }
        if !any {
            return Err(ImportError::Schema(format!(
                "{from} is empty; export the collections of users and of accounts, one record a line"
            )));
        }
        Ok(source)
    }

    pub(super) fn accounts(&mut self) -> Result<Vec<SourceAccount>, ImportError> {
        let mut accounts = Vec::new();
        while accounts.len() < PAGE {
            match self.users.next()? {
                None => break,
                Some(ExportLine::Discord(_)) => {}
                Some(ExportLine::User(user)) => accounts.push(account(user)),
            }
        }
        Ok(accounts)
    }

    pub(super) fn keys(&mut self) -> Result<Vec<SourceKey>, ImportError> {
        let mut keys = Vec::new();
        while keys.len() < PAGE {
            match self.keys.next()? {
                None => break,
                Some(ExportLine::Discord(_)) => {}
                Some(ExportLine::User(user)) => keys.extend(key(user)),
            }
        }
        Ok(keys)
    }

    pub(super) fn channels(&mut self) -> Vec<SourceChannel> {
        let accounts = std::mem::take(&mut self.discord).into_iter();
        let channel = |id: String| {
            SourceChannel {
            table: "accounts",
            name: format!("Discord account {id}"),
            origin: id,
            target: Err(
                "nobody here drives Discord; keep that program running and make it a back end (vendor midjourney-proxy)"
                    .to_owned(),
            ),
            credentials: Vec::new(),
            enabled: false,
            priority: 0,
            weight: 0,
            models: Vec::new(),
            notes: Vec::new(),
        }
        };
        accounts.map(channel).collect()
    }

    /// What there is besides, and is not taken over.
    pub(super) fn left_out() -> ReportRow {
        let why = "earlier tasks stay there, with their pictures";
        ReportRow::new("tasks", "all", ReportAction::Skip, why)
    }
}

fn account(user: ExportedUser) -> SourceAccount {
    let left = Units::whole(user.total_limit).less(Units::whole(user.total_count));
    SourceAccount {
        table: "users",
        origin: user.id,
        name: user.name,
        email: user.email,
        balance: (user.total_limit > 0).then(|| left.at_least_zero()),
        state: if user.disabled {
            SourceState::Disabled
        } else {
            SourceState::Enabled
        },
        group: None,
        max_queue: (user.queue > 0).then_some(user.queue),
        created_ms: user.created_ms,
        notes: Vec::new(),
    }
}

fn key(user: ExportedUser) -> Option<SourceKey> {
    let token = user.token?;
    let shown = token.chars().take(4).collect();
    Some(SourceKey {
        table: "users",
        origin: user.id.clone(),
        owner: user.id,
        secret: ForeignKey::Whole(token),
        shown,
        name: "token".to_owned(),
        state: if user.disabled {
            SourceState::Disabled
        } else {
            SourceState::Enabled
        },
        expires_ms: user.ends_ms,
        limits: if user.day_limit > 0 {
            vec![(LimitWindow::Day, Units::whole(user.day_limit))]
        } else {
            Vec::new()
        },
        models: Vec::new(),
        addresses: Vec::new(),
        created_ms: user.created_ms,
        notes: Vec::new(),
    })
}
