//! A world: a scene with the parts of it that were made anew. It renders to the same picture at any size.

use atelier_media::{Label, Mask, Picture};
use atelier_studio::{Scene, Window};
use serde::{Deserialize, Serialize};

use super::paint::{Backdrop, painted_into};
use super::stored_mask::StoredMask;
use crate::fit::Size;

/// What the metadata of every result says it was made by.
pub(super) const ENGINE: &str = "procedural";
/// Larger pictures are drawn with so many pixels and then enlarged, because drawing needs many bytes for each.
pub(super) const MOST_DRAWN_PIXELS: f64 = 2304.0 * 2304.0;
/// A file is compared with its description on a picture of this side.
const COMPARED_SIDE: u32 = 128;
/// A file that differs by more than this on average shows something else than its description.
const STILL_THE_SAME: f64 = 6.0;
/// How far the old picture reaches softly into new surroundings, in shares of its shorter side.
const SOFT_EDGE: f32 = 0.16;

/// A scene and what was changed in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct World {
    /// The scene, seen through its window.
    pub(super) scene: Scene,
    /// Sides of the drawing for each side of the picture: below 1 it is coarser, above 1 finer.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    detail: f32,
    /// Parts made anew, later ones over earlier ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) patches: Vec<Patch>,
}

/// A part of a world made anew.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Patch {
    /// What is to be seen there.
    pub(super) scene: Scene,
    /// The part of the world it was made in.
    pub(super) window: Window,
    /// Which places inside the window; without one, everything around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stencil: Option<StoredMask>,
}

fn usual() -> f32 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_usual(detail: &f32) -> bool {
    (*detail - 1.0).abs() < f32::EPSILON
}

impl World {
    /// A scene as a picture of this size shows it.
    pub(super) fn of(scene: &Scene, size: Size) -> Self {
        Self {
            scene: scene.with_aspect(size),
            detail: usual(),
            patches: Vec::new(),
        }
    }

    /// The same world, drawn with so many sides for each side of the picture.
    pub(super) fn in_detail(mut self, detail: f32) -> Self {
        self.detail = detail;
        self
    }

    /// Whether nothing in it was made anew.
    pub(super) fn is_plain(&self) -> bool {
        self.patches.is_empty()
    }

    /// The description that a label carries; the words stand beside it.
    pub(super) fn description(&self, prompt: &str) -> String {
        let mut plain = self.clone();
        if plain.scene.prompt == prompt {
            plain.scene.prompt.clear();
        }
        serde_json::to_string(&plain).unwrap_or_default()
    }

    /// The picture of the world.
    pub(super) fn render(&self, width: u32, height: u32) -> Picture {
        let most = (MOST_DRAWN_PIXELS / (f64::from(width) * f64::from(height))).sqrt();
        let scale = most.min(f64::from(self.detail));
        if (scale - 1.0).abs() < 1e-6 || (scale > 1.0 && self.detail <= 1.0) {
            return self.drawn(width, height);
        }
        let side = |length: u32| ((f64::from(length) * scale) as u32).max(1);
        self.drawn(side(width), side(height)).resized(width, height)
    }

    fn drawn(&self, width: u32, height: u32) -> Picture {
        let scene = self.scene.with_aspect((width, height));
        let mut picture = scene.render(width, height);
        for patch in &self.patches {
            picture = patch.applied(&picture, &scene);
        }
        picture
    }

    /// The same world with other choices, in the scene and in its patches.
    pub(super) fn varied(&self, strength: f32, seed: u64) -> Self {
        let mut other = self.clone();
        other.scene = self.scene.varied(strength, seed);
        for patch in &mut other.patches {
            patch.scene = patch.scene.varied(strength, seed);
        }
        other
    }

    /// The world seen through another window, with surroundings of its own around what was seen before.
    pub(super) fn widened(&self, scene: Scene, drift: f32, seed: u64) -> Self {
        let mut wider = self.clone();
        if drift > 0.0 {
            wider.patches.push(Patch {
                scene: scene.varied(drift, seed),
                window: self.scene.window,
                stencil: None,
            });
        }
        wider.scene = scene;
        wider
    }

