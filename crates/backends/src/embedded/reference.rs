//! Reference pictures: what a scene takes from them besides their colours.

use atelier_contract::brief::HintKind;
use atelier_media::{Label, Picture, cut_out};
use atelier_studio::{Scene, StyleName, Time, seeming_time};
use serde_json::Value;

use super::assignment::Assignment;
use super::{palette, world};
use crate::backend::Fault;

/// Longest side at which a picture is asked for the looks of its subject.
const LOOKED_AT: u32 = 256;

/// What reference pictures lead to.
#[derive(Clone, Debug, Default)]
pub(super) struct ReferenceTraits {
    /// Their colours, the darker first.
    pub(super) colours: Vec<[u8; 3]>,
    /// The time of day they seem to show.
    pub(super) time: Option<Time>,
    /// The style of the first, when it was made here.
    style: Option<StyleName>,
    /// A number of their own, the same for the same pictures.
    pub(super) seed: Option<u64>,
    /// The looks of whoever is to be recognised: a colour, when there is one to speak of, and a seed.
    looks: Option<(Option<[u8; 3]>, u64)>,
}

impl ReferenceTraits {
    /// What the given pictures lead to; nothing without pictures.
    pub(super) fn of(assignment: &Assignment, pictures: &[Picture]) -> Self {
        let Some(first) = pictures.first() else {
            return Self::default();
        };
        let mut labels = assignment
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
            looks: None,
        }
    }

    /// The same with what the pictures lend that were named for their style or for the looks of their subject.
    pub(super) fn hinted(mut self, assignment: &Assignment) -> Result<Self, Fault> {
        let styles = assignment.hints(HintKind::Style)?;
        if let Some((file, first)) = styles.first() {
            let known = Label::read(file).and_then(|label| world::described(&label));
            self.time = Some(seeming_time(first));
            self.style = known.map(|world| world.scene.style).or(self.style);
            let pictures: Vec<Picture> = styles.into_iter().map(|(_, picture)| picture).collect();
            self.colours = palette::shared(&pictures);
        } else if let Some(code) = style_code(assignment) {
            let at = code % StyleName::ALL.len() as u64;
            self.style = Some(StyleName::ALL[at as usize]);
        }
        if let Some((file, picture)) = assignment.hints(HintKind::Looks)?.into_iter().next() {
            self.looks = Some(looks_of(file, &picture));
        }
        Ok(self)
    }

    /// The scene with its subjects looking as those of the pictures named for that.
    pub(super) fn cast(&self, scene: &Scene) -> Scene {
        match self.looks {
            Some((colour, look)) => scene.cast(colour, look),
            None => scene.clone(),
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

/// The number of a style that is asked for by a code, or by chance.
fn style_code(assignment: &Assignment) -> Option<u64> {
    let given = assignment
        .work
        .brief
        .extra
        .get("sref")
        .and_then(Value::as_str)?;
    match given.split(' ').next()? {
        "random" => Some(assignment.seed),
        code => code.split("::").next()?.parse().ok(),
    }
}

/// The looks of the subject of a picture: those it was made with, or the strongest colour of what stands out in it.
fn looks_of(file: &[u8], picture: &Picture) -> (Option<[u8; 3]>, u64) {
    let small = picture.fitted(LOOKED_AT);
    let seen = palette::strongest(&cut_out(&small));
    let known = Label::read(file).and_then(|label| world::described(&label));
    let made = known.and_then(|world| world.scene.subjects.into_iter().next());
    let own = made.and_then(|subject| Some((subject.colour, subject.look?)));
    own.map_or_else(
        || (seen, number(&[small])),
        |(colour, look)| (colour.or(seen), look),
    )
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
