//! Several pictures made one: each keeps the parts that stand out in it, and all share one light.

use atelier_media::Picture;
use atelier_media::sampling::Field;

use crate::pyramid::Pyramid;

const LEVELS: usize = 7;
/// Nodes of the map that says whose part is where.
const MAP: usize = 96;

/// Blends 2 to 5 pictures into one of the given size; the seed moves who is seen where.
pub fn blend(pictures: &[Picture], width: u32, height: u32, seed: u64) -> Picture {
    let parts: Vec<Picture> = pictures
        .iter()
        .take(5)
        .map(|part| part.on([255; 3]).covering(width, height))
        .collect();
    let Some(first) = parts.first() else {
        return Picture::filled(width, height, [128, 128, 128, 255]);
    };
    if parts.len() == 1 {
        return first.clone();
    }
    let common = common_light(&parts);
    let maps = maps(&parts, seed);
    let mut sum: Option<Pyramid> = None;
    for (part, map) in parts.iter().zip(maps) {
        let mut pyramid = Pyramid::of(&toward_light(part, &common, 0.55), LEVELS);
        let (width, height) = (pyramid.levels[0].width, pyramid.levels[0].height);
        let mut share = map.resized(width, height);
        for level in &mut pyramid.levels {
            for (node, share) in level.nodes.iter_mut().zip(&share.nodes) {
                *node = node.map(|value| value * share[0]);
            }
            share = share.halved();
        }
        match &mut sum {
            None => sum = Some(pyramid),
            Some(sum) => {
                for (level, more) in sum.levels.iter_mut().zip(&pyramid.levels) {
                    for (node, more) in level.nodes.iter_mut().zip(&more.nodes) {
                        (0..3).for_each(|c| node[c] += more[c]);
                    }
                }
            }
        }
    }
    sum.map_or_else(|| first.clone(), Pyramid::picture)
}

/// Image to image by strength: at 0 the picture itself, at 1 the other; between them light and large shapes come
/// over first and the picture's own detail goes last.
pub fn restyle(picture: &Picture, toward: &Picture, strength: f32) -> Picture {
    let strength = strength.clamp(0.0, 1.0);
    let toward = toward.on([255; 3]).covering(picture.width, picture.height);
    let mut own = Pyramid::of(picture, LEVELS);
    let other = Pyramid::of(&toward, LEVELS);
    let last = (own.levels.len() - 1).max(1) as f32;
    for (index, (level, other)) in own.levels.iter_mut().zip(&other.levels).enumerate() {
        let coarse = index as f32 / last;
        // Coarse levels run ahead of the strength, fine ones behind it; both meet at 0 and 1.
        let share = strength.powf(3.0 - 2.3 * coarse);
        for (node, other) in level.nodes.iter_mut().zip(&other.nodes) {
            (0..3).for_each(|c| node[c] += (other[c] - node[c]) * share);
        }
    }
    let mut out = own.picture();
    for (pixel, old) in out.pixels_mut().iter_mut().zip(picture.pixels()) {
        pixel[3] = old[3];
    }
    out
}

/// Mean and spread of each channel.
pub(crate) type ColourStats = [(f32, f32); 3];

pub(crate) fn light(picture: &Picture) -> ColourStats {
    let count = picture.pixels().len() as f64;
    std::array::from_fn(|c| {
        let sum: f64 = picture
            .pixels()
            .iter()
            .map(|pixel| f64::from(pixel[c]))
            .sum();
        let squares: f64 = picture
            .pixels()
            .iter()
            .map(|pixel| f64::from(pixel[c]).powi(2))
            .sum();
        let mean = sum / count;
        (
            mean as f32,
            (squares / count - mean * mean).max(1.0).sqrt() as f32,
        )
    })
}

fn common_light(parts: &[Picture]) -> ColourStats {
    let lights: Vec<ColourStats> = parts.iter().map(|part| light(&part.fitted(128))).collect();
    let count = lights.len() as f32;
    std::array::from_fn(|c| {
        let mean = lights.iter().map(|light| light[c].0).sum::<f32>() / count;
        let spread = lights.iter().map(|light| light[c].1).sum::<f32>() / count;
        (mean, spread)
    })
}

/// Moves a picture's light part of the way to another.
pub(crate) fn toward_light(picture: &Picture, goal: &ColourStats, share: f32) -> Picture {
    let own = light(&picture.fitted(128));
    let tables: [[u8; 256]; 3] = std::array::from_fn(|c| {
        std::array::from_fn(|value| {
            let value = value as f32;
            let gain = (goal[c].1 / own[c].1).clamp(0.5, 2.0);
            let moved = (value - own[c].0) * gain + goal[c].0;
            (value + (moved - value) * share + 0.5).clamp(0.0, 255.0) as u8
        })
    });
    let mut out = picture.clone();
    for pixel in out.pixels_mut() {
        (0..3).for_each(|c| pixel[c] = tables[c][usize::from(pixel[c])]);
    }
    out
}

/// One map for each picture; at every node they add up to 1.
fn maps(parts: &[Picture], seed: u64) -> Vec<Field<1>> {
    let mut maps: Vec<Field<1>> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| claim(part, index, parts.len(), seed))
        .collect();
    for node in 0..maps[0].nodes.len() {
        let strongest = maps
            .iter()
            .map(|map| map.nodes[node][0])
            .fold(f32::MIN, f32::max);
        let mut total = 0.0;
        for map in &mut maps {
            map.nodes[node][0] = ((map.nodes[node][0] - strongest) * 7.0).exp();
            total += map.nodes[node][0];
        }
        for map in &mut maps {
            map.nodes[node][0] /= total;
        }
    }
    maps
}

/// How much a picture wants each place: where it stands out, and around its own anchor.
fn claim(part: &Picture, index: usize, count: usize, seed: u64) -> Field<1> {
    let small = part.fitted(MAP as u32);
    let (width, height) = (small.width as usize, small.height as usize);
    let mean = small.mean_colour().map(f32::from);
    let turn = (seed % 360) as f32 / 360.0 + index as f32 / count as f32;
    let (anchor_y, anchor_x) = (turn * std::f32::consts::TAU).sin_cos();
    let wave = (seed.wrapping_mul(31).wrapping_add(index as u64 * 97) % 628) as f32 / 100.0;
    let nodes = small
        .pixels()
        .iter()
        .enumerate()
        .map(|(at, pixel)| {
            let u = (at % width) as f32 / width as f32 - 0.5;
            let v = (at / width) as f32 / height as f32 - 0.5;
            let stands_out: f32 = (0..3).map(|c| (f32::from(pixel[c]) - mean[c]).abs()).sum();
            let side = u * anchor_x + v * anchor_y;
            let drift = 0.12 * ((u * 9.0 + wave).sin() + (v * 7.0 - wave).cos());
            [(stands_out / 260.0).min(1.2) + side * 1.3 + drift]
        })
        .collect();
    let radius = (width.min(height) / 20).max(1);
    Field {
        width,
        height,
        nodes,
    }
    .blurred(radius)
    .blurred(radius)
}
