//! Emoji that name a place, a time or weather instead of a thing.

/// Emoji that say where or when rather than what.
pub(crate) fn of_glyph(glyph: &str) -> Option<&'static str> {
    let bare = glyph.trim_end_matches('\u{fe0f}');
    Some(match bare {
        "🏔" | "⛰" | "🗻" => "setting:mountains",
        "🌋" => "setting:volcano",
        "🏜" => "setting:desert",
        "🏖" | "🏝" => "setting:beach",
        "🌊" => "setting:sea",
        "🏞" => "setting:river",
        "🏙" | "🌆" | "🌉" => "setting:city",
        "🌅" | "🌄" => "time:dawn",
        "🌇" => "time:sunset",
        "🌃" | "🌌" => "time:night",
        "☀" | "🌞" => "time:day",
        "🌙" | "🌕" | "🌝" | "🌛" | "🌜" => "word:moon",
        "🌧" | "☔" => "weather:rain",
        "⛈" | "🌩" | "⚡" => "weather:storm",
        "🌨" | "❄" => "weather:snowfall",
        "🌫" => "weather:fog",
        "🌈" => "weather:rainbow",
        "🌠" | "☄" => "weather:meteors",
        "☁" | "⛅" | "🌥" => "weather:cloudy",
        "🌬" | "🍃" => "weather:wind",
        "🌸" | "💮" => "scenery:flower",
        _ => return None,
    })
}
