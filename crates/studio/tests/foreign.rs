//! Work on pictures from elsewhere: what a mask leaves out stays, strength means strength, cut-outs are see-through,
//! enlargements are sharp, vectors stay small and descriptions tell the truth.

use atelier_media::{Limits, Mask, Picture, cut_out, decode, seamless, upscale};
use atelier_studio::{Scene, blend, describe, fill, restyle, vectorize};

#[path = "../../media/tests/shared/colour_difference.rs"]
mod colour_difference;

use colour_difference::difference;

fn portrait() -> Picture {
    decode(
        include_bytes!("../../media/tests/data/portrait.jpg"),
        Limits::default(),
    )
    .expect("a photo")
}

/// Slanted stripes with a little noise: something a fill can continue.
fn stripes(width: u32, height: u32) -> Picture {
    Picture::drawn(width, height, |x, y| {
        let noise = (x.wrapping_mul(7919) ^ y.wrapping_mul(104_729)) % 9;
        let light = if (x + y) / 12 % 2 == 0 { 200 } else { 90 };
        [(light + noise) as u8, (light / 2 + noise) as u8, 60, 255]
    })
}

/// A red disc on a calm ground.
fn disc(side: u32) -> Picture {
    Picture::drawn(side, side, |x, y| {
        let (dx, dy) = (x as f32 - side as f32 / 2.0, y as f32 - side as f32 / 2.0);
        if dx.hypot(dy) < side as f32 * 0.28 {
            [205, 40, 45, 255]
        } else {
            [150, (170 + y * 40 / side) as u8, 190, 255]
        }
    })
}

fn noise(side: u32) -> Picture {
    let mut state = 5_u64;
    Picture::drawn(side, side, |_, _| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        [
            (state >> 33) as u8,
            (state >> 41) as u8,
            (state >> 49) as u8,
            255,
        ]
    })
}

#[test]
fn a_fill_leaves_everything_outside_its_mask_to_the_byte() {
    let picture = stripes(160, 120);
    let mask = Mask::rectangle(160, 120, [50, 40, 40, 30]);
    let filled = fill(&picture, &mask, 3);
    for y in 0..120 {
        for x in 0..160 {
            if mask.share(x, y) == 0 {
                assert_eq!(filled.pixel(x, y), picture.pixel(x, y), "at {x},{y}");
            }
        }
    }
    assert_eq!(
        filled,
        fill(&picture, &mask, 3),
        "the same seed gives the same pixels"
    );
}

#[test]
fn a_fill_continues_the_pattern_around_the_gap() {
    let whole = stripes(160, 120);
    let mask = Mask::rectangle(160, 120, [60, 45, 30, 24]);
    let mut broken = whole.clone();
    broken.pasted(&Picture::filled(30, 24, [0, 255, 0, 255]), 60, 45);
    let filled = fill(&broken, &mask, 1);
    let part = |picture: &Picture| picture.cropped(60, 45, 30, 24);
    let mended = difference(&part(&filled), &part(&whole));
    let flat = Picture::filled(30, 24, [145, 72, 60, 255]);
    let plain = difference(&flat, &part(&whole));
    assert!(
        mended < plain * 0.6,
        "off by {mended}, a plain colour by {plain}"
    );
}

#[test]
fn an_outpaint_keeps_the_picture_and_goes_on_from_its_edges() {
    let picture = portrait();
    let canvas = picture.padded([80, 40, 80, 0], [0; 4]);
    let filled = fill(&canvas, &Mask::from_transparent(&canvas), 1);
    assert!(!filled.has_alpha());
    assert_eq!(
        filled.cropped(80, 40, picture.width, picture.height),
        picture
    );
    let edge = filled.cropped(79, 40, 1, picture.height);
    let inner = filled.cropped(80, 40, 1, picture.height);
    assert!(difference(&edge, &inner) < 6.0, "there is a seam");
}

#[test]
fn extreme_masks_do_no_harm() {
    let picture = stripes(64, 48);
    assert_eq!(fill(&picture, &Mask::empty(64, 48), 1), picture);
    let all = fill(&picture, &Mask::full(64, 48), 1);
    assert_eq!((all.width, all.height), (64, 48));
    let nearly = fill(&picture, &Mask::rectangle(64, 48, [1, 0, 63, 48]), 1);
    assert_eq!(nearly.pixel(0, 20), picture.pixel(0, 20));
    let tiny = fill(&stripes(5, 5), &Mask::rectangle(5, 5, [2, 2, 1, 1]), 1);
    assert_eq!(tiny.width, 5);
}

#[test]
fn masks_are_read_from_white_and_from_transparent_and_grow() {
    let mut drawing = Picture::filled(20, 10, [0, 0, 0, 255]);
    drawing.pasted(&Picture::filled(4, 4, [255, 255, 255, 255]), 8, 3);
    let white = Mask::from_white(&drawing);
    assert_eq!(white.bounds(), Some([8, 3, 4, 4]));
    assert_eq!(white.dilated(2).bounds(), Some([6, 1, 8, 8]));
    assert_eq!(white.inverted().share(9, 4), 0);
    let mut clear = Picture::filled(20, 10, [9, 9, 9, 255]);
    clear.pasted(&Picture::filled(4, 4, [9, 9, 9, 0]), 8, 3);
    assert_eq!(Mask::from_transparent(&clear), white);
    let soft = white.feathered(2);
    assert!(soft.share(7, 4) > 0 && soft.share(7, 4) < 255);
    assert_eq!(white.resized(40, 20).share(19, 9), 255);
}

