//! Half blocks: one character shows two pixels, the upper as its ink and the lower as its ground.

use std::fmt::Write as _;

use atelier_media::Picture;

/// A line of text for every two rows of a picture without transparency.
pub(super) fn drawn(picture: &Picture) -> String {
    let mut text = String::new();
    for y in (0..picture.height).step_by(2) {
        let mut last = None;
        for x in 0..picture.width {
            let upper = picture.pixel(x, y);
            let below = y + 1 < picture.height;
            let lower = below.then(|| picture.pixel(x, y + 1));
            if last != Some((upper, lower)) {
                let [r, g, b, _] = upper;
                let _ = write!(text, "\x1b[38;2;{r};{g};{b}");
                match lower {
                    Some([r, g, b, _]) => drop(write!(text, ";48;2;{r};{g};{b}m")),
                    None => text.push_str(";49m"),
                }
                last = Some((upper, lower));
            }
            text.push('▀');
        }
        text.push_str("\x1b[0m\n");
    }
    text
}
