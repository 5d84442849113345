//! Chapters that are not made from words alone: follow-ups, flags, given pictures, motion.

use atelier_media::{
    Encoding, Limits, Mask, Picture, cut_out, decode, encode, faces, seamless, swap_face, upscale,
};
use atelier_studio::{
    Film, Motion, Scene, Time, Window, blend, fill, restyle, vectorize, watermark,
};

/// Side of the pictures.
const SIDE: u32 = 512;

fn scene(words: &str, seed: u64) -> Scene {
    Scene::from_prompt(words, "", seed)
}

fn drawn(words: &str, seed: u64) -> Picture {
    scene(words, seed).render(SIDE, SIDE)
}

/// A scene and everything that can be asked of it afterwards.
pub(crate) fn follow_ups() -> Vec<Picture> {
    let lake = scene("a sailboat on a lake below mountains at sunset", 11);
    let mask = Mask::rectangle(SIDE, SIDE, [40, 120, 250, 300]);
    let other = scene("a house in a meadow, watercolor", 6);
    let mut all: Vec<Picture> = (1..=4)
        .map(|seed| lake.with_seed(seed).render(SIDE, SIDE))
        .collect();
    all.extend([
        lake.render(SIDE, SIDE),
        lake.zoomed_out(1.5).render(SIDE, SIDE),
        lake.zoomed_out(2.0).render(SIDE, SIDE),
        lake.with_aspect((16, 9))
            .squared((16, 9))
            .render(SIDE, SIDE),
        lake.varied(0.3, 5).render(SIDE, SIDE),
        lake.varied(0.3, 5).varied(0.3, 8).render(SIDE, SIDE),
        lake.varied(0.8, 5).render(SIDE, SIDE),
        between_bars(&lake.panned(1.0, 0.0)),
        between_bars(&lake.panned(-1.0, 0.0)),
        lake.repainted(&mask, "a dragon", 3).render(SIDE, SIDE),
        other.render(SIDE, SIDE),
        other.repainted(&mask, "a windmill", 3).render(SIDE, SIDE),
    ]);
    all
}

/// What flags do to the same words.
pub(crate) fn flags() -> Vec<Picture> {
    let fox = scene("a fox", 3);
    let mut all: Vec<Picture> = [0.25, 1.0, 2.0]
        .map(|flair| {
            let mut one = scene("oil painting, a castle by a lake", 4);
            one.flair = flair;
            one.render(SIDE, SIDE)
        })
        .into();
    let mut tile = scene("koi fish underwater", 8);
    tile.tiled = true;
    let small = tile.render(SIDE / 2, SIDE / 2);
    all.push(Picture::grid_of_four([
        small.clone(),
        small.clone(),
        small.clone(),
        small,
    ]));
    all.extend((1..=4).map(|seed| fox.with_seed(seed).stirred(1.0).render(SIDE, SIDE)));
    all.push(
        scene("a girl with silver hair in a garden", 5)
            .as_anime()
            .render(SIDE, SIDE),
    );
    all.push(
        scene("two samurai in the mountains at sunset", 6)
            .as_anime()
            .render(SIDE, SIDE),
    );
    all.push(
        scene("a castle by the sea", 7)
            .as_anime()
            .render(SIDE, SIDE),
    );
    all.push(
        scene("a castle", 9)
            .led(Some(Time::Night), None)
            .render(SIDE, SIDE),
    );
    all
}

