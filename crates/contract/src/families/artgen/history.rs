//! fetch-list: its parameters and its items, snake_case.

use super::actions::components;
use super::result::{action_word, progress, prompt, seed, small_images};
use crate::family::timestamp;
use crate::fields::{Count, as_text, not_a_word};
use crate::prelude::*;

/// Which jobs to list, and which page of them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HistoryQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: Count<1, 1_000_000, 1>,
    /// Jobs on a page, at most 100.
    #[serde(default)]
    pub limit: Count<1, 100, 10>,
    /// Job status to list, in any case.
    #[serde(default)]
    pub status: ListedState,
    /// Newest first (`desc`) or oldest first (`asc`), in any case.
    #[serde(default)]
    pub order: ListOrder,
}

/// A word that may come in any case: a type around the states, and one around the orders.
macro_rules! any_case {
    ($(#[$doc:meta])* $name:ident($inner:ty) = $default:expr, [$($word:literal => $value:expr),* $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub $inner);

        impl $name {
            const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl Default for $name {
            fn default() -> Self {
                Self($default)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $(if self.0 == $value { return serializer.serialize_str($word); })*
                serializer.serialize_none()
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = as_text(deserializer)?;
                $(if text.eq_ignore_ascii_case($word) { return Ok(Self($value)); })*
                Err(not_a_word(&text, Self::WORDS))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

any_case!(
    /// A job state in a list's filter.
    ListedState(JobState) = JobState::Succeeded, [
        "PENDING_QUEUE" => JobState::Waiting,
        "ON_QUEUE" => JobState::Running,
        "SUCCESS" => JobState::Succeeded,
        "FAILED" => JobState::Failed,
    ]
);

/// Which end of a list comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    /// The oldest entry comes first.
    OldestFirst,
    /// The newest entry comes first.
    NewestFirst,
}

any_case!(
    /// The order of a list.
    ListOrder(SortOrder) = SortOrder::NewestFirst, [
        "asc" => SortOrder::OldestFirst,
        "desc" => SortOrder::NewestFirst,
    ]
);

/// A job in the history list.
#[derive(Serialize, JsonSchema)]
pub struct HistoryItem {
    /// Identifier of the job, as its submit returned it.
    pub job_id: String,
    /// Speed mode that the job ran in.
    pub model: &'static str,
    /// Operation that created the job.
    pub action: String,
    /// Quota that the job consumed.
    pub quota: Quota,
    /// 0 waiting, 1 executing, 2 succeeded, 3 failed.
    pub status: i64,
    /// Progress in percent, 0 to 100, as text.
    pub progress: String,
    /// The prompt as it was submitted.
    pub prompt: String,
    /// Result on the origin host, empty when there is none.
    pub origin_image: String,
    /// Result on the proxy host, empty when there is none.
    pub cdn_image: String,
    /// Callback URL, empty if there is none.
    pub hook_url: String,
    /// How often the callback was tried.
    pub hook_times: u32,
    /// Follow-up actions this job offers.
    pub components: Vec<&'static str>,
    /// Why it failed, empty when it did not.
    pub message: String,
    /// When it was accepted.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// Seed of the image, as text.
    pub seed: Option<String>,
    /// URLs of the four single images.
    pub images: Vec<String>,
}

/// A page of the history list.
#[derive(Serialize, JsonSchema)]
pub struct History {
    /// Always `SUCCESS`: a refusal has another shape.
    pub status: &'static str,
    /// Always `success`, in the same sense.
    pub message: &'static str,
    /// The jobs of this page, in the requested order.
    pub data: Vec<HistoryItem>,
    /// How many jobs there are on all pages.
    pub total: u64,
    /// Number of this page, from 1.
    pub page: u64,
    /// How many jobs a page has.
    pub limit: u64,
}

impl HistoryItem {
    /// The item for a job.
    pub fn of(job: &Job) -> Self {
        let file = job.file(0);
        Self {
            job_id: job.id.to_string(),
            model: job.speed.word(),
            action: action_word(job).to_owned(),
            quota: job.quota,
            status: job.state.number(),
            progress: progress(job),
            prompt: prompt(job).unwrap_or_default(),
            origin_image: file.map(|file| file.origin_url.clone()).unwrap_or_default(),
            cdn_image: file.map(|file| file.cdn_url.clone()).unwrap_or_default(),
            hook_url: job.hook_url.clone().unwrap_or_default(),
            hook_times: job.hook_times,
            components: components(job).iter().map(|action| action.word()).collect(),
            message: job.message.clone().unwrap_or_default(),
            created_at: timestamp(job.created_ms),
            updated_at: timestamp(job.updated_ms),
            seed: seed(job),
            images: small_images(job).unwrap_or_default(),
        }
    }
}

/// The item for a job, as JSON.
pub fn history_item(job: &Job) -> Value {
    to_json(&HistoryItem::of(job))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;

    fn query(text: &str) -> Result<HistoryQuery, Refusal> {
        body::read(body::parse_object(text.as_bytes())?)
    }

    #[test]
    fn a_list_shows_the_newest_ten_successes_unless_told_otherwise() {
        let query = query("{}").expect("defaults");
        assert_eq!((query.page.get(), query.limit.get()), (1, 10));
        assert_eq!(query.status.0, JobState::Succeeded);
        assert_eq!(query.order.0, SortOrder::NewestFirst);
    }

    #[test]
    fn status_and_order_come_in_any_case() {
        let query = query(r#"{"status":"failed","order":"ASC","page":"2"}"#).expect("any case");
        assert_eq!(query.status.0, JobState::Failed);
        assert_eq!(query.order.0, SortOrder::OldestFirst);
        assert_eq!(query.page.get(), 2);
    }

    #[test]
    fn a_list_out_of_bounds_is_refused_by_name() {
        for (text, field) in [
            (r#"{"limit":101}"#, "limit"),
            (r#"{"limit":0}"#, "limit"),
            (r#"{"page":0}"#, "page"),
            (r#"{"status":"done"}"#, "status"),
            (r#"{"order":"up"}"#, "order"),
        ] {
            let refusal = query(text).expect_err(text);
            assert_eq!(refusal.field.as_deref(), Some(field), "{text}");
        }
    }
}
