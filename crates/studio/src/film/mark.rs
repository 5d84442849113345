//! The small visible mark of clips that are not paid to be without one.

use atelier_media::{Picture, over};

/// The word, seven rows of five dots for each letter.
const LETTERS: [[u8; 7]; 7] = [
    [
        0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001,
    ],
    [
        0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100,
    ],
    [
        0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111,
    ],
    [
        0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111,
    ],
    [
        0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b11111,
    ],
    [
        0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111,
    ],
    [
        0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001,
    ],
];
const DOTS_WIDE: u32 = 7 * 6 - 1;

/// Draws the mark into the lower right corner, readable on any ground and small against the picture.
pub fn watermark(picture: &mut Picture) {
    let (width, height) = (picture.width, picture.height);
    let dot = (width.min(height) / 260).max(1);
    let margin = dot * 8;
    let left = width.saturating_sub(DOTS_WIDE * dot + margin);
    let top = height.saturating_sub(7 * dot + margin);
    for (shift, colour) in [(dot.div_ceil(2), [0, 0, 0, 110]), (0, [255, 255, 255, 190])] {
        for row in 0..7 * dot {
            for column in 0..DOTS_WIDE * dot {
                let (letter, bit) = (column / dot / 6, column / dot % 6);
                let lit =
                    bit < 5 && LETTERS[letter as usize][(row / dot) as usize] >> (4 - bit) & 1 == 1;
                let (x, y) = (left + column + shift, top + row + shift);
                if lit && x < width && y < height {
                    let under = picture.pixel(x, y);
                    picture.set(x, y, over(colour, under));
                }
            }
        }
    }
}
