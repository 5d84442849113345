//! From one picture to another: parts travel along the flow between the two while the colours change over.

use atelier_media::Picture;
use atelier_media::sampling::Field;

use super::flow::flow;
use super::plate::{Plate, mixed, whole, woven};

/// A prepared way from one picture to another, to be asked for any moment of it.
pub struct Morph {
    start: Picture,
    end: Picture,
    plates: [Plate; 2],
    /// Displacement in shares of the sides, and how late a place changes colour (0 to 1).
    field: Field<3>,
    /// Whether colours change evenly all the way, as between two moments of one moving scene.
    even: bool,
}

/// Share of the way that lies between the first place to change and the last.
const SPREAD: f32 = 0.45;

impl Morph {
    /// Finds the way; the second picture takes the size of the first.
    pub fn new(start: &Picture, end: &Picture) -> Self {
        let start = start.on([0; 3]);
        let end = end.on([0; 3]).covering(start.width, start.height);
        let flow = flow(&start, &end);
        let late = lateness(&start, &end, flow.width, flow.height);
        let nodes = flow
            .nodes
            .iter()
            .zip(&late.nodes)
            .enumerate()
            .map(|(at, (d, late))| {
                let across = freedom((at % flow.width) as f32 / (flow.width - 1).max(1) as f32);
                let down = freedom((at / flow.width) as f32 / (flow.height - 1).max(1) as f32);
                [d[0] * across, d[1] * down, late[0]]
            })
            .collect();
        let field = Field {
            width: flow.width,
            height: flow.height,
            nodes,
        };
        Self {
            plates: [Plate::of(&start), Plate::of(&end)],
            start,
            end,
            field,
            even: false,
        }
    }

    /// The way between two moments of one scene: everything moves and changes at an even pace, so that several such
    /// ways after each other never seem to stop.
    pub(super) fn even(start: &Picture, end: &Picture) -> Self {
        Self {
            even: true,
            ..Self::new(start, end)
        }
    }

    /// The picture at a moment: the start at 0, the end at 1.
    pub fn at(&self, t: f32) -> Picture {
        if t <= 0.0 {
            return self.start.clone();
        }
        if t >= 1.0 {
            return self.end.clone();
        }
        let size = (self.start.width, self.start.height);
        let (width, height) = (size.0 as f32, size.1 as f32);
        let knot = |x: f32, y: f32, [dx, dy, late]: [f32; 3]| {
            let (dx, dy) = (dx * width, dy * height);
            let local = ((t - late * SPREAD) / (1.0 - SPREAD)).clamp(0.0, 1.0);
            let share = if self.even {
                t
            } else {
                local * local * (3.0 - 2.0 * local)
            };
            let rest = 1.0 - t;
            [
                x - dx * t,
                y - dy * t,
                x + dx * rest,
                y + dy * rest,
                share * 256.0,
            ]
        };
        let [start, end] = &self.plates;
        woven(size, &self.field, knot, |[fx, fy, tx, ty, share]| {
            // Most places have not begun to change or are done with it: one look is enough there.
            match whole(share) {
                0 => start.at(fx, fy),
                256.. => end.at(tx, ty),
                share => mixed(start.at(fx, fy), end.at(tx, ty), share),
            }
        })
    }
}

/// The picture at a moment between two pictures; for many moments prepare a [`Morph`] once.
pub fn morph(start: &Picture, end: &Picture, t: f32) -> Picture {
    if t <= 0.0 {
        return start.on([0; 3]);
    }
    Morph::new(start, end).at(t)
}

/// How freely a place may move, from its way along a side: not at all at the border, so that nothing has to be
/// invented there.
fn freedom(along: f32) -> f32 {
    let free = (along.min(1.0 - along) / 0.14).clamp(0.0, 1.0);
    free * free * (3.0 - 2.0 * free)
}

/// Places that differ least change first, so that the change spreads instead of fading evenly.
fn lateness(start: &Picture, end: &Picture, width: usize, height: usize) -> Field<1> {
    let one = start.resized(width as u32, height as u32);
    let other = end.resized(width as u32, height as u32);
    let nodes = one
        .pixels()
        .iter()
        .zip(other.pixels())
        .map(|(a, b)| [(0..3).map(|c| f32::from(a[c].abs_diff(b[c]))).sum::<f32>()])
        .collect();
    let mut field = Field {
        width,
        height,
        nodes,
    }
    .blurred(4)
    .blurred(4);
    let most = field
        .nodes
        .iter()
        .fold(1.0_f32, |most, node| most.max(node[0]));
    field.nodes.iter_mut().for_each(|node| node[0] /= most);
    field
}
