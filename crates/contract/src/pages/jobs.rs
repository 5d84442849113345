//! One view of any job, whatever its family, and the list of them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::list::{PageNumber, PageSize};
use crate::body::Fields;
use crate::families::artgen::history::ListedState;
use crate::families::{FAMILIES, operation};
use crate::family::{Family, SubmitEndpoint};
use crate::fields::{Flag, Moment, Text, as_text, not_a_word, words};
use crate::ids::JobId;
use crate::job::{File, Job, JobState};
use crate::midjourney;
use crate::models::{PriceLine, note_of, put_back, render_job};
use crate::names::canonical_name;
use crate::quota::Quota;
use crate::time::timestamp;

/// Which jobs to list.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct JobsQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// Jobs on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
    /// Only jobs of this family.
    #[serde(default)]
    pub family: Option<FamilyName>,
    /// Only jobs in this state, in any case.
    #[serde(default)]
    pub status: Option<ListedState>,
    /// Only jobs that have not finished.
    #[serde(default)]
    pub unfinished: Flag<false>,
    /// Only jobs that make this.
    #[serde(default)]
    pub makes: Option<MediaKind>,
    /// Only jobs with these words in the first 500 characters of their prompt, in any case; an identifier finds its job alone.
    /// A search looks at 20,000 jobs or for 200 ms, newest first: `total` is what it found, and `next` where it goes on.
    #[serde(default)]
    pub q: Option<Text<200>>,
    /// Only jobs that follow this one.
    #[serde(default)]
    pub parent: Option<Text<100>>,
    /// Only jobs accepted at this moment or later.
    #[serde(default)]
    pub since: Option<Moment>,
    /// Only jobs accepted at this moment or later; the same as `since`.
    #[serde(default)]
    pub from: Option<Moment>,
    /// Only jobs accepted before this moment. With this or one of the next, a page is looked for as with `q`.
    #[serde(default)]
    pub to: Option<Moment>,
    /// Only jobs of this operation, as `artgen.imagine`.
    #[serde(default)]
    pub operation: Option<Text<100>>,
    /// Only jobs that came by this key.
    #[serde(default, rename = "keyId")]
    pub key_id: Option<Text<100>>,
    /// Only jobs of this member of the account.
    #[serde(default, rename = "memberId")]
    pub member_id: Option<Text<100>>,
    /// Only jobs that name this model.
    #[serde(default)]
    pub model: Option<Text<100>>,
    /// Only jobs with this tag, as `project:a`.
    #[serde(default)]
    pub tag: Option<Text<200>>,
    /// Only jobs of this end user.
    #[serde(default)]
    pub user: Option<Text<256>>,
    /// Operators only: the account; jobs of every account when absent.
    #[serde(default, rename = "accountId")]
    pub account_id: Option<Text<100>>,
    /// Only jobs behind this place of the list: the `next` of the answer before, with the same other parameters.
    #[serde(default)]
    pub after: Option<JobCursor>,
}

/// A place in a list of jobs, behind which it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCursor {
    /// When the job there was accepted.
    pub created_ms: i64,
    /// What tells it from others of the same moment.
    pub id: String,
}

impl std::fmt::Display for JobCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}_{}", self.created_ms, self.id)
    }
}

impl JobCursor {
    fn parse(text: &str) -> Option<Self> {
        let (created_ms, id) = text.split_once('_')?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if id.is_empty() || id.len() > 100 || !id.bytes().all(plain) {
            return None;
        }
        Some(Self {
            created_ms: created_ms.parse().ok()?,
            id: id.to_owned(),
        })
    }
}

impl<'de> Deserialize<'de> for JobCursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let wrong = "must be the `next` of an answer of the same list";
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(wrong))
    }
}

impl JsonSchema for JobCursor {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "JobCursor".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": 121 })
    }
}

words! {
    /// What a job makes.
    pub MediaKind = Picture {
        /// Jobs whose results are images.
        Picture "picture",
        /// Jobs whose results are videos.
        Video "video",
    }
}

impl JobsQuery {
    /// The operations asked for; none at all means every operation.
    pub fn operations(&self) -> Vec<String> {
        if self.family.is_none() && self.makes.is_none() {
            return Vec::new();
        }
        let families = FAMILIES.iter().filter(|family| {
            self.family
                .is_none_or(|wanted| wanted.0.name == family.name)
        });
        let submits = families.flat_map(|family| family.submits);
        let submits =
            submits.filter(|submit| self.makes.is_none_or(|wanted| media_kind(submit) == wanted));
        let names: Vec<String> = submits.map(|submit| submit.name.to_owned()).collect();
        if names.is_empty() {
            // No operation has this name: a family without what is asked for has no such job.
            return vec![String::new()];
        }
        names
    }
}

/// What comes of an operation.
pub fn media_kind(submit: &SubmitEndpoint) -> MediaKind {
    if submit.is_long() {
        MediaKind::Video
    } else {
        MediaKind::Picture
    }
}

/// A family by its name.
#[derive(Clone, Copy)]
pub struct FamilyName(pub &'static Family);

impl std::fmt::Debug for FamilyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

fn family_names() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.name).collect()
}

impl<'de> Deserialize<'de> for FamilyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        // In either spelling.
        let name = canonical_name(&text);
        let family = FAMILIES.iter().find(|family| name == Some(family.name));
        family
            .map(FamilyName)
            .ok_or_else(|| not_a_word(&text, &family_names()))
    }
}

impl JsonSchema for FamilyName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FamilyName".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": family_names() })
    }
}

