//! Films: as long and as large as asked for, without sound, the same for the same seed, and never beyond what a clip may be.

#[path = "../../media/tests/shared/colour_difference.rs"]
mod colour_difference;

use atelier_media::{
    Picture, VideoError, encode_video, first_frame, frame_at, last_frame, video_info,
};
use atelier_studio::{CameraMove, Film, Morph, Motion, Scene, loop_time};
use colour_difference::difference;

const SIZE: (u32, u32) = (64, 48);

fn scene(seed: u64) -> Scene {
    Scene::from_prompt("a sailboat on a lake at noon", "", seed)
}

fn film(seed: u64) -> Film {
    Film::new(&scene(seed), SIZE, Motion::High)
}

/// The frames of a film, evenly from its first moment to its last.
fn frames(mut film: Film, count: u32) -> impl Iterator<Item = Picture> {
    (0..count).map(move |n| film.at(n as f32 / (count - 1) as f32))
}

#[test]
fn a_clip_is_exactly_as_long_as_its_frames_and_has_no_sound() {
    for (count, fps) in [(12, 24), (25, 25), (31, 10)] {
        let clip = encode_video(&mut frames(film(3), count), fps).expect("a clip");
        let info = video_info(&clip).expect("a readable clip");
        assert_eq!(info.frames, count);
        assert!((info.duration - f64::from(count) / f64::from(fps)).abs() < 1e-6);
        assert!((info.fps - f64::from(fps)).abs() < 1e-6);
        assert_eq!((info.width, info.height), SIZE);
        let has = |name: &[u8]| clip.windows(name.len()).any(|part| part == name);
        assert!(has(b"vide") && !has(b"soun"), "one picture track alone");
    }
}

#[test]
fn a_clip_shows_the_film_from_its_first_moment_to_its_last() {
    let clip = encode_video(&mut frames(film(3), 24), 24).expect("a clip");
    let mut drawn = film(3);
    let lost = |seen: &Picture, moment: f32, film: &mut Film| difference(seen, &film.at(moment));
    let (first, last) = (first_frame(&clip), last_frame(&clip));
    let (first, last) = (first.expect("a frame"), last.expect("a frame"));
    let middle = frame_at(&clip, 12.0 / 24.0).expect("a frame");
    assert!(lost(&first, 0.0, &mut drawn) < 6.0);
    assert!(lost(&middle, 12.0 / 23.0, &mut drawn) < 6.0);
    assert!(lost(&last, 1.0, &mut drawn) < 6.0);
    assert!(difference(&first, &last) > 4.0, "and it moves");
}

#[test]
fn a_film_rests_on_its_scene_and_has_no_moment_before_or_after() {
    let mut film = film(5);
    assert!(film.at(0.0) == scene(5).render(SIZE.0, SIZE.1));
    let (first, last) = (film.at(0.0), film.at(1.0));
    assert!(film.at(-3.0) == first);
    assert!(film.at(7.0) == last);
    assert!(first != last);
}

#[test]
fn a_seed_gives_the_same_film_in_whatever_order_it_is_asked() {
    let forth: Vec<Picture> = frames(film(4), 7).collect();
    let mut film = film(4);
    let mut back: Vec<Picture> = (0..7).rev().map(|n| film.at(n as f32 / 6.0)).collect();
    back.reverse();
    assert!(forth == back);
    let other: Vec<Picture> = frames(self::film(9), 7).collect();
    assert!(forth != other, "another seed is another film");
    let clip = |seed| encode_video(&mut frames(self::film(seed), 12), 12).expect("a clip");
    assert_eq!(clip(4), clip(4), "to the byte, on however many threads");
}

#[test]
fn every_frame_has_the_size_asked_for_and_a_clip_loses_an_odd_edge() {
    for size in [(33, 17), (16, 16), (18, 90)] {
        for fine in [false, true] {
            let mut film = Film::new(&scene(2), size, Motion::Low).finely(fine);
            for moment in [0.0, 0.3, 1.0] {
                let frame = film.at(moment);
                assert_eq!((frame.width, frame.height), size, "fine: {fine}");
            }
        }
        let film = Film::new(&scene(2), size, Motion::Low);
        let clip = encode_video(&mut frames(film, 4), 8).expect("a clip");
        let info = video_info(&clip).expect("a readable clip");
        assert_eq!((info.width, info.height), (size.0 & !1, size.1 & !1));
    }
}

#[test]
fn no_clip_is_made_of_nothing_or_of_absurd_frames() {
    let filled = |width, height| Picture::filled(width, height, [9, 9, 9, 255]);
    let none = encode_video(&mut std::iter::empty(), 24);
    assert_eq!(none, Err(VideoError::NoFrames));
    for fps in [0, 241, u32::MAX] {
        let refused = encode_video(&mut std::iter::once(filled(32, 32)), fps);
        assert_eq!(refused, Err(VideoError::Rate(fps)));
    }
    for (width, height) in [(8, 64), (64, 15), (3842, 16), (1, 1)] {
        let refused = encode_video(&mut std::iter::once(filled(width, height)), 24);
        assert_eq!(refused, Err(VideoError::Size { width, height }));
    }
    let mut uneven = [filled(32, 32), filled(32, 34)].into_iter();
    let refused = encode_video(&mut uneven, 24);
    assert_eq!(
        refused,
        Err(VideoError::Size {
            width: 32,
            height: 34
        })
    );
}

#[test]
fn moves_over_a_given_picture_keep_its_size_and_follow_their_seed() {
    let picture = scene(1).render(50, 30);
    let moved = |seed| CameraMove::new(&picture, true, seed).at(0.6);
    assert!(moved(1) == moved(1));
    assert!(moved(1) != moved(2));
    assert_eq!((moved(1).width, moved(1).height), (50, 30));
    let other = scene(8).render(40, 44);
    let between = Morph::new(&picture, &other).at(0.5);
    assert_eq!(
        (between.width, between.height),
        (50, 30),
        "that of the first"
    );
}

#[test]
fn a_loop_ends_where_it_began_and_passes_everything_in_between() {
    assert!(loop_time(0.0).abs() < 1e-6 && loop_time(1.0).abs() < 1e-6);
    assert!((loop_time(0.5) - 1.0).abs() < 1e-6);
    let mut last = 0.0;
    for n in 1..=50 {
        let there = loop_time(n as f32 / 100.0);
        let back = loop_time(1.0 - n as f32 / 100.0);
        assert!(there > last, "it never stands still");
        assert!((there - back).abs() < 1e-4, "the way back is the way there");
        last = there;
    }
}
