//! Painting words into a part of a picture: the ground first, then the subject on it, and nothing outside the mask.

use atelier_media::{Mask, Picture, seamless};
use atelier_studio::{Scene, fill};

/// A patch is painted at least this large, so that its subject has room.
const LEAST_PATCH: u32 = 96;
/// A patch reaches so many pixels beyond the mask, so that both can be compared at its edge.
const MARGIN: u32 = 2;
/// Differences up to this much are the ground's, not the subject's.
const GROUND_NOISE: u32 = 6;
/// The subject is drawn at least this large before it is fitted into its place.
const DRAWN_SIDE: f32 = 384.0;
/// How much of the masked part the subject fills.
const FILLED: f32 = 0.94;
/// How much less of it the smallest subject fills.
const SLACK: f32 = 0.16;
/// From this much on a pixel is the subject's alone.
const SUBJECT: u32 = 40;

/// What a scene is painted on.
pub(super) enum Backdrop<'a> {
    /// The same world without its subjects.
    World(&'a Scene),
    /// Nothing is known of it but the picture around; the seed moves what is invented.
    Unknown(u64),
}

/// Paints a scene into the white part of a mask; outside the picture stays to the byte.
pub(super) fn painted_into(
    picture: &Picture,
    mask: &Mask,
    scene: &Scene,
    ground: &Backdrop<'_>,
) -> Picture {
    let Some(bounds) = mask.bounds() else {
        return picture.clone();
    };
    let elsewhere = matches!(ground, Backdrop::World(world) if world.setting != scene.setting);
    if elsewhere || scene.subjects.is_empty() {
        return with_whole_scene(picture, mask, scene, ground);
    }
    let mut canvas = match ground {
        Backdrop::World(world) => {
            let bare = without_subjects(world).render(picture.width, picture.height);
            mask.mixed(picture, &bare)
        }
        Backdrop::Unknown(seed) => fill(picture, mask, *seed),
    };
    put_subject(&mut canvas, bounds, scene);
    mask.mixed(picture, &canvas)
}

/// The scene with its own ground, fitted to the light around it.
fn with_whole_scene(
    picture: &Picture,
    mask: &Mask,
    scene: &Scene,
    ground: &Backdrop<'_>,
) -> Picture {
    if let Backdrop::World(world) = ground
        && world.setting == scene.setting
    {
        let mut same_place = scene.with_seed(world.seed());
        same_place.window = world.window;
        return seamless(
            picture,
            &same_place.render(picture.width, picture.height),
            mask,
        );
    }
    let Some([x, y, width, height]) = mask.bounds() else {
        return picture.clone();
    };
    let (width, height) = (width + 2 * MARGIN, height + 2 * MARGIN);
    let painted = scene.render(width.max(LEAST_PATCH), height.max(LEAST_PATCH));
    let mut patch = picture.clone();
    patch.pasted(
        &painted.resized(width, height),
        i64::from(x) - i64::from(MARGIN),
        i64::from(y) - i64::from(MARGIN),
    );
    seamless(picture, &patch, mask)
}

/// Lays the subjects of a scene over a part of a picture, as large as fits.
fn put_subject(canvas: &mut Picture, [x, y, width, height]: [u32; 4], scene: &Scene) {
    let (subject, [left, top, across, down]) = lifted(scene, width, height);
    // Each seed leaves a little room somewhere else, so that four repaints are four pictures.
    let share = |shift: u32| (scene.seed() >> shift & 0xff) as f32 / 255.0;
    let filled = FILLED - SLACK * share(0);
    let room = (width as f32 * filled / across as f32).min(height as f32 * filled / down as f32);
    let side = |length: u32| ((length as f32 * room) as u32).max(1);
    let fitted = subject
        .cropped(i64::from(left), i64::from(top), across, down)
        .resized(side(across), side(down));
    let x = x + (width.saturating_sub(fitted.width) as f32 * share(8)) as u32;
    let y = y + (height.saturating_sub(fitted.height) as f32 * share(16)) as u32;
    canvas.overlaid(&fitted, i64::from(x), i64::from(y));
}

/// The subjects of a scene on nothing, and the rectangle they fill. What differs between the scene with and without
/// them is theirs: they themselves, their shadows, their reflections.
fn lifted(scene: &Scene, width: u32, height: u32) -> (Picture, [u32; 4]) {
    let longest = width.max(height) as f32;
    let scale = (DRAWN_SIDE / longest).max(1.0);
    let size = (
        (width as f32 * scale) as u32 + 1,
        (height as f32 * scale) as u32 + 1,
    );
    let mut with = scene.with_aspect(size).render(size.0, size.1);
    let bare = without_subjects(scene).with_aspect(size);
    let without = bare.render(size.0, size.1);
    let mut solid = Mask::empty(size.0, size.1);
    let pixels = with.pixels_mut().iter_mut().zip(without.pixels());
    for ((pixel, ground), share) in pixels.zip(&mut solid.shares) {
        let far: u32 = (0..3)
            .map(|c| u32::from(pixel[c].abs_diff(ground[c])))
            .sum();
        let own = far.saturating_sub(GROUND_NOISE) * 255 / (SUBJECT - GROUND_NOISE);
        pixel[3] = own.min(255) as u8;
        *share = if pixel[3] > 200 { 255 } else { 0 };
    }
    let bounds = solid.bounds().unwrap_or([0, 0, size.0, size.1]);
    (with, bounds)
}

fn without_subjects(scene: &Scene) -> Scene {
    let mut bare = scene.clone();
    bare.subjects.clear();
    bare
}