#[test]
fn a_patch_is_set_in_without_a_seam() {
    let target = Picture::filled(80, 80, [60, 90, 140, 255]);
    let patch = Picture::drawn(80, 80, |x, _| {
        [if x % 8 < 4 { 220 } else { 180 }, 120, 100, 255]
    });
    let mask = Mask::rectangle(80, 80, [20, 20, 40, 40]);
    let joined = seamless(&target, &patch, &mask);
    for (x, y) in [(0, 0), (19, 30), (60, 30), (79, 79)] {
        assert_eq!(joined.pixel(x, y), target.pixel(x, y));
    }
    let inside = joined.cropped(24, 24, 32, 32).mean_colour();
    assert!(
        inside[0].abs_diff(60) < 20,
        "{inside:?} keeps the light of the patch"
    );
    let stripe = joined.pixel(33, 40)[0].abs_diff(joined.pixel(37, 40)[0]);
    assert!(stripe > 25, "the patch lost its detail: {stripe}");
}

#[test]
fn strength_goes_from_nearly_the_same_to_very_different() {
    let (picture, toward) = (portrait(), stripes(300, 300));
    assert!(difference(&picture, &restyle(&picture, &toward, 0.0)) < 1.0);
    assert!(difference(&toward, &restyle(&picture, &toward, 1.0)) < 1.0);
    let steps: Vec<f64> = [0.1, 0.3, 0.5, 0.7, 0.9]
        .iter()
        .map(|&strength| difference(&picture, &restyle(&picture, &toward, strength)))
        .collect();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
}

#[test]
fn a_blend_has_the_size_asked_for_and_something_of_each() {
    let red = Picture::filled(100, 100, [230, 20, 20, 255]);
    let (photo, pattern) = (portrait(), stripes(200, 120));
    for count in 2..=3 {
        let parts = &[photo.clone(), pattern.clone(), red.clone()][..count];
        let mixed = blend(parts, 256, 192, 9);
        assert_eq!((mixed.width, mixed.height), (256, 192));
        assert_eq!(mixed, blend(parts, 256, 192, 9));
        assert_ne!(mixed, blend(parts, 256, 192, 200));
        for part in parts {
            let alone = part.covering(256, 192);
            assert!(difference(&mixed, &alone) > 3.0, "it is only one of them");
        }
    }
    let with = blend(&[photo.clone(), red], 128, 128, 9).mean_colour();
    let without = photo.covering(128, 128).mean_colour();
    assert!(
        i32::from(with[0]) - i32::from(with[2])
            > i32::from(without[0]) - i32::from(without[2]) + 20
    );
}

#[test]
fn a_cut_out_keeps_the_subject_and_clears_the_ground() {
    let picture = disc(240);
    let cut = cut_out(&picture);
    assert_eq!(cut.pixel(120, 120)[3], 255);
    assert_eq!(cut.pixel(90, 120), picture.pixel(90, 120));
    for (x, y) in [(5, 5), (235, 5), (5, 235), (120, 12)] {
        assert_eq!(cut.pixel(x, y)[3], 0, "at {x},{y}");
    }
    let wanted = std::f32::consts::PI * (240.0_f32 * 0.28).powi(2) / (240.0 * 240.0);
    let kept = cut
        .pixels()
        .iter()
        .map(|pixel| f32::from(pixel[3]) / 255.0)
        .sum::<f32>()
        / (240.0 * 240.0);
    assert!((kept / wanted - 1.0).abs() < 0.08, "{kept} of {wanted}");
    assert!(
        cut.pixels()
            .iter()
            .any(|pixel| (1..255).contains(&pixel[3])),
        "its edge is not soft"
    );
}

#[test]
fn the_edge_of_a_cut_out_does_not_carry_the_old_ground() {
    let cut = cut_out(&disc(240));
    for pixel in cut.pixels().iter().filter(|pixel| pixel[3] > 60) {
        assert!(pixel[0] > 140 && pixel[1] < 130, "{pixel:?} shines blue");
    }
}

#[test]
fn a_portrait_is_cut_out_with_its_head() {
    let cut = cut_out(&portrait());
    assert_eq!(cut.pixel(145, 110)[3], 255, "the face is gone");
    for (x, y) in [(4, 4), (290, 6)] {
        assert_eq!(cut.pixel(x, y)[3], 0, "the ground is left at {x},{y}");
    }
}

