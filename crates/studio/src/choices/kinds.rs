//! The named choices a prompt can make: where, when, in what weather, in which style.

use serde::{Deserialize, Serialize};

macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $kind { $($(#[$doc])* $variant),* }

        impl $kind {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The choice in plain English.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

named! {
    /// Where a scene plays.
    Setting {
        Meadow = "meadow",
        Mountains = "mountains",
        /// Still water between hills.
        Lake = "lake",
        Sea = "sea",
        /// Sand beside the sea.
        Beach = "beach",
        /// Trees near and far.
        Forest = "forest",
        /// Warm, dense green.
        Jungle = "jungle",
        Desert = "desert",
        /// Red rock and strata.
        Canyon = "canyon",
        /// Towers and lit windows.
        City = "city",
        /// A street between houses.
        Street = "street",
        /// Small houses on hills.
        Village = "village",
        Snow = "snowy land",
        Space = "outer space",
        Underwater = "underwater",
        Room = "room",
        Table = "table",
        Garden = "garden",
        River = "river",
        Waterfall = "waterfall",
        /// A mountain of fire.
        Volcano = "volcano",
        Clouds = "sea of clouds",
        Farm = "farmland",
        Studio = "studio backdrop",
        /// No place at all: shapes and colours.
        Abstract = "abstract composition",
    }
}

named! {
    /// When a scene plays.
    Time {
        Dawn = "dawn",
        Morning = "morning",
        Day = "midday",
        /// Low warm sun.
        Golden = "golden hour",
        /// Sun at the horizon.
        Sunset = "sunset",
        /// After the sun.
        Dusk = "dusk",
        Night = "night",
    }
}

named! {
    /// The weather of a scene.
    Weather {
        Clear = "clear sky",
        Cloudy = "drifting clouds",
        Overcast = "overcast sky",
        Rain = "rain",
        Storm = "thunderstorm",
        Snowfall = "falling snow",
        /// Mist in the valleys.
        Fog = "fog",
        /// Leaves in the wind.
        Wind = "wind",
        /// Sun after rain.
        Rainbow = "rainbow",
        Aurora = "northern lights",
        Meteors = "shooting stars",
    }
}

named! {
    /// How a picture is made.
    StyleName {
        /// Soft digital painting, when nothing else is asked for.
        Painting = "digital painting",
        /// Pigment on wet paper.
        Watercolor = "watercolor",
        Oil = "oil painting",
        /// Brush and ink wash.
        Ink = "ink wash",
        Pixel = "pixel art",
        LowPoly = "low-poly",
        /// Layers of cut paper.
        PaperCut = "paper cut",
        LineArt = "line art",
        /// Blocks on a tile.
        Isometric = "isometric",
        Synthwave = "synthwave",
        UkiyoE = "ukiyo-e",
        /// White lines on blue.
        Blueprint = "blueprint",
        /// Hard black and white.
        Noir = "noir",
        /// Coloured glass in lead.
        StainedGlass = "stained glass",
        Poster = "flat poster",
        /// Clear colours in two tones, thin dark lines.
        Anime = "anime",
    }
}

/// How lively a moving scene is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Motion {
    /// Calm: little camera, slow water and clouds.
    Low,
    /// Lively: a travelling camera, quick water and clouds.
    High,
}

impl Setting {
    /// Whether the setting has a sky and a horizon.
    pub(crate) fn is_outdoors(self) -> bool {
        !matches!(
            self,
            Self::Space
                | Self::Underwater
                | Self::Room
                | Self::Table
                | Self::Studio
                | Self::Abstract
        )
    }

    /// Which of two named places contains the other: a higher rank is the place, the rest is its backdrop.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Clouds => 0,
            Self::Snow | Self::Abstract => 1,
            Self::Meadow | Self::Mountains => 2,
            Self::Forest => 3,
            Self::Table => 7,
            Self::Room | Self::Street | Self::Studio => 6,
            Self::Underwater | Self::Space => 8,
            _ => 4,
        }
    }
}

/// Where in the picture a subject should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Wherever it looks well.
    Any,
    /// Left of the middle.
    Left,
    /// Right of the middle.
    Right,
    Middle,
    Top,
    Bottom,
    /// Close to the viewer.
    Front,
    Far,
    /// On top of the subject named next.
    On,
}

/// The time of year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Season {
    /// Blossom.
    Spring,
    Summer,
    /// Red and gold.
    Autumn,
    Winter,
}
