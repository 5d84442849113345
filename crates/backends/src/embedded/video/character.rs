//! A character: who was seen in a video, kept so that later videos can show it again.

use atelier_studio::RequestedSubject;
use serde::{Deserialize, Serialize};

/// What is known of a character.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::embedded) struct Character {
    /// What a prompt would call it; empty when only its looks are known.
    pub(super) words: String,
    pub(super) palette: Vec<[u8; 3]>,
    /// What it looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) looks: Option<RequestedSubject>,
}
