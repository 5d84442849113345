//! Reference pictures: what a scene takes from them besides their colours.

use atelier_media::{Label, Picture, Scene, StyleName, Time, seeming_time};

use super::desk::Desk;
use super::{palette, world};

/// What reference pictures lead to.
#[derive(Clone, Debug, Default)]
pub(super) struct Lead {
    /// Their colours, the darker first.
    pub(super) colours: Vec<[u8; 3]>,
    /// The time of day they seem to show.
    pub(super) time: Option<Time>,
    /// The style of the first, when it was made here.
    style: Option<StyleName>,
    /// A number of their own, the same for the same pictures.
    pub(super) seed: Option<u64>,
}

impl Lead {
    /// What the given pictures lead to; nothing without pictures.
    pub(super) fn of(desk: &Desk, pictures: &[Picture]) -> Self {
        let Some(first) = pictures.first() else {
            return Self::default();
        };
        let mut labels = desk
            .work
            .sources
            .iter()
            .filter_map(|file| Label::read(file));
        let known = labels.find_map(|label| world::described(&label));
        Self {
            colours: palette::shared(pictures),
            time: Some(seeming_time(first)),
            style: known.map(|world| world.scene.style),
            seed: Some(number(pictures)),
        }
    }

    /// The scene with what its words leave open taken from the references.
    pub(super) fn led(&self, scene: &Scene) -> Scene {
        let mut led = scene.led(self.time, self.style);
        if led.palette.is_empty() {
            led.palette.clone_from(&self.colours);
        }
        led
    }
}

/// A number for what pictures show; a slightly other file of the same picture has the same.
fn number(pictures: &[Picture]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for picture in pictures {
        for pixel in picture.resized(4, 4).pixels() {
            let coarse = pixel.map(|value| u64::from(value >> 6));
            state = (state ^ (coarse[0] << 4 | coarse[1] << 2 | coarse[2]))
                .wrapping_mul(0x0100_0000_01b3);
        }
    }
    state
}
