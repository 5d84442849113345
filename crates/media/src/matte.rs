//! Cutting the subject out of a picture: colours of the border against colours of the middle, a cut along the edges
//! between them, and an alpha that follows hair and fur where the cut runs through them.

mod border;
mod cut;
mod edge;
mod enclosure;
mod models;

use crate::Picture;
use crate::pieces::pieces;
use crate::sampling::Field;
use border::Border;
use cut::Grid;
use models::Models;

/// Longest side at which the cut is made.
const WORKING: u32 = 224;
/// How strongly what an outline shuts off belongs to the subject, and everything else to the ground.
const SHUT_OFF: f32 = 2.2;
const OPEN: f32 = 1.2;
/// Rounds of cutting and learning the colours anew.
const ROUNDS: usize = 4;

/// The subject on a transparent ground.
pub fn cut_out(picture: &Picture) -> Picture {
    let opaque = picture.on([255; 3]);
    let small = opaque.fitted(WORKING);
    let (width, height) = (small.width as usize, small.height as usize);
    if width < 8 || height < 8 {
        return picture.clone();
    }
    let colours: Vec<[f32; 3]> = small
        .pixels()
        .iter()
        .map(|&[r, g, b, _]| [r, g, b].map(f32::from))
        .collect();
    let people = people(&small);
    let shut_off = enclosure::shut_off(&colours, width, height);
    let border = Border::of(&colours, width, height);
    let mut inside = match &shut_off {
        Some(shut_off) => shut_off.clone(),
        None => border.first_guess(&colours, width, height),
    };
    for (inside, person) in inside.iter_mut().zip(&people) {
        *inside |= *person > 0.0;
    }
    let edges = Grid::edges(&colours, width, height);
    for _ in 0..ROUNDS {
        let models = Models::learn(&colours, &inside);
        let costs: Vec<(f32, f32)> = colours
            .iter()
            .enumerate()
            .map(|(at, colour)| {
                let prior = if people[at] > 0.0 {
                    -people[at]
                } else if border.is_reached_by_subject(colour) {
                    0.0
                } else {
                    border_prior(at % width, at / width, width, height)
                };
                let prior = match &shut_off {
                    Some(shut_off) if shut_off[at] => prior - SHUT_OFF,
                    Some(_) if people[at] <= 0.0 => prior + OPEN,
                    _ => prior,
                };
                (
                    models.outside_cost(colour) - prior,
                    models.inside_cost(colour) + prior,
                )
            })
            .collect();
        let next = Grid::new(width, &edges, &costs).cut();
        // A cut that takes all or nothing has lost the subject: the guess before it was better.
        let share = next.iter().filter(|inside| **inside).count() as f32 / next.len() as f32;
        if !(0.01..=0.97).contains(&share) {
            break;
        }
        inside = next;
    }
    keep_the_subject(&mut inside, width, height);
    let nodes = inside
        .iter()
        .map(|inside| [if *inside { 1.0 } else { 0.0 }])
        .collect();
    let mut out = edge::refined(
        &opaque,
        &Field {
            width,
            height,
            nodes,
        },
    );
    for (pixel, old) in out.pixels_mut().iter_mut().zip(picture.pixels()) {
        pixel[3] = pixel[3].min(old[3]);
    }
    out
}

/// Border pixels are rather not the subject; the lower border may well be.
fn border_prior(x: usize, y: usize, width: usize, height: usize) -> f32 {
    let margin = (width.min(height) / 24).max(2);
    let low = y as f32 / height as f32;
    if y < margin || ((x < margin || x + margin >= width) && low < 0.8) {
        return 3.0;
    }
    let across = (x as f32 / width as f32 - 0.5).abs() * 2.0;
    let up = ((0.55 - low) * 2.0).max(0.0);
    1.1 * (across.powi(3) + up.powi(3)) - 0.25
}

/// Where a face is, its head and the body below it belong to the subject: how strongly, for every place.
fn people(small: &Picture) -> Vec<f32> {
    let (width, height) = (small.width as usize, small.height as usize);
    let mut strength = vec![0.0_f32; width * height];
    // Small copies hide small faces, and it is only large ones that make a picture a portrait.
    let scale = 2;
    let large = small.resized(small.width * scale, small.height * scale);
    for face in crate::face::faces(&large) {
        let half = face.size / scale as f32 / 2.0;
        let (x, y) = (face.x / scale as f32 + half, face.y / scale as f32 + half);
        let share = half * 2.0 / width.min(height) as f32;
        // A face as large as the picture is a bright backdrop that was taken for one.
        if !(0.1..=0.7).contains(&share) {
            continue;
        }
        for (at, strength) in strength.iter_mut().enumerate() {
            let (dx, dy) = ((at % width) as f32 - x, (at / width) as f32 - y);
            let head = (dx / (half * 0.95)).hypot((dy + half * 0.15) / (half * 1.35)) < 1.0;
            let below = dy / half;
            let body = below > 1.5 && dx.abs() < half * (0.5 + (below - 1.5).min(1.2));
            // Shoulders are wider than the neck and may reach the border.
            let shoulders = below > 1.9 && dx.abs() < half * (1.2 + (below - 1.9) * 1.6).min(3.4);
            if head {
                *strength = 12.0;
            } else if body {
                *strength = strength.max(2.5);
            } else if shoulders {
                *strength = strength.max(1.6);
            }
        }
    }
    strength
}

/// Keeps the largest piece and those not much smaller, and closes holes that nothing outside can reach.
fn keep_the_subject(inside: &mut [bool], width: usize, height: usize) {
    let solid = pieces(inside, width, height, true);
    let largest = solid.iter().map(Vec::len).max().unwrap_or(0);
    for piece in solid.iter().filter(|piece| piece.len() * 6 < largest) {
        for &at in piece {
            inside[at] = false;
        }
    }
    for hole in pieces(inside, width, height, false) {
        let open = hole.iter().any(|&at| {
            let (x, y) = (at % width, at / width);
            x == 0 || y == 0 || x + 1 == width || y + 1 == height
        });
        if !open && hole.len() * 9 < inside.len() {
            for at in hole {
                inside[at] = true;
            }
        }
    }
}
