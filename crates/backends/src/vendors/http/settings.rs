//! What an operator writes to describe a vendor: data alone.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::call::CallSettings;
use super::entries::ModelEntry;
use super::errors::{ErrorLine, ErrorPlaces, RefusalSign, WaitPlace, WordList};
use super::maps::WordMap;
use super::pictures::UploadSettings;
use super::pointer::JsonPointers;
use super::recorded::RecordedAnswer;
use super::request::RequestSettings;
use super::sign::SignSettings;
use super::sums::SumPlace;
use super::webhook::WebhookSettings;
use crate::field_error::FieldError;
use crate::task_vendor::TimingSettings;
use crate::vendor::{check_names, schema_of};

/// A description is not longer, its recorded answers included.
const MOST_BYTES: usize = 512 * 1024;
/// Entries that any list or table of a description may have.
pub(super) const MOST_ENTRIES: usize = 100;

/// What to do about an order whose answer never came: it may have been taken, and paid for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum LostOrder {
    /// Nobody knows what became of it; it is not repeated.
    #[default]
    Unknown,
    /// Ordering again costs nothing.
    Repeat,
    /// Ordering again under the same `{{attempt}}` gives the first answer; every submit has it.
    Key,
    /// The vendor can be asked for it by `{{attempt}}`, which every submit has.
    Search {
        /// The call that looks for it.
        request: Box<RequestSettings>,
        /// What its answer says of the task; nothing there means that the vendor never had it.
        task: BTreeMap<String, JsonPointers>,
    },
}

/// A call that costs nothing and shows whether the vendor is well and takes the credential.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProbeSettings {
    pub(super) request: RequestSettings,
    /// Statuses or codes of errors that are good answers, such as 404 for a task that cannot be.
    #[serde(default)]
    pub(super) healthy: Option<WordList>,
    /// What is left of the account's money.
    #[serde(default)]
    pub(super) balance: Option<SumPlace>,
}

/// A vendor with a JSON interface, described.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpSettings {
    /// How calls carry the credential; as a bearer token when left out.
    #[serde(default)]
    pub(super) sign: SignSettings,
    /// Hosts beside that of `base_url` that get the credential, each with all hosts below it, such as `eu.example.com`. Only
    /// over https.
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    /// The kinds of orders, by names of your own.
    pub(super) calls: BTreeMap<String, CallSettings>,
    /// Which call serves an operation; `operation/image`, `operation/mask` and `operation/end` are
    /// preferred where there are images, a mask or a last frame.
    pub(super) models: BTreeMap<String, ModelEntry>,
    /// Tables of words, for `{{map.NAME}}`.
    #[serde(default)]
    pub(super) maps: BTreeMap<String, WordMap>,
    /// The call that puts images where the vendor finds them, for `{{image.upload}}`.
    #[serde(default)]
    pub(super) upload: Option<UploadSettings>,
    /// Where errors have their code and words; the usual places when left out.
    #[serde(default)]
    pub(super) error: ErrorPlaces,
    /// What errors mean; the usual things when left out.
    #[serde(default)]
    pub(super) errors: Vec<ErrorLine>,
    /// Signs by which an answer with a good status is an error all the same.
    #[serde(default)]
    pub(super) refusals: Vec<RefusalSign>,
    /// Where an error says how long to wait, besides `Retry-After`.
    #[serde(default)]
    pub(super) retry_after: Option<WaitPlace>,
    /// What to do about an order whose answer never came.
    #[serde(default)]
    pub(super) lost: LostOrder,
    /// How posts to `{{hook}}` are signed. Their secret stands behind the key in the credential, after a space.
    #[serde(default)]
    pub(super) webhook: WebhookSettings,
    /// A call that costs nothing and shows whether the vendor is well.
    pub(super) probe: ProbeSettings,
    /// Answers of the vendor with what they mean, by which all of this is checked whenever it is saved.
    #[serde(default)]
    pub(super) recorded: Vec<RecordedAnswer>,
    #[serde(flatten)]
    pub(super) timing: TimingSettings,
}

impl HttpSettings {
    /// Reads a description, or says where it cannot be read.
    pub(super) fn read(written: Value) -> Result<Self, FieldError> {
        let bytes = written.to_string().len();
        if bytes > MOST_BYTES {
            let why = format!("have {bytes} bytes, and may have {MOST_BYTES}");
            return Err(FieldError::new("settings", why));
        }
        check_names(&written, &schema_of::<Self>())?;
        let read: Self = serde_path_to_error::deserialize(written).map_err(|error| {
            let path = error.path().to_string();
            let place = match &*path {
                "." => "settings".to_owned(),
                path => format!("settings.{path}"),
            };
            FieldError::new(place, error.into_inner())
        })?;
        for (name, count) in [
            ("hosts", read.hosts.len()),
            ("calls", read.calls.len()),
            ("models", read.models.len()),
            ("maps", read.maps.len()),
            ("errors", read.errors.len()),
            ("refusals", read.refusals.len()),
            ("recorded", read.recorded.len()),
        ] {
            if count > MOST_ENTRIES {
                let why = format!("has {count} entries, and may have {MOST_ENTRIES}");
                return Err(FieldError::new(format!("settings.{name}"), why));
            }
        }
        Ok(read)
    }
}
