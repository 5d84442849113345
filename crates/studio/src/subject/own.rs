//! The subjects we draw ourselves, and which emoji they stand in for.

use crate::wanted::habitat::Habitat;
use crate::wanted::kinds::Setting;

/// A subject of our own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// Its name and key.
    pub key: &'static str,
    /// Where it belongs.
    pub habitat: Habitat,
    /// Its size, 0..1.
    pub size: f32,
    /// The emoji it stands in for.
    pub glyphs: &'static [&'static str],
}

const fn own(
    key: &'static str,
    habitat: Habitat,
    size: f32,
    glyphs: &'static [&'static str],
) -> Own {
    Own {
        key,
        habitat,
        size,
        glyphs,
    }
}

/// All subjects of our own.
pub(crate) const OWN: &[Own] = &[
    own("fox", Habitat::Ground, 0.42, &["🦊"]),
    own("wolf", Habitat::Ground, 0.5, &["🐺"]),
    own("bear", Habitat::Ground, 0.6, &["🐻"]),
    own("polar bear", Habitat::Ground, 0.62, &["🐻‍❄️"]),
    own("panda", Habitat::Ground, 0.55, &["🐼"]),
    own("lion", Habitat::Ground, 0.56, &["🦁"]),
    own("deer", Habitat::Ground, 0.6, &["🦌"]),
    own("eagle", Habitat::Air, 0.5, &["🦅"]),
    own("person", Habitat::Ground, 0.66, &["🧑", "🧍", "🚶", "👤"]),
    own("man", Habitat::Ground, 0.66, &["👨", "🚶‍♂️", "🧍‍♂️"]),
    own("woman", Habitat::Ground, 0.66, &["👩", "🚶‍♀️", "🧍‍♀️"]),
    own("child", Habitat::Ground, 0.48, &["🧒", "👦", "👧"]),
    own("wanderer", Habitat::Ground, 0.66, &["🥾"]),
    own("knight", Habitat::Ground, 0.66, &[]),
    own("wizard", Habitat::Ground, 0.66, &["🧙", "🧙‍♂️"]),
    own("witch", Habitat::Ground, 0.66, &["🧙‍♀️"]),
    own("monk", Habitat::Ground, 0.66, &[]),
    own("astronaut", Habitat::Ground, 0.66, &["🧑‍🚀", "👨‍🚀", "👩‍🚀"]),
    own("princess", Habitat::Ground, 0.66, &["👸"]),
    own("king", Habitat::Ground, 0.66, &["🤴"]),
    own("samurai", Habitat::Ground, 0.66, &[]),
    own("tree", Habitat::Ground, 0.85, &["🌳"]),
    own("cherry tree", Habitat::Ground, 0.85, &[]),
    own("autumn tree", Habitat::Ground, 0.85, &[]),
    own("pine tree", Habitat::Ground, 0.85, &["🌲", "🎄"]),
    own("palm tree", Habitat::Ground, 0.8, &["🌴"]),
    own("portrait of a woman", Habitat::Table, 1.0, &[]),
    own("portrait of a man", Habitat::Table, 1.0, &[]),
    own("sailboat", Habitat::Water, 0.62, &["⛵"]),
    own("galleon", Habitat::Water, 0.8, &[]),
    own("steamship", Habitat::Water, 0.7, &["🚢", "🛳️"]),
    own("lighthouse", Habitat::Ground, 0.95, &[]),
    own("house", Habitat::Ground, 0.78, &["🏠", "🏡"]),
    own("windmill", Habitat::Ground, 0.85, &[]),
    own("hot air balloon", Habitat::Air, 0.5, &[]),
    own("vase of flowers", Habitat::Table, 0.75, &["💐", "🏺"]),
    own("bowl of fruit", Habitat::Table, 0.5, &[]),
    own("robot", Habitat::Ground, 0.66, &["🤖"]),
    own("bridge", Habitat::Ground, 0.75, &["🌉"]),
    own("pagoda", Habitat::Ground, 0.9, &["🏯"]),
];

/// The subject of our own that is better than this emoji's picture.
pub(crate) fn own_for(glyph: &str) -> Option<&'static str> {
    OWN.iter()
        .find(|own| own.glyphs.contains(&glyph))
        .map(|own| own.key)
}

/// Where a subject lives when nobody says.
pub(crate) fn home(key: &str) -> Option<Setting> {
    Some(match key {
        "fox" | "wolf" | "bear" | "🦌" | "deer" | "🦉" | "🐿️" | "🍄" | "🦔" => {
            Setting::Forest
        }
        "polar bear" | "🐧" | "⛄" | "🦭" | "🎿" | "⛷️" => Setting::Snow,
        "lion" | "🐘" | "🦒" | "🦓" | "🦏" | "🐆" => Setting::Meadow,
        "panda" | "🐅" | "🐒" | "🦍" | "🦜" | "🐍" | "🦧" | "🐊" => Setting::Jungle,
        "🐪" | "🐫" | "🌵" | "🦂" => Setting::Desert,
        "knight" | "wizard" | "king" | "princess" | "wanderer" | "pagoda" | "monk" | "🏰"
        | "🐉" | "eagle" => Setting::Mountains,
        "astronaut" | "👽" | "👾" => Setting::Space,
        "lighthouse" | "palm tree" | "🦀" | "🐢" | "🏄" => Setting::Beach,
        "bridge" => Setting::River,
        "robot" | "🚗" | "🚕" | "🏎️" | "🚓" => Setting::City,
        "🚲" | "🚌" | "🛵" => Setting::Street,
        "🐄" | "🐖" | "🐓" | "🐑" | "🚜" | "windmill" | "🐐" => Setting::Farm,
        "portrait of a woman" | "portrait of a man" => Setting::Studio,
        _ => return None,
    })
}
