//! A picture as an SVG: colours reduced and specks removed first, so that noise cannot make the file explode.

use std::fmt::Write as _;

use visioncortex::color_clusters::{KeyingAction, Runner, RunnerConfig};
use visioncortex::{Color, ColorImage, PathSimplifyMode, PointF64};

use crate::Picture;
use crate::palette::{nearest, points, swatches};

/// Longest side that is traced.
const LONGEST: u32 = 768;
const COLOURS: usize = 20;
/// Most shapes in one file.
const SHAPES: usize = 1_500;
/// Stands for "nothing is drawn here"; no palette colour is allowed to equal it.
const NOTHING: [u8; 3] = [255, 0, 255];

/// Traces a picture into SVG paths of a limited number of colours; transparent parts stay empty.
pub fn vectorize(picture: &Picture) -> String {
    let small = calmed(&picture.fitted(LONGEST));
    let (width, height) = (small.width as usize, small.height as usize);
    let palette = palette(&small);
    let indices = without_specks(&indices(&small, &palette), width, height);
    let mut pixels = Vec::with_capacity(indices.len() * 4);
    for index in &indices {
        let [r, g, b] = palette.get(usize::from(*index)).copied().unwrap_or(NOTHING);
        pixels.extend_from_slice(&[r, g, b, 255]);
    }
    let least = (width * height / 20_000).max(6);
    let config = RunnerConfig {
        hierarchical: visioncortex::color_clusters::HIERARCHICAL_MAX,
        good_min_area: least,
        good_max_area: width * height,
        is_same_color_a: 0,
        is_same_color_b: 1,
        deepen_diff: 0,
        key_color: Color::new(NOTHING[0], NOTHING[1], NOTHING[2]),
        keying_action: if palette.len() < 256 {
            KeyingAction::Discard
        } else {
            KeyingAction::Keep
        },
        ..RunnerConfig::default()
    };
    let clusters = Runner::new(
        config,
        ColorImage {
            pixels,
            width,
            height,
        },
    )
    .run();
    let view = clusters.view();
    let mut shapes: Vec<_> = view
        .clusters_output
        .iter()
        .rev()
        .map(|&at| view.get_cluster(at))
        .collect();
    if shapes.len() > SHAPES {
        let mut areas: Vec<usize> = shapes.iter().map(|shape| shape.area()).collect();
        areas.sort_unstable_by(|a, b| b.cmp(a));
        shapes.retain(|shape| shape.area() > areas[SHAPES]);
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\">\n",
        picture.width, picture.height
    );
    for shape in shapes.into_iter().filter(|shape| shape.area() >= least) {
        let path = shape.to_compound_path(
            &view,
            false,
            PathSimplifyMode::Spline,
            60_f64.to_radians(),
            4.0,
            10,
            45_f64.to_radians(),
        );
        let (line, offset) = path.to_svg_string(true, PointF64::default(), Some(1));
        let colour = shape.residue_color();
        let _ = writeln!(
            svg,
            "<path d=\"{line}\" fill=\"#{:02x}{:02x}{:02x}\" transform=\"translate({:.0} {:.0})\"/>",
            colour.r, colour.g, colour.b, offset.x, offset.y
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Each channel becomes the median of its neighbourhood: edges stay, noise goes.
fn calmed(picture: &Picture) -> Picture {
    let (right, bottom) = (picture.width - 1, picture.height - 1);
    let mut out = picture.clone();
    for y in 0..picture.height {
        for x in 0..picture.width {
            let mut values = [[0_u8; 9]; 3];
            let mut at = 0;
            for row in [y.saturating_sub(1), y, (y + 1).min(bottom)] {
                for column in [x.saturating_sub(1), x, (x + 1).min(right)] {
                    let pixel = picture.pixel(column, row);
                    (0..3).for_each(|c| values[c][at] = pixel[c]);
                    at += 1;
                }
            }
            let [r, g, b] = values.map(|mut nine| *nine.select_nth_unstable(4).1);
            out.set(x, y, [r, g, b, picture.pixel(x, y)[3]]);
        }
    }
    out
}

fn palette(picture: &Picture) -> Vec<[u8; 3]> {
    swatches(&points(picture, 128), COLOURS)
        .into_iter()
        .map(|swatch| swatch.colour.map(|channel| channel as u8))
        .map(|colour| {
            if colour == NOTHING {
                [254, 1, 254]
            } else {
                colour
            }
        })
        .collect()
}

/// The nearest colour of every pixel; 255 where it is transparent.
fn indices(picture: &Picture, palette: &[[u8; 3]]) -> Vec<u8> {
    let centres: Vec<[f32; 3]> = palette.iter().map(|colour| colour.map(f32::from)).collect();
    // Pixels repeat, so each of 32 768 coarse colours is looked up once.
    let mut known = vec![None; 1 << 15];
    let mut look_up = |[r, g, b]: [u8; 3]| {
        let slot = usize::from(r >> 3) << 10 | usize::from(g >> 3) << 5 | usize::from(b >> 3);
        *known[slot].get_or_insert_with(|| nearest(&centres, &[r, g, b].map(f32::from)) as u8)
    };
    let pixels = picture.pixels().iter();
    pixels
        .map(|&[r, g, b, a]| if a < 128 { u8::MAX } else { look_up([r, g, b]) })
        .collect()
}

/// Each pixel takes the colour that most of its neighbours have, twice.
fn without_specks(indices: &[u8], width: usize, height: usize) -> Vec<u8> {
    let mut old = indices.to_vec();
    for _ in 0..2 {
        let mut new = old.clone();
        for y in 1..height.saturating_sub(1) {
            for x in 1..width.saturating_sub(1) {
                let here = y * width + x;
                let around = [
                    here - width - 1,
                    here - width,
                    here - width + 1,
                    here - 1,
                    here + 1,
                    here + width - 1,
                    here + width,
                    here + width + 1,
                ]
                .map(|at| old[at]);
                let same = around.iter().filter(|index| **index == old[here]).count();
                if same < 3 {
                    let most = around.iter().copied().max_by_key(|index| {
                        (
                            around.iter().filter(|other| *other == index).count(),
                            *index,
                        )
                    });
                    new[here] = most.unwrap_or(old[here]);
                }
            }
        }
        old = new;
    }
    old
}