    /// The world with a region of the present window made anew.
    pub(super) fn repainted(&self, scene: Scene, mask: &Mask) -> Self {
        let mut other = self.clone();
        other.patches.push(Patch {
            scene,
            window: self.scene.window,
            stencil: Some(StoredMask::of(mask)),
        });
        other
    }
}

/// The world a label describes, when it was made by this engine.
pub(super) fn described(label: &Label) -> Option<World> {
    if label.engine != ENGINE {
        return None;
    }
    let mut world: World = serde_json::from_str(&label.scene).ok()?;
    if world.scene.prompt.is_empty() {
        world.scene.prompt.clone_from(&label.prompt);
    }
    Some(world)
}

/// The world a file shows, when it was made by this engine and still looks as it did then.
pub(super) fn shown_by(file: &[u8], picture: &Picture) -> Option<World> {
    let world = described(&Label::read(file)?)?;
    let small = picture.fitted(COMPARED_SIDE);
    let again = world.render(small.width, small.height);
    let pairs = again.rgba.iter().zip(&small.rgba);
    let far: u64 = pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    (far as f64 / small.rgba.len() as f64 <= STILL_THE_SAME).then_some(world)
}

impl Patch {
    fn applied(&self, picture: &Picture, shown: &Scene) -> Picture {
        let part = pixels(&self.window, &shown.window, picture);
        if let Some(stencil) = &self.stencil {
            let mask = placed(&stencil.mask(), part, picture);
            return painted_into(picture, &mask, &self.scene, &Backdrop::World(shown));
        }
        let mut scene = self.scene.clone();
        scene.window = shown.window;
        let around = scene.render(picture.width, picture.height);
        surrounding(part, picture).mixed(picture, &around)
    }
}

/// Left, top, width and height of a window in the pixels of a picture that shows another.
fn pixels(window: &Window, shown: &Window, picture: &Picture) -> [f32; 4] {
    let across = picture.width as f32 / shown.width;
    let down = picture.height as f32 / shown.height;
    [
        (window.left - shown.left) * across,
        (window.top - shown.top) * down,
        window.width * across,
        window.height * down,
    ]
}

/// A mask laid into a part of a picture; nothing else is selected.
fn placed(mask: &Mask, [left, top, width, height]: [f32; 4], picture: &Picture) -> Mask {
    let (left, top) = (left.round() as i64, top.round() as i64);
    let mask = mask.resized(
        (width.round() as u32).max(1),
        (height.round() as u32).max(1),
    );
    let mut out = Mask::empty(picture.width, picture.height);
    for y in 0..i64::from(picture.height) {
        let row = y - top;
        if row < 0 || row >= i64::from(mask.height) {
            continue;
        }
        for x in left.max(0)..(left + i64::from(mask.width)).min(i64::from(picture.width)) {
            let at = y as usize * picture.width as usize + x as usize;
            out.shares[at] = mask.share((x - left) as u32, row as u32);
        }
    }
    out
}

/// Selects everything around a part, more and more with the distance from it.
fn surrounding([left, top, width, height]: [f32; 4], picture: &Picture) -> Mask {
    let soft = (width.min(height) * SOFT_EDGE).max(1.0);
    let mut out = Mask::empty(picture.width, picture.height);
    for (index, share) in out.shares.iter_mut().enumerate() {
        let x = (index % picture.width as usize) as f32 + 0.5;
        let y = (index / picture.width as usize) as f32 + 0.5;
        let dx = (left - x).max(x - left - width).max(0.0);
        let dy = (top - y).max(y - top - height).max(0.0);
        let way = (dx.hypot(dy) / soft).min(1.0);
        *share = (way * way * (3.0 - 2.0 * way) * 255.0) as u8;
    }
    out
}
