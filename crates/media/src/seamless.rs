//! Putting a patch into a picture without a seam: the patch keeps its detail, the picture decides the light.

use crate::Picture;
use crate::mask::Mask;
use crate::sampling::Field;

/// Blends a patch (of the size of the picture) into the masked part; outside the picture stays to the byte.
///
/// The difference between both at the edge of the mask is spread smoothly over its inside, so that the patch fits at
/// every point of the edge.
pub fn seamless(target: &Picture, patch: &Picture, mask: &Mask) -> Picture {
    let mask = mask.resized(target.width, target.height);
    let patch = patch.resized(target.width, target.height);
    let Some([x, y, width, height]) = mask.bounds() else {
        return target.clone();
    };
    let (left, top) = (x.saturating_sub(1), y.saturating_sub(1));
    let (right, bottom) = (
        (x + width + 1).min(target.width),
        (y + height + 1).min(target.height),
    );
    let (across, down) = ((right - left) as usize, (bottom - top) as usize);

    let mut difference = Field::new(across, down, [0.0; 3]);
    let mut open = vec![false; across * down];
    for (index, node) in difference.nodes.iter_mut().enumerate() {
        let (at_x, at_y) = (
            left + (index % across) as u32,
            top + (index / across) as u32,
        );
        open[index] = mask.share(at_x, at_y) > 0;
        let (old, new) = (target.pixel(at_x, at_y), patch.pixel(at_x, at_y));
        *node = std::array::from_fn(|c| f32::from(old[c]) - f32::from(new[c]));
    }
    spread(&mut difference, &open);

    let mut fitted = target.clone();
    for (index, shift) in difference
        .nodes
        .iter()
        .enumerate()
        .filter(|(index, _)| open[*index])
    {
        let (at_x, at_y) = (
            left + (index % across) as u32,
            top + (index / across) as u32,
        );
        let new = patch.pixel(at_x, at_y);
        let channel = |c: usize| (f32::from(new[c]) + shift[c] + 0.5).clamp(0.0, 255.0) as u8;
        fitted.set(at_x, at_y, [channel(0), channel(1), channel(2), new[3]]);
    }
    mask.mixed(target, &fitted)
}

/// Replaces the open nodes by the smoothest values that meet the others; all open means all zero.
pub fn spread<const N: usize>(field: &mut Field<N>, open: &[bool]) {
    if open.iter().all(|open| *open) {
        field.nodes.fill([0.0; N]);
        return;
    }
    let (width, height) = (field.width, field.height);
    if width.max(height) > 8 {
        let (mut coarse, coarse_open) = halved(field, open);
        spread(&mut coarse, &coarse_open);
        let guess = coarse.resized(width, height);
        for (index, node) in field
            .nodes
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| open[*index])
        {
            *node = guess.nodes[index];
        }
    }
    relax(field, open);
}

/// Half the size; a node is open only when all below it are, else it is the mean of those that are not.
fn halved<const N: usize>(field: &Field<N>, open: &[bool]) -> (Field<N>, Vec<bool>) {
    let (width, height) = (field.width.div_ceil(2), field.height.div_ceil(2));
    let mut half = Field::new(width, height, [0.0; N]);
    let mut half_open = vec![true; width * height];
    for (index, node) in half.nodes.iter_mut().enumerate() {
        let mut count = 0.0;
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let x = (index % width * 2 + dx).min(field.width - 1);
            let y = (index / width * 2 + dy).min(field.height - 1);
            let below = y * field.width + x;
            if !open[below] {
                (0..N).for_each(|n| node[n] += field.nodes[below][n]);
                count += 1.0;
            }
        }
        if count > 0.0 {
            *node = node.map(|sum| sum / count);
            half_open[index] = false;
        }
    }
    (half, half_open)
}

/// A few rounds of pulling every open node towards the mean of its neighbours.
fn relax<const N: usize>(field: &mut Field<N>, open: &[bool]) {
    const ROUNDS: usize = 24;
    const PULL: f32 = 1.5;
    let (width, height) = (field.width, field.height);
    for _ in 0..ROUNDS {
        for y in 0..height {
            let (above, below) = (y.saturating_sub(1) * width, (y + 1).min(height - 1) * width);
            for x in 0..width {
                let here = y * width + x;
                if !open[here] {
                    continue;
                }
                let around = [
                    y * width + x.saturating_sub(1),
                    y * width + (x + 1).min(width - 1),
                    above + x,
                    below + x,
                ];
                for n in 0..N {
                    let mean: f32 = around.iter().map(|&at| field.nodes[at][n]).sum::<f32>() * 0.25;
                    let old = field.nodes[here][n];
                    field.nodes[here][n] = old + (mean - old) * PULL;
                }
            }
        }
    }
}
