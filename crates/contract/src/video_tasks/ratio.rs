//! Shapes of videos: sizes in pixels and ratios, and which of them are alike.

/// How far apart two ratios may be that mean the same: sizes are multiples of 8 or 16.
const TOLERANCE: f64 = 0.04;

/// Width and height of `1280x720`, `1280*720` or `1280X720`.
pub(super) fn pixels(text: &str) -> Option<(u32, u32)> {
    two(text, &['x', '*', 'X', '×'])
}

/// Both sides of `16:9`.
pub(super) fn sides(text: &str) -> Option<(u32, u32)> {
    two(text, &[':', '/'])
}

fn two(text: &str, between: &[char]) -> Option<(u32, u32)> {
    let (width, height) = text.trim().split_once(between)?;
    let side = |text: &str| text.trim().parse().ok().filter(|side| *side > 0);
    Some((side(width)?, side(height)?))
}

/// Whether two shapes are alike, whatever their sizes.
pub(super) fn alike(one: (u32, u32), other: (u32, u32)) -> bool {
    let ratio = |(width, height): (u32, u32)| f64::from(width) / f64::from(height);
    (ratio(one) / ratio(other) - 1.0).abs() < TOLERANCE
}

/// A size as the ratio that people write.
pub(super) fn written((width, height): (u32, u32)) -> String {
    const USUAL: [(u32, u32); 8] = [
        (16, 9),
        (9, 16),
        (1, 1),
        (4, 3),
        (3, 4),
        (3, 2),
        (2, 3),
        (21, 9),
    ];
    let usual = USUAL.into_iter().find(|one| alike(*one, (width, height)));
    let (width, height) = usual.unwrap_or_else(|| {
        let divisor = greatest_divisor(width, height);
        (width / divisor, height / divisor)
    });
    format!("{width}:{height}")
}

fn greatest_divisor(one: u32, other: u32) -> u32 {
    if other == 0 {
        one.max(1)
    } else {
        greatest_divisor(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ratios_are_read_in_the_spellings_that_clients_send() {
        for text in ["1280x720", "1280*720", " 1280 X 720 "] {
            assert_eq!(pixels(text), Some((1280, 720)), "{text}");
        }
        assert_eq!(sides("16:9"), Some((16, 9)));
        for text in ["", "720p", "0x720", "-1x2", "16", "a:b"] {
            assert_eq!((pixels(text), sides(text)), (None, None), "{text}");
        }
    }

    #[test]
    fn a_size_is_written_as_its_ratio() {
        for (size, ratio) in [
            ((1280, 720), "16:9"),
            ((1792, 1024), "16:9"),
            ((960, 960), "1:1"),
            ((1104, 832), "4:3"),
            ((500, 100), "5:1"),
        ] {
            assert_eq!(written(size), ratio);
        }
    }
}
