//! From a coarse yes-or-no to an alpha at full size that follows the picture's own edges.

use crate::Picture;
use crate::sampling::{Field, painted};

/// Longest side at which the edge is fitted; the fit is then read at full size.
const FITTED: u32 = 512;
/// Half the window of the fit.
const WINDOW: usize = 5;
/// Differences below this (in brightness from 0 to 1, squared) do not bend the edge.
const CALM: f32 = 4e-4;

/// The picture with an alpha fitted to the coarse cut, and edge colours freed from the old ground.
pub(super) fn refined(picture: &Picture, coarse: &Field<1>) -> Picture {
    let small = picture.fitted(FITTED);
    let (width, height) = (small.width as usize, small.height as usize);
    let rough = coarse.resized(width, height).blurred(1);
    let line = fitted_line(&small, &rough);
    let alpha_of = |light: f32, [slope, height]: [f32; 2]| {
        let alpha = slope * light + height;
        ((alpha - 0.12) / 0.76).clamp(0.0, 1.0)
    };
    // Only a band around the cut is soft; far inside and outside nothing is left to doubt.
    let sure = rough.blurred(WINDOW);
    let mut guide = Field::new(width, height, [0.0; 3]);
    for (at, node) in guide.nodes.iter_mut().enumerate() {
        *node = [line.nodes[at][0], line.nodes[at][1], sure.nodes[at][0]];
    }
    let ground = clean_colours(&small, &guide, &alpha_of);
    let wide = Field {
        width,
        height,
        nodes: guide
            .nodes
            .iter()
            .zip(&ground.nodes)
            .map(|(g, c)| [g[0], g[1], g[2], c[0], c[1], c[2]])
            .collect(),
    };
    painted(
        picture.width,
        picture.height,
        &wide,
        |x, y, [slope, base, sure, r, g, b]| {
            let pixel = picture.pixel(x as u32, y as u32);
            let alpha = settled(alpha_of(brightness(pixel), [slope, base]), sure);
            let share = 1.0 - alpha;
            let channel =
                |own: u8, clean: f32| (f32::from(own) + (clean - f32::from(own)) * share) as u8;
            let colour = [
                channel(pixel[0], r),
                channel(pixel[1], g),
                channel(pixel[2], b),
            ];
            u32::from_le_bytes([colour[0], colour[1], colour[2], (alpha * 255.0 + 0.5) as u8])
        },
    )
}

fn settled(alpha: f32, sure: f32) -> f32 {
    if sure > 0.985 {
        1.0
    } else if sure < 0.015 {
        0.0
    } else {
        alpha
    }
}

fn brightness([r, g, b, _]: [u8; 4]) -> f32 {
    (0.3 * f32::from(r) + 0.59 * f32::from(g) + 0.11 * f32::from(b)) / 255.0
}

/// For every place the line "alpha = slope * brightness + height" that fits its surroundings best.
fn fitted_line(picture: &Picture, rough: &Field<1>) -> Field<2> {
    let nodes = picture
        .pixels()
        .iter()
        .zip(&rough.nodes)
        .map(|(&pixel, alpha)| {
            let light = brightness(pixel);
            [light, alpha[0], light * light, light * alpha[0]]
        })
        .collect();
    let means = Field {
        width: rough.width,
        height: rough.height,
        nodes,
    }
    .blurred(WINDOW);
    let nodes = means
        .nodes
        .iter()
        .map(|[light, alpha, squares, products]| {
            let slope = (products - light * alpha) / (squares - light * light + CALM);
            [slope, alpha - slope * light]
        })
        .collect();
    Field {
        width: rough.width,
        height: rough.height,
        nodes,
    }
    .blurred(WINDOW)
}

/// The colour of the subject near every place, from its sure pixels only.
fn clean_colours(
    picture: &Picture,
    guide: &Field<3>,
    alpha_of: &dyn Fn(f32, [f32; 2]) -> f32,
) -> Field<3> {
    let nodes = picture
        .pixels()
        .iter()
        .zip(&guide.nodes)
        .map(|(&pixel, [slope, height, sure])| {
            let alpha = settled(alpha_of(brightness(pixel), [*slope, *height]), *sure);
            let weight = alpha.powi(4) + 1e-5;
            let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(f32::from);
            [r * weight, g * weight, b * weight, weight]
        })
        .collect();
    let sums = Field {
        width: guide.width,
        height: guide.height,
        nodes,
    }
    .blurred(4)
    .blurred(4);
    let nodes = sums
        .nodes
        .iter()
        .map(|[r, g, b, weight]| [r / weight, g / weight, b / weight])
        .collect();
    Field {
        width: guide.width,
        height: guide.height,
        nodes,
    }
}
