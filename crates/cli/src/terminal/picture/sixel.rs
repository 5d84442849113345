//! Sixel: columns of six pixels, one colour after the other, out of a fixed set of 6 × 6 × 6 colours with the rest of each
//! pixel spread over its neighbours.

use std::fmt::Write as _;

use atelier_media::Picture;

/// Steps of each of red, green and blue.
const STEPS: i32 = 6;
/// Rows that one character shows.
const BAND: usize = 6;

pub(super) fn drawn(picture: &Picture) -> String {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let indexed = dithered(picture);
    let mut text = format!("\x1bPq\"1;1;{width};{height}");
    for index in 0..(STEPS * STEPS * STEPS) {
        let [r, g, b] = levels(index).map(|level| level * 100 / (STEPS - 1));
        let _ = write!(text, "#{index};2;{r};{g};{b}");
    }
    for top in (0..height).step_by(BAND) {
        let rows = BAND.min(height - top);
        let mut used: Vec<u8> = indexed[top * width..(top + rows) * width].to_vec();
        used.sort_unstable();
        used.dedup();
        for colour in used {
            let _ = write!(text, "#{colour}");
            let (mut last, mut times) = (0_u8, 0_usize);
            for x in 0..width {
                let bits = (0..rows).fold(0_u8, |bits, row| {
                    bits | u8::from(indexed[(top + row) * width + x] == colour) << row
                });
                if bits == last {
                    times += 1;
                } else {
                    repeat(&mut text, last, times);
                    (last, times) = (bits, 1);
                }
            }
            repeat(&mut text, last, times);
            text.push('$');
        }
        text.push('-');
    }
    text.push_str("\x1b\\\n");
    text
}

/// Writes the same six pixels so many times.
fn repeat(text: &mut String, bits: u8, times: usize) {
    let shown = char::from(bits + b'?');
    match times {
        0 => {}
        1..=3 => text.extend(std::iter::repeat_n(shown, times)),
        _ => drop(write!(text, "!{times}{shown}")),
    }
}

/// The levels of red, green and blue behind a number.
fn levels(index: i32) -> [i32; 3] {
    [index / STEPS / STEPS, index / STEPS % STEPS, index % STEPS]
}

/// Every pixel as the number of a colour, after Floyd and Steinberg.
fn dithered(picture: &Picture) -> Vec<u8> {
    let width = picture.width as usize;
    let mut out = Vec::with_capacity(picture.pixels().len());
    let mut here = vec![[0_i32; 3]; width + 2];
    let mut below = here.clone();
    for row in picture.pixels().chunks(width.max(1)) {
        for (x, pixel) in row.iter().enumerate() {
            let mut index = 0;
            for channel in 0..3 {
                let wanted = i32::from(pixel[channel]) + here[x + 1][channel] / 16;
                let level = ((wanted.clamp(0, 255) * (STEPS - 1) + 127) / 255).clamp(0, STEPS - 1);
                index = index * STEPS + level;
                let rest = wanted.clamp(0, 255) - level * 255 / (STEPS - 1);
                here[x + 2][channel] += rest * 7;
                below[x][channel] += rest * 3;
                below[x + 1][channel] += rest * 5;
                below[x + 2][channel] += rest;
            }
            out.push(index as u8);
        }
        std::mem::swap(&mut here, &mut below);
        below.fill([0; 3]);
    }
    out
}
