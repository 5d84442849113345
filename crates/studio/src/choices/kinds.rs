//! The named choices a prompt can make: where, when, in what weather, in which style.

use serde::{Deserialize, Serialize};

macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $kind { $($(#[$doc])* $variant),* }

        impl $kind {
            /// Every choice.
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
        /// Rolling grassland.
        Meadow = "meadow",
        /// High peaks.
        Mountains = "mountains",
        /// Still water between hills.
        Lake = "lake",
        /// Open water.
        Sea = "sea",
        /// Sand beside the sea.
        Beach = "beach",
        /// Trees near and far.
        Forest = "forest",
        /// Warm, dense green.
        Jungle = "jungle",
        /// Dunes.
        Desert = "desert",
        /// Red rock and strata.
        Canyon = "canyon",
        /// Towers and lit windows.
        City = "city",
        /// A street between houses.
        Street = "street",
        /// Small houses on hills.
        Village = "village",
        /// Snow and ice.
        Snow = "snowy land",
        /// Stars and planets.
        Space = "outer space",
        /// Below the surface.
        Underwater = "underwater",
        /// Inside a house.
        Room = "room",
        /// A set table.
        Table = "table",
        /// Beds of flowers.
        Garden = "garden",
        /// A winding river.
        River = "river",
        /// Falling water.
        Waterfall = "waterfall",
        /// A mountain of fire.
        Volcano = "volcano",
        /// Above the clouds.
        Clouds = "sea of clouds",
        /// Ploughed rows.
        Farm = "farmland",
        /// A plain backdrop.
        Studio = "studio backdrop",
        /// No place at all: shapes and colours.
        Abstract = "abstract composition",
    }
}

named! {
    /// When a scene plays.
    Time {
        /// First light.
        Dawn = "dawn",
        /// Cool morning.
        Morning = "morning",
        /// High sun.
        Day = "midday",
        /// Low warm sun.
        Golden = "golden hour",
        /// Sun at the horizon.
        Sunset = "sunset",
        /// After the sun.
        Dusk = "dusk",
        /// Moon and stars.
        Night = "night",
    }
}

named! {
    /// The weather of a scene.
    Weather {
        /// Blue sky.
        Clear = "clear sky",
        /// Some clouds.
        Cloudy = "drifting clouds",
        /// All clouds.
        Overcast = "overcast sky",
        /// Rain.
        Rain = "rain",
        /// Rain and lightning.
        Storm = "thunderstorm",
        /// Falling snow.
        Snowfall = "falling snow",
        /// Mist in the valleys.
        Fog = "fog",
        /// Leaves in the wind.
        Wind = "wind",
        /// Sun after rain.
        Rainbow = "rainbow",
        /// Northern lights.
        Aurora = "northern lights",
        /// Falling stars.
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
        /// Thick strokes.
        Oil = "oil painting",
        /// Brush and ink wash.
        Ink = "ink wash",
        /// Few large pixels.
        Pixel = "pixel art",
        /// Facets.
        LowPoly = "low-poly",
        /// Layers of cut paper.
        PaperCut = "paper cut",
        /// Lines only.
        LineArt = "line art",
        /// Blocks on a tile.
        Isometric = "isometric",
        /// Neon and grids.
        Synthwave = "synthwave",
        /// Woodblock print.
        UkiyoE = "ukiyo-e",
        /// White lines on blue.
        Blueprint = "blueprint",
        /// Hard black and white.
        Noir = "noir",
        /// Coloured glass in lead.
        StainedGlass = "stained glass",
        /// Few flat colours.
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
    /// In the middle.
    Middle,
    /// High up.
    Top,
    /// Low down.
    Bottom,
    /// Close to the viewer.
    Front,
    /// In the distance.
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
    /// Green.
    Summer,
    /// Red and gold.
    Autumn,
    /// White.
    Winter,
}
