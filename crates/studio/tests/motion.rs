//! Motion: starts and ends where it should, moves what it says, closes when it loops, and is marked where it must be.

use atelier_media::Picture;
use atelier_studio::{CameraMove, Morph, loop_time, morph, watermark};

#[path = "../../media/tests/shared/moving_disc.rs"]
mod moving_disc;

use moving_disc::{difference, disc};

#[test]
fn a_morph_starts_and_ends_on_its_pictures_and_moves_what_is_between() {
    let (start, end) = (disc(320, 180, 0.42), disc(320, 180, 0.58));
    let way = Morph::new(&start, &end);
    assert_eq!(way.at(0.0), start);
    assert_eq!(way.at(1.0), end);
    assert_eq!(morph(&start, &end, 0.0), start);
    let middle = way.at(0.5);
    let moved = difference(&middle, &disc(320, 180, 0.5));
    let faded = Picture::drawn(320, 180, |x, y| {
        let (a, b) = (start.pixel(x, y), end.pixel(x, y));
        std::array::from_fn(|c| a[c].midpoint(b[c]))
    });
    let dissolve = difference(&faded, &disc(320, 180, 0.5));
    assert!(
        moved < dissolve * 0.5,
        "off by {moved}, a plain fade by {dissolve}"
    );
}

#[test]
fn a_camera_move_starts_at_its_picture_and_high_motion_moves_more() {
    let picture = disc(320, 180, 0.4);
    for seed in 0..5 {
        let (low, high) = (
            CameraMove::new(&picture, false, seed),
            CameraMove::new(&picture, true, seed),
        );
        assert_eq!(low.at(0.0), picture);
        assert_eq!(high.at(0.0), picture);
        let (little, much) = (
            difference(&picture, &low.at(1.0)),
            difference(&picture, &high.at(1.0)),
        );
        assert!(little > 1.0, "low motion is still: {little}");
        assert!(much > little * 1.3, "{much} against {little}");
    }
}

#[test]
fn a_loop_closes_without_a_jump_and_no_frame_is_frozen() {
    let picture = disc(320, 180, 0.4);
    let camera = CameraMove::new(&picture, true, 3);
    let frames: Vec<_> = (0..48)
        .map(|n| camera.at(loop_time(n as f32 / 48.0)))
        .collect();
    let steps: Vec<f64> = (0..48)
        .map(|n| difference(&frames[n], &frames[(n + 1) % 48]))
        .collect();
    let largest = steps.iter().copied().fold(0.0, f64::max);
    assert!(steps[47] <= largest, "the seam jumps");
    assert!(steps[47] < 2.0, "the seam jumps by {}", steps[47]);
    assert!(largest > 0.3);
}

#[test]
fn the_mark_is_small_visible_and_in_its_corner() {
    for ground in [[0, 0, 0, 255], [255, 255, 255, 255], [120, 130, 90, 255]] {
        let plain = Picture::filled(1280, 720, ground);
        let mut marked = plain.clone();
        watermark(&mut marked);
        let mut changed = 0;
        for y in 0..720 {
            for x in 0..1280 {
                if marked.pixel(x, y) != plain.pixel(x, y) {
                    changed += 1;
                    assert!(x > 1280 * 3 / 4 && y > 720 * 3 / 4, "at {x},{y}");
                }
            }
        }
        assert!((300..20_000).contains(&changed), "{changed} pixels");
    }
}
