//! Links to files.

use atelier_contract::time::timestamp;
use atelier_engine::records::Link;
use schemars::JsonSchema;
use serde::Serialize;

/// A link to a file of a job.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Link")]
pub(crate) struct LinkRow {
    /// Identifier of the link.
    pub(crate) id: String,
    /// Its URL, which shows the file to anyone.
    pub(crate) url: String,
    /// The job of the file.
    pub(crate) job_id: String,
    /// Media type of the file, such as `image/png`.
    #[serde(rename = "type")]
    pub(crate) media_type: String,
    /// When it ends, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) expires_at: String,
}

impl LinkRow {
    /// A link and its address.
    pub(crate) fn new(link: Link, url: String) -> Self {
        Self {
            id: link.id,
            url,
            job_id: link.asset.job_id,
            media_type: link.asset.media_type,
            expires_at: timestamp(link.ends_ms),
        }
    }
}
