//! Faces in a photo: found where they are, swapped where they are and nowhere else, and missed with a clear word.

use atelier_media::{FaceError, Limits, Picture, decode, faces, swap_face};

fn portrait() -> Picture {
    decode(include_bytes!("data/portrait.jpg"), Limits::default()).expect("a photo")
}

/// The same person in other light and looking the other way: a face that differs in every pixel.
fn someone_else() -> Picture {
    let photo = portrait();
    let (width, height) = (photo.width, photo.height);
    Picture::drawn(width, height, |x, y| {
        let [r, g, b, _] = photo.pixel(width - 1 - x, y);
        [b / 2 + 60, g / 2 + 20, r / 2 + 10, 255]
    })
}

#[test]
fn a_face_is_found_where_it_is() {
    let found = faces(&portrait());
    assert_eq!(found.len(), 1, "{found:?}");
    let middle = (
        found[0].x + found[0].size / 2.0,
        found[0].y + found[0].size / 2.0,
    );
    assert!(
        (120.0..180.0).contains(&middle.0) && (85.0..145.0).contains(&middle.1),
        "{middle:?}"
    );
    assert!(faces(&Picture::filled(300, 300, [90, 120, 150, 255])).is_empty());
    assert!(faces(&Picture::filled(3, 3, [90, 120, 150, 255])).is_empty());
}

#[test]
fn a_swap_changes_the_face_and_leaves_the_rest_to_the_byte() {
    let target = portrait();
    let swapped = swap_face(&target, &someone_else()).expect("both show a face");
    assert_eq!(
        (swapped.width, swapped.height),
        (target.width, target.height)
    );
    let face = faces(&target)[0];
    let (middle_x, middle_y) = (face.x + face.size / 2.0, face.y + face.size / 2.0);
    let (mut changed, mut inside) = (0.0, 0.0);
    for y in 0..target.height {
        for x in 0..target.width {
            let (dx, dy) = (x as f32 - middle_x, y as f32 - middle_y);
            let (old, new) = (target.pixel(x, y), swapped.pixel(x, y));
            if dx.abs() > face.size * 0.95 || dy.abs() > face.size * 1.1 {
                assert_eq!(old, new, "changed at {x},{y}, away from the face");
            }
            if dx.hypot(dy) < face.size * 0.35 {
                inside += 1.0;
                changed += if old == new { 0.0 } else { 1.0 };
            }
        }
    }
    let share = changed / inside;
    assert!(share > 0.8, "only {share} of the face changed");
}

#[test]
fn the_swapped_face_is_still_a_face_in_the_light_of_its_new_place() {
    let target = portrait();
    let source = someone_else();
    let swapped = swap_face(&target, &source).expect("both show a face");
    assert_eq!(faces(&swapped).len(), 1);
    let face = faces(&target)[0];
    let part = |picture: &Picture| {
        let side = (face.size * 0.7) as u32;
        let inset = face.size * 0.15;
        picture
            .cropped((face.x + inset) as i64, (face.y + inset) as i64, side, side)
            .mean_colour()
    };
    let (old, new) = (part(&target), part(&swapped));
    for channel in 0..3 {
        assert!(
            old[channel].abs_diff(new[channel]) < 25,
            "{new:?} does not fit in {old:?}"
        );
    }
}

#[test]
fn the_size_of_the_source_does_not_matter() {
    let target = portrait();
    for side in [200, 900] {
        let source = someone_else().resized(side, side);
        let swapped = swap_face(&target, &source).expect("both show a face");
        assert_ne!(swapped, target);
    }
}

#[test]
fn a_swap_without_a_face_says_where_it_is_missing() {
    let plain = Picture::drawn(200, 200, |x, y| [x as u8, y as u8, 100, 255]);
    assert_eq!(
        swap_face(&plain, &portrait()),
        Err(FaceError::NoFaceInTarget)
    );
    assert_eq!(
        swap_face(&portrait(), &plain),
        Err(FaceError::NoFaceInSource)
    );
    assert!(FaceError::NoFaceInTarget.to_string().contains("target"));
    assert!(FaceError::NoFaceInSource.to_string().contains("source"));
}

#[test]
fn the_same_swap_gives_the_same_pixels() {
    let (target, source) = (portrait(), someone_else());
    assert_eq!(swap_face(&target, &source), swap_face(&target, &source));
}
