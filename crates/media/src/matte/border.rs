//! The colours along the border of a picture: most are the ground's, some are the subject's where it is cut off.

use crate::palette::{distance, swatches};
use crate::sampling::Field;

/// Colours told apart along the border.
const COLOURS: usize = 8;
/// Rarer colours of the border are chance.
const LEAST: f32 = 0.015;
/// Colours closer than this (squared) are the same.
const ALIKE: f32 = 34.0 * 34.0;

/// The colours along the upper three borders.
pub(super) struct Border {
    ground: Vec<[f32; 3]>,
    /// Colours that fill the middle even more than the border: a subject that reaches beyond the picture.
    subject: Vec<[f32; 3]>,
}

impl Border {
    pub(super) fn of(colours: &[[f32; 3]], width: usize, height: usize) -> Self {
        let margin = (width.min(height) / 16).max(2);
        let is_border = |x: usize, y: usize| {
            y < margin || ((x < margin || x + margin >= width) && y < height * 7 / 8)
        };
        let is_middle = |x: usize, y: usize| {
            let across = (x as f32 / width as f32 - 0.5) / 0.26;
            let down = (y as f32 / height as f32 - 0.55) / 0.3;
            across.hypot(down) < 1.0
        };
        let those = |wanted: &dyn Fn(usize, usize) -> bool| -> Vec<[f32; 3]> {
            (0..colours.len())
                .filter(|at| wanted(at % width, at / width))
                .map(|at| colours[at])
                .collect()
        };
        let (border, middle) = (those(&is_border), those(&is_middle));
        let (mut ground, mut subject) = (Vec::new(), Vec::new());
        for swatch in swatches(&border, COLOURS) {
            if swatch.share <= LEAST {
                continue;
            }
            let alike = |colour: &&[f32; 3]| distance(&swatch.colour, colour) < ALIKE;
            let share = |all: &[[f32; 3]]| {
                all.iter().filter(alike).count() as f32 / all.len().max(1) as f32
            };
            if share(&middle) > share(&border) * 1.5 + 0.12 {
                subject.push(swatch.colour);
            } else {
                ground.push(swatch.colour);
            }
        }
        // Something must be the ground.
        if ground.is_empty() {
            std::mem::swap(&mut ground, &mut subject);
        }
        Self { ground, subject }
    }

    /// Whether a colour is one with which the subject reaches the border.
    pub(super) fn is_reached_by_subject(&self, colour: &[f32; 3]) -> bool {
        !self.subject.is_empty() && nearest(&self.subject, colour) < nearest(&self.ground, colour)
    }

    /// What differs from the ground's colours and lies towards the middle.
    pub(super) fn first_guess(
        &self,
        colours: &[[f32; 3]],
        width: usize,
        height: usize,
    ) -> Vec<bool> {
        let nodes = colours
            .iter()
            .enumerate()
            .map(|(at, colour)| {
                let near = nearest(&self.ground, colour).sqrt();
                let x = (at % width) as f32 / width as f32 - 0.5;
                let y = (at / width) as f32 / height as f32 - 0.55;
                let middle = (1.0 - (x * x + y * y) * 2.6).max(0.1);
                let middle = if self.is_reached_by_subject(colour) {
                    middle.max(0.8)
                } else {
                    middle
                };
                [near.min(120.0) * middle]
            })
            .collect();
        let field = Field {
            width,
            height,
            nodes,
        };
        let calm = field.blurred(2);
        let mut sorted: Vec<f32> = calm.nodes.iter().map(|node| node[0]).collect();
        sorted.sort_unstable_by(f32::total_cmp);
        let share = if self.subject.is_empty() { 6 } else { 3 };
        let threshold = (sorted[sorted.len() * share / 10]).max(sorted[sorted.len() - 1] * 0.35);
        calm.nodes.iter().map(|node| node[0] > threshold).collect()
    }
}

fn nearest(swatches: &[[f32; 3]], colour: &[f32; 3]) -> f32 {
    swatches
        .iter()
        .map(|swatch| distance(swatch, colour))
        .fold(f32::MAX, f32::min)
}
