//! Builds the items of a scene back to front.

use std::sync::Arc;

use tiny_skia::Path;

use super::Scene;
use super::light::Light;
use crate::paint::colour::{Rgb, Rgba};
use crate::paint::dice::Dice;
use crate::paint::region::{Blend, Field, Item, Mirror, Region, Role};
use crate::style::look::Look;

/// The visible part of the world with some room around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub left: f32,
    pub right: f32,
    pub top: f32,
    pub bottom: f32,
}

/// A scene while it is built.
pub(crate) struct Stage<'a> {
    /// What is asked for.
    pub scene: &'a Scene,
    /// Every choice of the scene comes from these.
    pub dice: Dice,
    pub light: Arc<Light>,
    pub view: View,
    /// World height of the horizon.
    pub horizon: f32,
    /// What the style wants prepared.
    pub look: Look,
    /// Turns of the slow clock that moves clouds and water.
    pub clock: f32,
    /// The items so far.
    pub items: Vec<Item>,
}

impl Stage<'_> {
    /// Adds a region; a missing path adds nothing.
    pub(crate) fn add(&mut self, path: Option<Path>, field: Field, role: Role, depth: f32) {
        if let Some(path) = path {
            self.items
                .push(Item::Fill(Region::new(path, field, role, depth)));
        }
    }

    /// Adds a region whose colours hardly change within `step` world units.
    pub(crate) fn smooth(
        &mut self,
        path: Option<Path>,
        field: Field,
        role: Role,
        depth: f32,
        step: f32,
    ) {
        if let Some(path) = path {
            self.items.push(Item::Fill(
                Region::new(path, field, role, depth).smooth(step),
            ));
        }
    }

    /// Adds a region that darkens or lightens.
    pub(crate) fn blend(
        &mut self,
        path: Option<Path>,
        field: Field,
        role: Role,
        depth: f32,
        blend: Blend,
    ) {
        if let Some(path) = path {
            self.items.push(Item::Fill(
                Region::new(path, field, role, depth).blended(blend),
            ));
        }
    }

    /// Adds light or shade that hardly changes within `step` world units.
    pub(crate) fn wash(
        &mut self,
        path: Option<Path>,
        field: Field,
        depth: f32,
        blend: Blend,
        step: f32,
    ) {
        let role = match blend {
            Blend::Darken => Role::Shadow,
            _ => Role::Light,
        };
        if let Some(path) = path {
            let region = Region::new(path, field, role, depth);
            self.items
                .push(Item::Fill(region.blended(blend).smooth(step)));
        }
    }

    /// Adds still water that mirrors what is painted so far.
    pub(crate) fn mirror(&mut self, path: Option<Path>, line: f32, strength: f32) {
        if let Some(path) = path {
            let phase = self.clock * 3.0;
            self.items.push(Item::Mirror(Mirror {
                path,
                line,
                strength,
                phase,
            }));
        }
    }

    /// The whole visible world as a path.
    pub(crate) fn everything(&self) -> Option<Path> {
        let view = self.view;
        crate::paint::region::rectangle(view.left, view.top, view.right, view.bottom)
    }

    /// Everything below a line that wanders with x.
    pub(crate) fn below(&self, step: f32, height: impl Fn(f32) -> f32) -> Option<Path> {
        let first = (self.view.left / step).floor() as i32 - 1;
        let last = (self.view.right / step).ceil() as i32 + 1;
        let mut points: Vec<(f32, f32)> = (first..=last)
            .map(|i| (i as f32 * step, height(i as f32 * step)))
            .collect();
        let bottom = self.view.bottom.max(self.horizon) + 0.2;
        points.push((last as f32 * step, bottom));
        points.push((first as f32 * step, bottom));
        crate::paint::region::polygon(&points)
    }

    /// The cells of width `size` that can be seen, given how far things reach out of their cell.
    pub(crate) fn cells(&self, size: f32, reach: f32) -> std::ops::RangeInclusive<i32> {
        let first = ((self.view.left - reach) / size).floor() as i32;
        let last = ((self.view.right + reach) / size).ceil() as i32;
        // A very wide window is still drawn with a bounded number of things.
        first.max(-600)..=last.min(600)
    }

    /// A colour under the scene's light and air.
    pub(crate) fn lit(&self, colour: Rgb, facing: f32, depth: f32) -> Rgb {
        self.light.through(self.light.on(colour, facing), depth)
    }
}

/// A field from a function.
pub(crate) fn field(of: impl Fn(f32, f32) -> Rgba + Send + Sync + 'static) -> Field {
    Arc::new(of)
}
