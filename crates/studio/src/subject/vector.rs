//! Reads flat vector drawings into parts.

use tiny_skia::Transform;
use usvg::{Group, Node, Options, Paint, Tree};

use super::art::Part;

/// The filled and stroked regions of an SVG document, back to front.
pub(crate) fn parts(svg: &str) -> Vec<Part> {
    let Ok(tree) = Tree::from_str(svg, &Options::default()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    collect(tree.root(), 1.0, &mut found);
    found
}

fn collect(group: &Group, alpha: f32, found: &mut Vec<Part>) {
    let alpha = alpha * group.opacity().get();
    for node in group.children() {
        match node {
            Node::Group(inner) => collect(inner, alpha, found),
            Node::Path(path) if path.is_visible() => {
                let place = path.abs_transform();
                if let Some(fill) = path.fill() {
                    push(
                        path.data().clone(),
                        place,
                        fill.paint(),
                        fill.opacity().get() * alpha,
                        found,
                    );
                }
                if let Some(stroke) = path.stroke() {
                    let drawn = path.data().stroke(&stroke.to_tiny_skia(), 8.0);
                    if let Some(drawn) = drawn {
                        push(
                            drawn,
                            place,
                            stroke.paint(),
                            stroke.opacity().get() * alpha,
                            found,
                        );
                    }
                }
            }
            _ => {}
        }
    }
}

fn push(path: tiny_skia::Path, place: Transform, paint: &Paint, alpha: f32, found: &mut Vec<Part>) {
    let Paint::Color(colour) = paint else {
        return;
    };
    let colour = [colour.red, colour.green, colour.blue].map(|v| f32::from(v) / 255.0);
    if let Some(path) = path.transform(place) {
        found.push(Part {
            path,
            colour,
            alpha,
            dye: true,
        });
    }
}
