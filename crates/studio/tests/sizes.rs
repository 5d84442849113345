//! Sizes: every picture has the size asked for, however small or long, and work on given pictures bears the smallest.

use atelier_media::{Mask, Picture};
use atelier_studio::{
    Anime, Motion, Scene, StyleName, blend, describe, fill, grained, restyle, vectorize, watermark,
};

/// Sizes at which a painter easily divides by nothing or leaves its canvas.
const EDGES: [(u32, u32); 8] = [
    (1, 1),
    (1, 40),
    (40, 1),
    (2, 3),
    (7, 5),
    (16, 200),
    (200, 16),
    (33, 31),
];

fn size(picture: &Picture) -> (u32, u32) {
    assert_eq!(
        picture.rgba.len(),
        picture.width as usize * picture.height as usize * 4
    );
    (picture.width, picture.height)
}

fn sample(width: u32, height: u32) -> Picture {
    Picture::drawn(width, height, |x, y| {
        [(x * 37) as u8, (y * 53) as u8, (x * y) as u8, 255]
    })
}

#[test]
fn a_scene_has_the_size_asked_for() {
    let scene = Scene::from_prompt("a fox by a lake at sunset in the rain", "", 3);
    for (width, height) in EDGES {
        assert_eq!(size(&scene.render(width, height)), (width, height));
        let later = scene.render_at(width, height, 0.7, Motion::High);
        assert_eq!(size(&later), (width, height));
    }
}

#[test]
fn every_style_bears_a_single_pixel_and_a_long_strip() {
    let scene = Scene::from_prompt("a fox in the mountains", "", 3);
    for style in StyleName::ALL {
        let styled = scene.with_style(*style);
        for (width, height) in [(1, 1), (3, 60), (60, 3)] {
            assert_eq!(
                size(&styled.render(width, height)),
                (width, height),
                "{style:?}"
            );
        }
    }
}

#[test]
fn a_side_of_nothing_is_drawn_as_one_pixel() {
    let scene = Scene::from_prompt("a fox", "", 3);
    assert_eq!(size(&scene.render(0, 0)), (1, 1));
    assert_eq!(size(&scene.render(0, 20)), (1, 20));
    let anime = Anime::from_prompt("a girl with blue hair", "", 3);
    assert_eq!(size(&anime.render(0, 12)), (1, 12));
}

#[test]
fn tiles_and_characters_have_the_size_asked_for() {
    let mut tile = Scene::from_prompt("a fox", "", 3);
    tile.tiled = true;
    let anime = Anime::from_prompt("a girl with blue hair in a garden", "", 3);
    for (width, height) in [(1, 1), (2, 3), (40, 9), (9, 40)] {
        assert_eq!(size(&tile.render(width, height)), (width, height));
        assert_eq!(size(&anime.render(width, height)), (width, height));
    }
}

#[test]
fn a_window_never_leaves_the_world_it_can_draw() {
    let mut scene = Scene::from_prompt("a fox in the mountains", "", 3);
    let first = scene.window.width;
    for factor in [f32::INFINITY, 1e9] {
        let far = scene.zoomed_out(factor).window.width;
        assert!(far <= first * 16.0, "{far}");
    }
    for factor in [0.0, -4.0, 0.5] {
        let near = scene.zoomed_out(factor).window.width;
        assert!((near - first).abs() < 1e-6, "it never shows less: {near}");
    }
    let panned = scene.panned(1e9, -1e9).window;
    assert!(panned.width <= first * 9.001 && panned.height <= first * 9.001);
    for _ in 0..6 {
        scene = scene.zoomed_out(2.0).panned(1.0, 0.0);
    }
    assert_eq!(size(&scene.render(24, 12)), (24, 12), "and is still drawn");
}

#[test]
fn a_window_gives_sizes_of_its_own_shape() {
    let scene = Scene::from_prompt("a fox --ar 2:1", "", 3);
    assert_eq!(scene.window.pixels(100), (100, 50));
    assert_eq!(scene.window.pixels(1), (1, 1), "never nothing");
    assert_eq!(scene.window.pixels(0), (1, 1));
    assert_eq!(scene.squared((2, 1)).window.pixels(64), (64, 64));
    assert_eq!(scene.with_aspect((3, 4)).window.pixels(400), (300, 400));
}

#[test]
fn work_on_a_given_picture_bears_the_smallest_and_keeps_its_size() {
    for (width, height) in EDGES {
        let picture = sample(width, height);
        let other = sample(height, width);
        assert_eq!(size(&restyle(&picture, &other, 0.5)), (width, height));
        assert_eq!(size(&grained(&picture, 0.5, 1)), (width, height));
        let mask = Mask::rectangle(width, height, [0, 0, width.div_ceil(2), height]);
        assert_eq!(size(&fill(&picture, &mask, 1)), (width, height));
        let two = [picture.clone(), other];
        assert_eq!(size(&blend(&two, width, height, 1)), (width, height));
        let mut marked = picture.clone();
        watermark(&mut marked);
        assert_eq!(size(&marked), (width, height));
        assert!(describe(&picture).iter().all(|prompt| !prompt.is_empty()));
        let drawing = vectorize(&picture);
        assert!(drawing.starts_with("<svg") && drawing.trim_end().ends_with("</svg>"));
        let shown = format!("width=\"{width}\" height=\"{height}\"");
        assert!(drawing.contains(&shown), "{drawing}");
    }
}

#[test]
fn too_few_pictures_to_blend_are_no_error() {
    assert_eq!(size(&blend(&[], 12, 8, 1)), (12, 8));
    let one = sample(20, 20);
    assert_eq!(size(&blend(&[one], 12, 8, 1)), (12, 8));
}

#[test]
fn grain_of_nothing_changes_nothing_and_follows_its_seed() {
    let picture = sample(24, 24);
    assert!(grained(&picture, 0.0, 7) == picture);
    assert!(grained(&picture, 0.4, 7) == grained(&picture, 0.4, 7));
    assert!(grained(&picture, 0.4, 7) != grained(&picture, 0.4, 8));
}