#[test]
fn an_enlargement_is_sharper_than_plain_resampling() {
    let small = portrait().cropped(80, 40, 120, 120).resized(60, 60);
    let sharp = upscale(&small, 4, Limits::default());
    assert_eq!((sharp.width, sharp.height), (240, 240));
    let plain = small.resized(240, 240);
    assert!(difference(&sharp, &plain) < 12.0, "it shows something else");
    let steepest = |picture: &Picture| {
        let mut steps: Vec<u32> = (0..240 * 239)
            .map(|at| {
                let (a, b) = (picture.pixels()[at], picture.pixels()[at + 240]);
                (0..3).map(|c| u32::from(a[c].abs_diff(b[c]))).sum()
            })
            .collect();
        steps.sort_unstable_by(|a, b| b.cmp(a));
        steps[..600].iter().sum::<u32>()
    };
    let (with, without) = (steepest(&sharp), steepest(&plain));
    assert!(
        f64::from(with) > f64::from(without) * 1.15,
        "{with} against {without}"
    );
}

#[test]
fn an_enlargement_stays_inside_its_limits_and_keeps_transparency() {
    let mut picture = disc(40);
    picture.set(0, 0, [0, 0, 0, 0]);
    let limits = Limits {
        max_pixels: 6_400,
        max_side: 1_000,
    };
    let large = upscale(&picture, 4, limits);
    assert_eq!((large.width, large.height), (80, 80));
    assert!(large.has_alpha());
}

#[test]
fn vectors_have_real_paths_and_stay_small_on_noise() {
    let simple = vectorize(&disc(200));
    assert!(simple.starts_with("<svg ") && simple.trim_end().ends_with("</svg>"));
    assert!(simple.contains("width=\"200\" height=\"200\""));
    assert!(
        simple.contains("<path d=\"M") && simple.contains('C'),
        "no curves"
    );
    assert!(simple.len() < 30_000, "{} bytes for a disc", simple.len());
    let noisy = vectorize(&noise(600));
    assert!(noisy.len() <= 1 << 20, "{} bytes for noise", noisy.len());
    let red = simple.match_indices("fill=\"#").any(|(at, _)| {
        let channel = |from: usize| u8::from_str_radix(&simple[at + from..at + from + 2], 16);
        channel(7).is_ok_and(|r| r > 180) && channel(9).is_ok_and(|g| g < 80)
    });
    assert!(red, "the red disc is not red");
}

#[test]
fn transparent_parts_are_not_traced() {
    let mut picture = Picture::filled(100, 100, [0, 0, 0, 0]);
    picture.pasted(&Picture::filled(30, 30, [20, 160, 60, 255]), 35, 35);
    let svg = vectorize(&picture);
    assert_eq!(svg.matches("<path").count(), 1, "{svg}");
}

#[test]
fn descriptions_are_four_and_true() {
    let night = describe(&Picture::filled(160, 90, [8, 10, 24, 255]));
    for (index, one) in night.iter().enumerate() {
        assert!(
            night[index + 1..].iter().all(|other| other != one),
            "{night:?}"
        );
        assert!(one.contains("--ar 16:9"), "{one}");
    }
    assert!(night.iter().any(|text| text.contains("dark")), "{night:?}");
    assert!(night[1].contains("black"), "{night:?}");
    let person = describe(&portrait());
    assert!(person[0].contains("one person"), "{person:?}");
    let field = describe(&Picture::drawn(300, 200, |x, y| {
        let grain = ((x * 31 + y * 17) % 13) as u8;
        if y < 90 {
            [150, 190, 235, 255]
        } else {
            [50 + grain, 130 + grain, 40, 255]
        }
    }));
    assert!(field[0].contains("green landscape"), "{field:?}");
    assert!(
        field
            .iter()
            .any(|text| text.contains("blue") && text.contains("green")),
        "{field:?}"
    );
    let warm = describe(&disc(200));
    assert!(
        warm.iter().all(|text| !text.contains("horizon across")),
        "{warm:?}"
    );
}

/// A vase of the ground's own blue is told from it by its outline alone.
#[test]
fn a_subject_of_the_colour_of_its_ground_is_kept_whole() {
    for seed in 1..=4 {
        let scene = Scene::from_prompt("a vase of flowers in the studio", "", seed);
        let cut = cut_out(&scene.render(400, 400));
        let kept = |[left, top, width, height]: [u32; 4]| {
            let part = cut.cropped(i64::from(left), i64::from(top), width, height);
            let solid = part.pixels().iter().filter(|pixel| pixel[3] > 200).count();
            solid as f64 / part.pixels().len() as f64
        };
        let solid: Vec<(u32, u32)> = (0..400 * 400)
            .map(|at| (at % 400, at / 400))
            .filter(|(x, y)| cut.pixel(*x, *y)[3] > 200)
            .collect();
        let low = solid.iter().map(|(_, y)| *y).max().expect("a subject");
        let middle = solid.iter().map(|(x, _)| u64::from(*x)).sum::<u64>() / solid.len() as u64;
        assert!(
            low > 310,
            "seed {seed}: the vase is lost, only {low} rows are left"
        );
        let vase = kept([middle as u32 - 20, low - 70, 40, 50]);
        assert!(vase > 0.9, "seed {seed}: {vase} of the vase is left");
        let corners = kept([0, 0, 60, 400]) + kept([340, 0, 60, 400]);
        assert!(
            corners < 0.02,
            "seed {seed}: {corners} of the ground is left"
        );
    }
}
