//! What was understood of a prompt, and which languages were read.

use serde::{Deserialize, Serialize};

use crate::choices::RequestedSubject;
use crate::choices::kinds::{Place, Season, Setting, StyleName, Time, Weather};

/// What was understood of a prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Subjects in the order they are named.
    pub subjects: Vec<RequestedSubject>,
    pub setting: Option<Setting>,
    pub time: Option<Time>,
    pub weather: Option<Weather>,
    /// The time of year.
    pub season: Option<Season>,
    pub style: Option<StyleName>,
    /// Colours that belong to no subject, in order.
    pub palette: Vec<[u8; 3]>,
    pub palette_names: Vec<String>,
    /// Whether the moon is asked for.
    pub full_moon: bool,
    /// What to leave out, in English.
    pub left_out: Vec<String>,
    /// The picture's shape, when the prompt says it.
    pub aspect: Option<(u32, u32)>,
    /// Where the next subject belongs.
    pub(crate) place: Option<Place>,
}

/// Which languages are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tongue {
    /// All that there are dictionaries for.
    #[default]
    Any,
    /// English alone; other words say nothing.
    English,
}
