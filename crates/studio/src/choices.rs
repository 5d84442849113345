//! What a prompt can ask for: one subject here, kinds of places, times, weathers and styles below.

pub(crate) mod habitat;
pub(crate) mod kinds;

use serde::{Deserialize, Serialize};

use habitat::Kind;
use kinds::Place;

/// One subject a prompt asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedSubject {
    /// Which picture: the glyph of an emoji or the name of one of our own.
    pub key: String,
    pub name: String,
    /// How many of it, from 1.
    pub count: u8,
    /// The colour it should have.
    pub colour: Option<[u8; 3]>,
    /// The English name of that colour.
    pub colour_name: Option<String>,
    /// Where in the picture.
    pub place: Place,
    /// Larger or smaller than usual.
    pub scale: f32,
    /// Where it belongs and how large it is.
    pub kind: Kind,
    /// A fixed place: the middle of its feet and its height in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[f32; 3]>,
    /// The seed of its own looks, for one that is to be recognised in other scenes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<u64>,
    /// An SVG drawing of it, for one that was seen and has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawing: Option<String>,
}
