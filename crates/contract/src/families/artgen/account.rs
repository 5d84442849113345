//! The account record, the prompt check and the status of the artgen image endpoints.

use crate::fields::Prompt;
use crate::prelude::*;

/// Where an account is shown to its owner.
pub const PATH: &str = "/artgen/v1/info";

/// An account as its owner sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AccountRecord {
    /// E-mail address of the account.
    pub email: String,
    /// When the address was verified, `YYYY-MM-DD HH:MM:SS`; empty when it was not.
    pub email_verified_at: String,
    /// Remaining quota, without the reserved part.
    pub balance: Quota,
    /// Quota reserved for running jobs.
    pub freeze_balance: Quota,
    /// Number of jobs the account may have in the queue of a family.
    pub max_queue: u32,
    /// When the account was made, `YYYY-MM-DD HH:MM:SS`.
    pub created_at: String,
}

/// Validates an imagine prompt; effective for English text only.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct PromptCheck {
    /// The prompt to check; nothing is submitted.
    pub prompt: Prompt,
}

/// The answer to a prompt that passed.
pub const PROMPT_PASSED: &str = "Prompt verification successful.";

/// How one speed mode does.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModeStatus {
    /// 200 when it works, 503 when it does not.
    pub status: u16,
    /// The same in words.
    pub running_message: String,
    /// Seconds a job took of late, on average.
    pub average_execute: f64,
}

/// How one endpoint does.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointStatus {
    /// Name of the operation, without its family.
    pub name: String,
    /// Path of its submit.
    pub path: String,
    /// 200 when it works, 503 when it does not.
    pub status: u16,
    /// The same in words.
    pub running_message: String,
}

/// The `data` of the status query.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ArtgenStatus {
    /// How relax mode does.
    pub relax: ModeStatus,
    /// How fast mode does.
    pub fast: ModeStatus,
    /// How turbo mode does.
    pub turbo: ModeStatus,
    /// Each artgen image endpoint.
    pub endpoints: Vec<EndpointStatus>,
}
