//! How large pictures are. A grid shows four members, two by two; an upsample is a member at twice its side, which is
//! as large as the whole grid.

/// Pixels of one member of a grid, give or take the rounding: 512 by 512 when square.
const MEMBER_PIXELS: f64 = 512.0 * 512.0;
/// Sides are multiples of this, so that every codec and every halving likes them.
const STEP: f64 = 16.0;
/// No picture is longer than this many times its other side, however often it is panned.
const MOST_RATIO: f64 = 14.0;

/// Width and height of one member of a grid with a ratio.
pub(super) fn member(width: u32, height: u32) -> (u32, u32) {
    let ratio =
        (f64::from(width.max(1)) / f64::from(height.max(1))).clamp(1.0 / MOST_RATIO, MOST_RATIO);
    let side = |pixels: f64| ((pixels.sqrt() / STEP).round().max(1.0) * STEP) as u32;
    (side(MEMBER_PIXELS * ratio), side(MEMBER_PIXELS / ratio))
}

/// A member with a side made half as long again, as a pan does.
pub(super) fn widened(width: u32, height: u32, sideways: bool) -> (u32, u32) {
    if sideways {
        member(width.saturating_mul(3), height.saturating_mul(2))
    } else {
        member(width.saturating_mul(2), height.saturating_mul(3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_keeps_its_ratio_and_about_a_quarter_of_a_megapixel() {
        for (wide, high) in [(1, 1), (16, 9), (9, 16), (2, 3), (21, 9), (14, 1), (1, 14)] {
            let (width, height) = member(wide, high);
            let wanted = f64::from(wide) / f64::from(high);
            let ratio = f64::from(width) / f64::from(height);
            assert!(
                (ratio / wanted - 1.0).abs() < 0.07,
                "{wide}:{high} became {width}x{height}"
            );
            assert!(
                (200_000..320_000).contains(&(width * height)),
                "{width}x{height}"
            );
        }
    }

    #[test]
    fn a_picture_of_the_same_shape_has_the_same_member() {
        let (width, height) = member(16, 9);
        assert_eq!(member(width * 2, height * 2), (width, height));
    }

    #[test]
    fn a_pan_makes_one_side_half_as_long_again() {
        assert_eq!(widened(512, 512, true), member(3, 2));
        assert_eq!(widened(512, 512, false), member(2, 3));
    }
}
