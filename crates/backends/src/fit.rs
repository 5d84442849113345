//! Which size to ask a vendor for, so that the size the caller asked for can be cut from it.

use atelier_contract::brief::Brief;

/// Width and height in pixels.
pub(crate) type Size = (u32, u32);

/// No result whose size the caller left open has more pixels.
const MOST_PIXELS: f64 = 4096.0 * 4096.0;

/// The size every result is to have: the brief's, or else that of its source. `None` leaves it to the vendor.
pub(crate) fn target(brief: &Brief, source: Option<Size>) -> Option<Size> {
    match (brief.width, brief.height) {
        (0, _) | (_, 0) => source.map(inside),
        given => Some(given),
    }
}

/// A size that a result may have: the given one, or a smaller one of its shape.
pub(crate) fn inside(size: Size) -> Size {
    bounded(size, MOST_PIXELS)
}

/// The offered size that loses least when the wanted one is cut from it: the closest shape, then the closest area.
pub(crate) fn nearest(wanted: Size, offered: &[Size]) -> Size {
    let shape = |(width, height): Size| f64::from(width.max(1)) / f64::from(height.max(1));
    let area = |(width, height): Size| f64::from(width) * f64::from(height);
    let distance = |&size: &Size| {
        let off = (shape(size) / shape(wanted)).ln().abs();
        let larger = (area(size) / area(wanted).max(1.0)).ln();
        // Cutting a larger picture keeps its sharpness, enlarging a smaller one does not.
        let area_off = if larger < 0.0 { -4.0 * larger } else { larger };
        (off * 1000.0).round() + area_off.min(100.0) / 1000.0
    };
    let best = |one: &&Size, other: &&Size| distance(one).total_cmp(&distance(other));
    offered.iter().min_by(best).copied().unwrap_or(wanted)
}

/// The size, or a larger one of its shape that has so many pixels.
pub(crate) fn at_least((width, height): Size, least_pixels: f64) -> Size {
    let pixels = f64::from(width.max(1)) * f64::from(height.max(1));
    let scale = (least_pixels / pixels).sqrt().max(1.0);
    let side = |length: u32| (f64::from(length.max(1)) * scale).ceil() as u32;
    (side(width), side(height))
}

/// The size rounded up to whole steps, and smaller in its own shape where it has too many pixels.
pub(crate) fn stepped(wanted: Size, step: u32, most_pixels: f64) -> Size {
    let step = step.max(1);
    let up = |side: u32| side.max(1).div_ceil(step) * step;
    let whole = (up(wanted.0), up(wanted.1));
    if f64::from(whole.0) * f64::from(whole.1) <= most_pixels {
        return whole;
    }
    let (width, height) = bounded(wanted, most_pixels);
    let down = |side: u32| (side / step).max(1) * step;
    (down(width), down(height))
}

fn bounded((width, height): Size, most_pixels: f64) -> Size {
    let pixels = f64::from(width) * f64::from(height);
    let scale = (most_pixels / pixels.max(1.0)).sqrt().min(1.0);
    let side = |length: u32| ((f64::from(length) * scale) as u32).max(1);
    (side(width), side(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_decides_before_the_area() {
        let offered = [(1024, 1024), (1536, 1024), (1024, 1536)];
        assert_eq!(nearest((512, 512), &offered), (1024, 1024));
        assert_eq!(nearest((1820, 1024), &offered), (1536, 1024));
        assert_eq!(nearest((1024, 1792), &offered), (1024, 1536));
        assert_eq!(nearest((256, 256), &[(256, 256), (512, 512)]), (256, 256));
        assert_eq!(nearest((400, 400), &[(256, 256), (512, 512)]), (512, 512));
        assert_eq!(nearest((7, 9), &[]), (7, 9));
    }

    #[test]
    fn steps_go_up_until_there_are_too_many_pixels() {
        assert_eq!(stepped((1365, 1024), 8, 4e6), (1368, 1024));
        let (width, height) = stepped((4000, 2000), 64, 2e6);
        assert!(width * height <= 2_000_000 && width % 64 == 0 && height % 64 == 0);
        assert!((f64::from(width) / f64::from(height) - 2.0).abs() < 0.15);
        assert_eq!(stepped((1, 1), 64, 4e6), (64, 64));
    }
}
