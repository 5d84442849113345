//! A job as the contract sees it: what was asked, how far it is, what came out.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::body::{self, Fields};
use crate::fault::FaultKind;
use crate::ids::JobId;
use crate::models::PriceLine;
use crate::notes::Notes;
use crate::quota::Quota;

/// Where a job is on its way. The numbers are those of the history list and of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobState {
    /// Waiting in the queue.
    Waiting = 0,
    /// A node or a vendor is executing it.
    Running = 1,
    /// Finished with a result.
    Succeeded = 2,
    /// Finished without a result; its fault says why.
    Failed = 3,
}

impl JobState {
    /// Every state, by number.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Running, Self::Succeeded, Self::Failed];

    /// The state with a number.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The number in the history list.
    pub const fn number(self) -> i64 {
        self as i64
    }

    /// Whether it never changes again.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }

    /// The full word; families without a word for waiting show it as `ON_QUEUE`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "PENDING_QUEUE",
            Self::Running => "ON_QUEUE",
            Self::Succeeded => "SUCCESS",
            Self::Failed => "FAILED",
        }
    }
}

/// The speed a caller asked for; it orders the queue and sets the price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Speed {
    /// Served before everybody else; costs most.
    Turbo = 0,
    /// The default speed at the plain price.
    #[default]
    Fast = 1,
    /// May wait for the others, but not for ever.
    Relax = 2,
}

impl Speed {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Turbo => "turbo",
            Self::Fast => "fast",
            Self::Relax => "relax",
        }
    }

    /// Every speed, fastest first.
    pub const ALL: [Self; 3] = [Self::Turbo, Self::Fast, Self::Relax];

    /// The speed with a number, as stored.
    pub fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Turbo,
            2 => Self::Relax,
            _ => Self::Fast,
        }
    }
}

impl Serialize for Speed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = crate::fields::word_text(deserializer)?;
        let speed = Self::ALL.into_iter().find(|speed| speed.word() == text);
        speed.ok_or_else(|| crate::fields::not_a_word(&text, &Self::ALL.map(Self::word)))
    }
}

impl JsonSchema for Speed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Speed".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::word) })
    }
}

/// What a file of a result is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileRole {
    /// A result that the caller asked for.
    #[default]
    Main,
    /// One of the four small images of a grid.
    Small,
    /// The first frame of a video.
    FirstFrame,
    /// The last frame of a video.
    LastFrame,
}

/// A file of a result, in the service's own asset store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Where the asset store keeps it.
    pub key: String,
    /// What it is for.
    #[serde(default)]
    pub role: FileRole,
    /// Media type, such as `image/png`.
    pub media_type: String,
    /// Width of the image or video in pixels.
    pub width: u32,
    /// Height of the image or video in pixels.
    pub height: u32,
    /// Length in seconds, of a clip whose bytes tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When its address stops working, in milliseconds since 1970.
    pub expires_ms: i64,
    /// Signed address on the origin host; filled in when the job is read.
    #[serde(skip)]
    pub origin_url: String,
    /// Signed address on the proxy host; filled in when the job is read.
    #[serde(skip)]
    pub cdn_url: String,
}

/// What a finished job made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The files, results first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// Prompts found by describe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// The seed, where it is the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The prompt the back end really used, where it rewrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_prompt: Option<String>,
    /// A name by which later requests of the same account may cite this job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// How many of the asked-for items were made; fewer are charged for when fewer were made.
    pub made: u32,
    /// Fields of the request that had no effect where it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// What the back end that made it needs for follow-ups; nobody else looks inside.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
}

/// Who spends on a job, and what its caller calls it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spender {
    /// The key that it came by.
    pub key_id: Option<String>,
    /// Member of the account who submitted it.
    pub member_id: Option<String>,
    /// Tags given by the caller.
    pub tags: BTreeMap<String, String>,
    /// The end user that its caller names.
    pub user: Option<String>,
}

/// A job, with its files' addresses filled in.
#[derive(Clone, Debug)]
pub struct Job {
    /// Identifier, in the shape its family prescribes.
    pub id: JobId,
    /// The operation that created it, `family.operation`.
    pub operation: String,
    /// How far it has come.
    pub state: JobState,
    /// Progress in percent, 0 to 100.
    pub progress: u8,
    /// Why it failed, in words.
    pub message: Option<String>,
    /// The class of its failure; `None` unless it failed.
    pub fault: Option<FaultKind>,
    /// The request with every default resolved.
    pub request: Fields,
    /// What it made, when it succeeded.
    pub output: Option<Output>,
    /// The speed it runs at.
    pub speed: Speed,
    /// What was held at acceptance.
    pub price: Quota,
    /// What was really consumed: 0 until it succeeded.
    pub quota: Quota,
    /// Who spends on it.
    pub spender: Spender,
    /// What was held is made of, where the catalogue has its price.
    pub price_lines: Vec<PriceLine>,
    /// The job it follows.
    pub parent: Option<JobId>,
    /// Where the result is posted to.
    pub hook_url: Option<String>,
    /// How often posting was tried.
    pub hook_times: u32,
    /// When it was accepted, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it first started.
    pub started_ms: Option<i64>,
    /// When it became final.
    pub finished_ms: Option<i64>,
    /// When it is failed if it has not finished.
    pub deadline_ms: i64,
    /// When anything of it last changed.
    pub updated_ms: i64,
    /// Counts changes; the id of its events.
    pub revision: i64,
}

impl Job {
    /// The typed request. Stored requests outlive releases, so this is `None` only for a row of a foreign operation.
    pub fn request<T: DeserializeOwned>(&self) -> Option<T> {
        body::read_stored(self.request.clone()).ok()
    }

    /// A text field of the request.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.request.get(field).and_then(Value::as_str)
    }

    /// When it succeeded, as the interface writes times.
    pub fn finish_time(&self) -> String {
        crate::time::timestamp(self.finished_ms.unwrap_or(self.updated_ms))
    }

    /// The output of a job that succeeded.
    pub fn output(&self) -> Option<&Output> {
        self.output
            .as_ref()
            .filter(|_| self.state == JobState::Succeeded)
    }

    /// The files of one role, in order.
    pub fn files(&self, role: FileRole) -> impl Iterator<Item = &File> {
        self.output()
            .into_iter()
            .flat_map(move |output| output.files.iter().filter(move |file| file.role == role))
    }

    /// The main file at a place.
    pub fn file(&self, index: usize) -> Option<&File> {
        self.files(FileRole::Main).nth(index)
    }
}