/// The field of a stored request that keeps its prompt in English; no caller can send it.
pub const UNDERSTOOD: &str = "understood";

/// A job with its request.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Job")]
pub struct JobView {
    /// What its events show, too.
    #[serde(flatten)]
    pub job: JobProgress,
    /// The request, with every default resolved.
    pub request: Fields,
}

/// A job as the operator sees it, with its account and its worker account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServedJob {
    /// What its caller sees, too.
    #[serde(flatten)]
    pub job: JobView,
    /// The account it belongs to.
    pub account_id: String,
    /// The back end that was tried last, or `embedded`; null if none was tried.
    pub backend: Option<String>,
    /// The worker account there.
    pub worker: Option<String>,
}

/// A job as its events show it: without what was asked, which does not change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    /// Identifier of the job.
    pub job_id: JobId,
    /// The family it belongs to.
    pub family: Option<&'static str>,
    /// The operation that made it, `family.operation`.
    pub operation: String,
    /// `PENDING_QUEUE`, `ON_QUEUE`, `SUCCESS` or `FAILED`.
    pub status: &'static str,
    /// Progress in percent, 0 to 100.
    pub progress: u8,
    /// Why it failed, if it did.
    pub message: Option<String>,
    /// The requested model of the operator's catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The revision of that model that it was accepted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_revision: Option<u32>,
    /// Lines of its price, if the catalogue has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<PriceLine>,
    /// The key that it came by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Member of the account who submitted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_id: Option<String>,
    /// Tags given by the caller.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The end user that its caller names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Quota consumed; 0 unless it succeeded.
    pub quota: Quota,
    /// Quota reserved until it has ended.
    pub held: Quota,
    /// When it was accepted, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// When it first started.
    pub started_at: Option<String>,
    /// When it finished or failed.
    pub finished_at: Option<String>,
    /// When it fails if it has not finished.
    pub deadline: String,
    /// The job it follows.
    pub parent_job_id: Option<JobId>,
    /// URL that receives the callback, if one was given.
    pub hook_url: Option<String>,
    /// How often the callback was tried.
    pub hook_times: u32,
    /// Fields of the request that had no effect where it was made.
    pub ignored: Vec<String>,
    /// The files of its result, while they are kept.
    pub files: Vec<JobFile>,
    /// The prompt as used, if it was translated or rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub understood: Option<String>,
    /// The body of its family's fetch, once it has finished or failed.
    pub result: Option<Value>,
}

/// A file that a job made.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobFile {
    /// Signed URL of the file.
    pub url: String,
    /// Media type, such as `image/png`.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Width of the image or video in pixels.
    pub width: u32,
    /// Height of the image or video in pixels.
    pub height: u32,
    /// Length in seconds, of a video.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When the URL expires.
    pub expires_at: String,
}

impl JobView {
    /// A job with its request, without what is kept beside it.
    pub fn of(job: &Job) -> Self {
        let mut request = job.request.clone();
        put_back(&mut request);
        // What is kept beside the request for others is no part of what was asked.
        for kept in [UNDERSTOOD, midjourney::STATE] {
            request.remove(kept);
        }
        Self {
            job: JobProgress::of(job),
            request,
        }
    }
}

impl JobProgress {
    /// The view without what was asked.
    pub fn of(job: &Job) -> Self {
        let family = operation(&job.operation).map(|(family, _)| family);
        let over = job.state.is_final();
        let output = job.output().into_iter();
        let revised = job
            .output()
            .and_then(|output| output.revised_prompt.clone());
        let note = note_of(&job.request);
        let understood = revised.or_else(|| job.text(UNDERSTOOD).map(str::to_owned));
        Self {
            job_id: job.id.clone(),
            family: family.map(|family| family.name),
            operation: job.operation.clone(),
            status: job.state.word(),
            progress: if job.state == JobState::Succeeded {
                100
            } else {
                job.progress
            },
            message: job.message.clone(),
            model_revision: note.as_ref().map(|note| note.revision),
            model: note.map(|note| note.name),
            price: job.price_lines.clone(),
            key_id: job.spender.key_id.clone(),
            member_id: job.spender.member_id.clone(),
            tags: job.spender.tags.clone(),
            user: job.spender.user.clone(),
            quota: job.quota,
            held: if over { Quota::ZERO } else { job.price },
            created_at: timestamp(job.created_ms),
            started_at: job.started_ms.map(timestamp),
            finished_at: job.finished_ms.map(timestamp),
            deadline: timestamp(job.deadline_ms),
            parent_job_id: job.parent.clone(),
            hook_url: job.hook_url.clone(),
            hook_times: job.hook_times,
            ignored: job
                .output()
                .map_or_else(Vec::new, |output| output.ignored.clone()),
            files: output
                .flat_map(|output| &output.files)
                .map(JobFile::of)
                .collect(),
            understood,
            result: family
                .filter(|_| over)
                .map(|family| render_job(family, job)),
        }
    }
}

impl JobFile {
    fn of(file: &File) -> Self {
        Self {
            url: file.origin_url.clone(),
            media_type: file.media_type.clone(),
            width: file.width,
            height: file.height,
            seconds: file.seconds,
            bytes: file.bytes,
            expires_at: timestamp(file.expires_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_family_is_named_in_either_spelling() {
        for name in ["vidgen_partner", "vidgen-partner"] {
            let read: FamilyName = serde_json::from_value(json!(name)).expect(name);
            assert_eq!(read.0.name, "vidgen_partner");
        }
        serde_json::from_value::<FamilyName>(json!("vidgen.generations")).expect_err("no family");
    }
}
