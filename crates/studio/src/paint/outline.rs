//! Outlines as runs of points: flattened, bent, made angular; what hand-made styles do to a shape before filling it.

use tiny_skia::{Path, PathBuilder, PathSegment, Point};

/// One closed run of points.
pub(crate) type Run = Vec<(f32, f32)>;

fn curve(run: &mut Run, ends: [Point; 4], step: f32) {
    let [a, b, c, d] = ends;
    let reach = (b - a).length() + (c - b).length() + (d - c).length();
    let parts = (reach / step).ceil().clamp(1.0, 64.0) as usize;
    for part in 1..=parts {
        let t = part as f32 / parts as f32;
        let s = 1.0 - t;
        let (w0, w1, w2, w3) = (s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t);
        run.push((
            a.x * w0 + b.x * w1 + c.x * w2 + d.x * w3,
            a.y * w0 + b.y * w1 + c.y * w2 + d.y * w3,
        ));
    }
}

fn third(from: Point, to: Point, by: f32) -> Point {
    Point::from_xy(from.x + (to.x - from.x) * by, from.y + (to.y - from.y) * by)
}

/// The runs of a path with at least one point in every `step` world units.
pub(crate) fn runs(path: &Path, step: f32) -> Vec<Run> {
    let (mut all, mut run) = (Vec::new(), Run::new());
    let (mut at, mut start) = (Point::zero(), Point::zero());
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(p) => {
                if run.len() > 1 {
                    all.push(std::mem::take(&mut run));
                }
                run.clear();
                run.push((p.x, p.y));
                (at, start) = (p, p);
            }
            PathSegment::LineTo(p) => {
                curve(
                    &mut run,
                    [at, third(at, p, 1.0 / 3.0), third(at, p, 2.0 / 3.0), p],
                    step,
                );
                at = p;
            }
            PathSegment::QuadTo(c, p) => {
                curve(
                    &mut run,
                    [at, third(at, c, 2.0 / 3.0), third(p, c, 2.0 / 3.0), p],
                    step,
                );
                at = p;
            }
            PathSegment::CubicTo(c, d, p) => {
                curve(&mut run, [at, c, d, p], step);
                at = p;
            }
            PathSegment::Close => {
                curve(
                    &mut run,
                    [at, third(at, start, 0.33), third(at, start, 0.67), start],
                    step,
                );
                at = start;
            }
        }
    }
    if run.len() > 1 {
        all.push(run);
    }
    all
}

/// A path through runs of points, each moved by `bend`.
pub(crate) fn joined(runs: &[Run], bend: impl Fn(f32, f32) -> (f32, f32)) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for run in runs {
        for (index, &(x, y)) in run.iter().enumerate() {
            let (x, y) = bend(x, y);
            if index == 0 {
                builder.move_to(x, y);
            } else {
                builder.line_to(x, y);
            }
        }
        builder.close();
    }
    builder.finish()
}

/// The same outline with the points that say little left out: straight facets instead of curves.
pub(crate) fn angular(run: &Run, tolerance: f32) -> Run {
    if run.len() < 4 {
        return run.clone();
    }
    let mut keep = vec![false; run.len()];
    let last = run.len() - 1;
    (keep[0], keep[last]) = (true, true);
    // Long edges keep a point at fixed places of the world, so that a wider view cuts the same facets.
    let mut stops = vec![0];
    stops.extend((1..last).filter(|&i| {
        let pace = |p: (f32, f32)| (p.0 * 8.0).floor();
        run.len() > 240 && pace(run[i]) > pace(run[i - 1]) + 0.5
    }));
    stops.push(last);
    for &stop in &stops {
        keep[stop] = true;
    }
    let mut open: Vec<(usize, usize)> = stops.windows(2).map(|pair| (pair[0], pair[1])).collect();
    while let Some((from, to)) = open.pop() {
        let (a, b) = (run[from], run[to]);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = dx.hypot(dy).max(1e-6);
        let away = |p: (f32, f32)| {
            if length < 1e-4 {
                return (p.0 - a.0).hypot(p.1 - a.1);
            }
            ((p.0 - a.0) * dy - (p.1 - a.1) * dx).abs() / length
        };
        let far = (from + 1..to).max_by(|&i, &j| away(run[i]).total_cmp(&away(run[j])));
        if let Some(far) = far.filter(|&i| away(run[i]) > tolerance) {
            keep[far] = true;
            open.push((from, far));
            open.push((far, to));
        }
    }
    run.iter()
        .zip(&keep)
        .filter(|(_, keep)| **keep)
        .map(|(p, _)| *p)
        .collect()
}
