//! Pictures with letters, digits or hands of a clock: seen in a mirror they would be wrong.

/// Emoji that show writing.
const WRITTEN: &str = "🏎🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛🕜🕝🕞🕟🕠🕡🕢🕣🕤🕥🕦🕧⏰🕰⌚⏱⏲📅📆🗓🎱💯🔢🔟🎰🏪🏧🚏🛑🏥🏨🏩🏫🏦\
🎫🎟🆘🆎🅰🅱🅾🆑🆒🆓🆔🆕🆖🆗🆙🆚📰🗞🃏🀄🎴💵💶💴💷💰💲🔤🔡🔠🏷📛📟🧾🎼🎵🎶🧭🗺🏁📇🔞📶🅿🚾⚽🧮📝📄📃📑📊📈📉🔣🪧🚸";

/// Whether the picture of a key must not be mirrored.
pub(crate) fn has_writing(key: &str) -> bool {
    let flag =
        |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}' | '0'..='9' | '\u{1f3f3}' | '\u{1f3f4}');
    key.chars()
        .next()
        .is_some_and(|first| flag(first) || WRITTEN.contains(first))
}