/// Work on given pictures.
pub(crate) fn given() -> Vec<Picture> {
    let photo = include_bytes!("../../../media/tests/data/portrait.jpg");
    let portrait = decode(photo, Limits::default()).expect("a photo");
    let portrait = portrait.covering(SIDE, SIDE);
    let fox = drawn("a fox in the forest at noon", 3);
    let city = drawn("city skyline at sunset", 5);
    let toward = drawn("watercolor, a woman in a garden", 9);
    let hole = Mask::rectangle(SIDE, SIDE, [330, 300, 130, 150]);
    let room = Mask::rectangle(SIDE, SIDE, [40, 268, 230, 200]);
    let mut guest = city.clone();
    guest.pasted(&fox.covering(250, 220), 30, 258);
    let small = portrait.resized(SIDE * 2 / 3, SIDE * 2 / 3);
    let edge = SIDE / 6;
    let canvas = small.padded([edge, edge, edge, edge], [0; 4]);
    let beyond = Mask::from_transparent(&canvas);
    let alone = cut_out(&portrait);
    let mut moved = drawn("mountains above a lake at dawn", 21);
    moved.overlaid(&alone, 0, 0);
    let mirrored = Picture::drawn(SIDE, SIDE, |x, y| {
        let [r, g, b, a] = portrait.pixel(SIDE - 1 - x, y);
        [
            r,
            (u16::from(g) * 9 / 10) as u8,
            (u16::from(b) * 8 / 10) as u8,
            a,
        ]
    });
    let crop = faces(&portrait)
        .first()
        .map_or([180, 120], |face| [face.x as i64 + 20, face.y as i64 + 30]);
    let detail = portrait.cropped(crop[0], crop[1], 128, 128);
    vec![
        portrait.clone(),
        blend(
            &[portrait.clone(), city.clone(), fox.clone()],
            SIDE,
            SIDE,
            4,
        ),
        restyle(&portrait, &toward, 0.3),
        restyle(&portrait, &toward, 0.7),
        fill(&city, &hole, 3),
        seamless(&city, &guest, &room),
        fill(&canvas, &beyond, 2).resized(SIDE, SIDE),
        on_checks(&alone),
        on_checks(&cut_out(&drawn("a vase of flowers in the studio", 2))),
        moved,
        traced(&fox),
        traced(&portrait),
        detail.resized(SIDE, SIDE),
        upscale(&detail, 4, Limits::default()),
        swap_face(&portrait, &mirrored).expect("both show a face"),
        marked(city),
    ]
}

/// The paths of a traced picture, drawn again.
fn traced(picture: &Picture) -> Picture {
    let mut scene = scene("a fox in the studio", 1);
    scene.subjects[0].drawing = Some(vectorize(picture));
    scene.subjects[0].at = Some([0.0, 0.5, 1.0]);
    scene.render(SIDE, SIDE)
}

fn marked(mut picture: Picture) -> Picture {
    watermark(&mut picture);
    picture
}

fn on_checks(picture: &Picture) -> Picture {
    let mut ground = Picture::drawn(picture.width, picture.height, |x, y| {
        let light = if (x / 16 + y / 16) % 2 == 0 { 236 } else { 208 };
        [light, light, light, 255]
    });
    ground.overlaid(picture, 0, 0);
    ground
}

/// Moments of moving scenes.
pub(crate) fn motion() -> Vec<Picture> {
    let mut all = Vec::new();
    for (words, seed) in [
        ("a sailboat on the sea at sunset", 4),
        ("a fox in the forest in the rain", 4),
        ("an eagle above the clouds", 2),
    ] {
        let mut film = Film::new(&scene(words, seed), (SIDE, SIDE), Motion::High);
        all.extend([0.0, 0.33, 0.67, 1.0].map(|moment| film.at(moment)));
    }
    all
}

/// A wide picture between bars, so that it fits a square tile.
fn between_bars(scene: &Scene) -> Picture {
    let window: Window = scene.window;
    let (width, height) = window.pixels(SIDE);
    let mut square = Picture::filled(SIDE, SIDE, [24, 24, 28, 255]);
    let (x, y) = ((SIDE - width) / 2, (SIDE - height) / 2);
    square.pasted(&scene.render(width, height), i64::from(x), i64::from(y));
    square
}

/// A sheet as light as a page of them should be.
pub(crate) fn pressed(sheet: &Picture) -> Vec<u8> {
    let mut quality = 82;
    let mut bytes = encode(sheet, Encoding::Jpeg { quality }, None);
    while bytes.len() > 240_000 && quality > 40 {
        quality -= 8;
        bytes = encode(sheet, Encoding::Jpeg { quality }, None);
    }
    bytes
}
