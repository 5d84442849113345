//! Pictures in a terminal, by the best way it has: the protocols of kitty and iTerm, sixel, or half blocks in colour.

mod blocks;
mod iterm;
mod kitty;
mod query;
mod sixel;

use atelier_media::{Limits, Picture, decode, first_frame};
use clap::ValueEnum;

use super::screen;

/// A way to show images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImageProtocol {
    /// The best one that the terminal supports.
    Auto,
    /// The graphics protocol of kitty.
    Kitty,
    /// The inline images of iTerm.
    Iterm,
    /// Sixel graphics.
    Sixel,
    /// Half blocks in 24-bit colour.
    Blocks,
    /// No images.
    None,
}

/// The widest a picture is drawn, in columns.
const MOST_COLUMNS: usize = 80;
/// A cell is about so many pixels wide; half as wide as high.
const CELL: u32 = 10;

impl ImageProtocol {
    /// The way that will really be used.
    pub(crate) fn resolve(self) -> Self {
        match self {
            Self::Auto if !screen::is_seen() => Self::None,
            Self::Auto => guessed(),
            other => other,
        }
    }

    /// The bytes that draw a picture or the first frame of a clip; nothing when it cannot be read or shown.
    pub(crate) fn drawn(self, bytes: &[u8], columns: usize) -> Option<String> {
        let protocol = self.resolve();
        if protocol == Self::None {
            return None;
        }
        let picture = decode(bytes, Limits::default()).ok();
        let picture = picture.or_else(|| first_frame(bytes).ok())?;
        let columns = columns.clamp(1, MOST_COLUMNS) as u32;
        Some(match protocol {
            Self::Kitty => kitty::drawn(&within(&picture, columns * CELL)),
            Self::Iterm => iterm::drawn(&within(&picture, columns * CELL)),
            Self::Sixel => sixel::drawn(&within(&picture, columns * CELL).on([0, 0, 0])),
            Self::Blocks | Self::Auto | Self::None => {
                blocks::drawn(&within(&picture, columns).on([0, 0, 0]))
            }
        })
    }
}

/// A picture that is at most so wide.
fn within(picture: &Picture, width: u32) -> Picture {
    if picture.width <= width {
        return picture.clone();
    }
    let height = (u64::from(picture.height) * u64::from(width)).div_ceil(u64::from(picture.width));
    picture.resized(width, (height as u32).max(1))
}

/// What the environment or the terminal itself says.
fn guessed() -> ImageProtocol {
    let is = |name: &str, wanted: &str| {
        std::env::var_os(name).is_some_and(|value| value.to_string_lossy().contains(wanted))
    };
    let set = |name: &str| std::env::var_os(name).is_some();
    // One that understands nothing is not asked either: it would show the question.
    if is("TERM", "dumb") {
        return ImageProtocol::None;
    }
    if set("KITTY_WINDOW_ID") || is("TERM", "kitty") || is("TERM", "ghostty") {
        return ImageProtocol::Kitty;
    }
    if is("TERM_PROGRAM", "iTerm") || is("TERM_PROGRAM", "WezTerm") || is("LC_TERMINAL", "iTerm2") {
        return ImageProtocol::Iterm;
    }
    if query::has_sixel() {
        return ImageProtocol::Sixel;
    }
    ImageProtocol::Blocks
}

#[cfg(test)]
mod tests {
    use atelier_media::{Encoding, encode};

    use super::*;

    fn picture() -> Vec<u8> {
        let picture = Picture::drawn(40, 20, |x, _| {
            if x < 20 {
                [255, 0, 0, 255]
            } else {
                [0, 0, 255, 255]
            }
        });
        encode(&picture, Encoding::Png, None)
    }

    #[test]
    fn half_blocks_have_a_line_for_two_rows_and_end_without_colour() {
        let drawn = ImageProtocol::Blocks.drawn(&picture(), 40).expect("drawn");
        assert_eq!(drawn.lines().count(), 10);
        for line in drawn.lines() {
            assert_eq!(line.matches('▀').count(), 40);
            assert!(line.ends_with("\x1b[0m"));
        }
        assert!(drawn.contains("38;2;255;0;0") && drawn.contains("48;2;0;0;255"));
    }

    #[test]
    fn every_way_frames_its_picture() {
        let drawn = |protocol: ImageProtocol| protocol.drawn(&picture(), 4).expect("drawn");
        let kitty = drawn(ImageProtocol::Kitty);
        assert!(kitty.starts_with("\x1b_Ga=T,f=100") && kitty.ends_with("\x1b\\\n"));
        assert!(drawn(ImageProtocol::Iterm).starts_with("\x1b]1337;File=inline=1"));
        let sixel = drawn(ImageProtocol::Sixel);
        assert!(sixel.starts_with("\x1bP") && sixel.ends_with("\x1b\\\n"));
        assert!(ImageProtocol::None.drawn(&picture(), 4).is_none());
        assert!(ImageProtocol::Blocks.drawn(b"no picture", 4).is_none());
    }
}
