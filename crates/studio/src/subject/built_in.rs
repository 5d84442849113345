//! The subjects we draw ourselves, and which emoji they stand in for.

use crate::choices::habitat::Habitat;
use crate::choices::kinds::Setting;

/// A subject of our own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltInSubject {
    /// Its name and key.
    pub key: &'static str,
    pub habitat: Habitat,
    /// Its size on a scale from 0 (an insect) to 1 (a castle).
    pub size: f32,
    /// The emoji it stands in for.
    pub glyphs: &'static [&'static str],
}

const fn built_in(
    key: &'static str,
    habitat: Habitat,
    size: f32,
    glyphs: &'static [&'static str],
) -> BuiltInSubject {
    BuiltInSubject {
        key,
        habitat,
        size,
        glyphs,
    }
}

/// All subjects of our own.
pub(crate) const OWN: &[BuiltInSubject] = &[
    built_in("fox", Habitat::Ground, 0.42, &["🦊"]),
    built_in("wolf", Habitat::Ground, 0.5, &["🐺"]),
    built_in("bear", Habitat::Ground, 0.6, &["🐻"]),
    built_in("polar bear", Habitat::Ground, 0.62, &["🐻‍❄️"]),
    built_in("panda", Habitat::Ground, 0.55, &["🐼"]),
    built_in("lion", Habitat::Ground, 0.56, &["🦁"]),
    built_in("deer", Habitat::Ground, 0.6, &["🦌"]),
    built_in("eagle", Habitat::Air, 0.5, &["🦅"]),
    built_in("person", Habitat::Ground, 0.66, &["🧑", "🧍", "🚶", "👤"]),
    built_in("man", Habitat::Ground, 0.66, &["👨", "🚶‍♂️", "🧍‍♂️"]),
    built_in("woman", Habitat::Ground, 0.66, &["👩", "🚶‍♀️", "🧍‍♀️"]),
    built_in("child", Habitat::Ground, 0.48, &["🧒", "👦", "👧"]),
    built_in("wanderer", Habitat::Ground, 0.66, &["🥾"]),
    built_in("knight", Habitat::Ground, 0.66, &[]),
    built_in("wizard", Habitat::Ground, 0.66, &["🧙", "🧙‍♂️"]),
    built_in("witch", Habitat::Ground, 0.66, &["🧙‍♀️"]),
    built_in("monk", Habitat::Ground, 0.66, &[]),
    built_in("astronaut", Habitat::Ground, 0.66, &["🧑‍🚀", "👨‍🚀", "👩‍🚀"]),
    built_in("princess", Habitat::Ground, 0.66, &["👸"]),
    built_in("king", Habitat::Ground, 0.66, &["🤴"]),
    built_in("samurai", Habitat::Ground, 0.66, &[]),
    built_in("tree", Habitat::Ground, 0.85, &["🌳"]),
    built_in("cherry tree", Habitat::Ground, 0.85, &[]),
    built_in("autumn tree", Habitat::Ground, 0.85, &[]),
    built_in("pine tree", Habitat::Ground, 0.85, &["🌲", "🎄"]),
    built_in("palm tree", Habitat::Ground, 0.8, &["🌴"]),
    built_in("portrait of a woman", Habitat::Table, 1.0, &[]),
    built_in("portrait of a man", Habitat::Table, 1.0, &[]),
    built_in("sailboat", Habitat::Water, 0.62, &["⛵"]),
    built_in("galleon", Habitat::Water, 0.8, &[]),
    built_in("steamship", Habitat::Water, 0.7, &["🚢", "🛳️"]),
    built_in("lighthouse", Habitat::Ground, 0.95, &[]),
    built_in("house", Habitat::Ground, 0.78, &["🏠", "🏡"]),
    built_in("windmill", Habitat::Ground, 0.85, &[]),
    built_in("hot air balloon", Habitat::Air, 0.5, &[]),
    built_in("vase of flowers", Habitat::Table, 0.75, &["💐", "🏺"]),
    built_in("bowl of fruit", Habitat::Table, 0.5, &[]),
    built_in("robot", Habitat::Ground, 0.66, &["🤖"]),
    built_in("bridge", Habitat::Ground, 0.75, &["🌉"]),
    built_in("pagoda", Habitat::Ground, 0.9, &["🏯"]),
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
