//! A picture as an SVG: colours reduced and specks removed first, so that noise cannot make the file explode.

use std::fmt::Write as _;

use atelier_media::Picture;
use atelier_media::palette::{nearest, points, swatches};
use rayon::prelude::*;
use visioncortex::color_clusters::{
    Clusters, HIERARCHICAL_MAX, KeyingAction, Runner, RunnerConfig,
};
use visioncortex::{Color, ColorImage, PathSimplifyMode, PointF64};

/// Longest side that is traced.
const LONGEST: u32 = 640;
const COLOURS: usize = 20;
/// Most shapes in one file.
const SHAPES: usize = 1_500;
/// Stands for "nothing is drawn here"; no palette colour is allowed to equal it.
const NOTHING: [u8; 3] = [255, 0, 255];

/// Most bytes of one file; beyond it the picture is traced smaller.
const BYTES: usize = 1 << 20;

/// Traces a picture into SVG paths of a limited number of colours; transparent parts stay empty.
pub fn vectorize(picture: &Picture) -> String {
    let small = picture.fitted(LONGEST);
    let mut calm = calmed(&small);
    let mut longest = LONGEST;
    if restless(&small, &calm) {
        longest /= 3;
        calm = calmed(&picture.fitted(longest));
    }
    loop {
        let svg = traced(&calm, (picture.width, picture.height));
        if svg.len() <= BYTES || longest < 64 {
            return svg;
        }
        longest /= 2;
        calm = calmed(&picture.fitted(longest));
    }
}

/// Whether neighbouring pixels differ so much that it can only be noise.
fn restless(picture: &Picture, calm: &Picture) -> bool {
    let pairs = picture.pixels().iter().zip(calm.pixels());
    let off: u64 = pairs
        .map(|(a, b)| (0..3).map(|c| u64::from(a[c].abs_diff(b[c]))).sum::<u64>())
        .sum();
    off > picture.pixels().len() as u64 * 45
}

fn traced(small: &Picture, (shown_width, shown_height): (u32, u32)) -> String {
    let (width, height) = (small.width as usize, small.height as usize);
    let clusters = clusters(small);
    let view = clusters.view();
    let least = least_area(width, height);
    let mut shapes: Vec<_> = view
        .clusters_output
        .iter()
        .rev()
        .map(|&at| view.get_cluster(at))
        .filter(|shape| shape.area() >= least)
        .collect();
    if shapes.len() > SHAPES {
        let mut areas: Vec<usize> = shapes.iter().map(|shape| shape.area()).collect();
        areas.sort_unstable_by(|a, b| b.cmp(a));
        shapes.retain(|shape| shape.area() > areas[SHAPES]);
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{shown_width}\" height=\"{shown_height}\" viewBox=\"0 0 {width} {height}\">\n"
    );
    for shape in shapes {
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
        let Color { r, g, b, .. } = shape.residue_color();
        let _ = writeln!(
            svg,
            "<path d=\"{line}\" fill=\"#{r:02x}{g:02x}{b:02x}\" transform=\"translate({:.0} {:.0})\"/>",
            offset.x, offset.y
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Smaller shapes are not worth a path.
fn least_area(width: usize, height: usize) -> usize {
    (width * height / 20_000).max(6)
}

/// The connected regions of the palette's colours.
fn clusters(small: &Picture) -> Clusters {
    let (width, height) = (small.width as usize, small.height as usize);
    let palette = palette(small);
    let indices = without_specks(&indices(small, &palette), width, height);
    let mut pixels = Vec::with_capacity(indices.len() * 4);
    for index in &indices {
        let [r, g, b] = palette.get(usize::from(*index)).copied().unwrap_or(NOTHING);
        pixels.extend_from_slice(&[r, g, b, 255]);
    }
    let config = RunnerConfig {
        hierarchical: HIERARCHICAL_MAX,
        good_min_area: least_area(width, height),
        good_max_area: width * height,
        is_same_color_a: 0,
        is_same_color_b: 1,
        deepen_diff: 0,
        key_color: Color::new(NOTHING[0], NOTHING[1], NOTHING[2]),
        keying_action: KeyingAction::Discard,
        ..RunnerConfig::default()
    };
    Runner::new(
        config,
        ColorImage {
            pixels,
            width,
            height,
        },
    )
    .run()
}

/// Each channel becomes the median of its neighbourhood: edges stay, noise goes.
fn calmed(picture: &Picture) -> Picture {
    let (width, bottom) = (picture.width as usize, picture.height as usize - 1);
    let mut out = picture.clone();
    out.rgba
        .par_chunks_exact_mut(width * 4)
        .enumerate()
        .for_each(|(y, row)| {
            let line = |y: usize| &picture.pixels()[y * width..][..width];
            let lines = [
                line(y.saturating_sub(1)),
                line(y),
                line((y + 1).min(bottom)),
            ];
            for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
                for c in 0..3 {
                    // The median of three medians is near enough, and much sooner found.
                    let [a, b, d] =
                        lines.map(|line| median(line[left][c], line[x][c], line[right][c]));
                    pixel[c] = median(a, b, d);
                }
            }
        });
    out
}

fn median(a: u8, b: u8, c: u8) -> u8 {
    a.min(b).max(a.max(b).min(c))
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
        let cell = usize::from(r >> 3) << 10 | usize::from(g >> 3) << 5 | usize::from(b >> 3);
        *known[cell].get_or_insert_with(|| nearest(&centres, &[r, g, b].map(f32::from)) as u8)
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
                let count = |wanted: u8| {
                    around
                        .iter()
                        .fold(0, |sum, at| sum + u8::from(*at == wanted))
                };
                if count(old[here]) < 3 {
                    let most = around
                        .iter()
                        .copied()
                        .max_by_key(|index| (count(*index), *index));
                    new[here] = most.unwrap_or(old[here]);
                }
            }
        }
        old = new;
    }
    old
}
