//! Four prompts for a picture of which only the pixels are known. Each says what can be measured, in other words.

mod colours;
pub(crate) mod hour;
mod traits;

use atelier_media::palette::{points, swatches};
use atelier_media::{Picture, faces};

use colours::name;
use traits::PictureMeasures;

/// Describes a picture in four different ways, as prompts.
pub fn describe(picture: &Picture) -> [String; 4] {
    let opaque = picture.on([255; 3]);
    let people = faces(&opaque).len();
    let mut traits = PictureMeasures::of(&opaque);
    if people > 0 {
        // Rows of people make bands of light and dark too; where there are faces no horizon is claimed.
        traits.horizon = None;
    }
    let mut names: Vec<&'static str> = Vec::new();
    for swatch in swatches(&points(&opaque, 96), 8) {
        let name = name(swatch.colour);
        if swatch.share > 0.03 && !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(4);
    let subject = subject(&traits, people);
    let palette = listed(&names);
    let main = names.first().copied().unwrap_or("grey");
    let accent = names.get(1).copied().unwrap_or(main);
    let ratio = ratio(picture.width, picture.height);
    let (light, contrast, warmth) = (traits.light(), traits.contrast(), traits.warmth());
    let (detail, layout, mood) = (traits.detail(), traits.layout(), traits.mood());
    [
        format!("{subject}, {layout}, {light}, palette of {palette} --ar {ratio}"),
        format!(
            "{mood} picture in {main} and {accent}, {contrast}, {warmth}, {detail} --ar {ratio}"
        ),
        format!(
            "{main} tones with {accent} accents, {}, {subject}, {light}, {contrast} --ar {ratio}",
            traits.rendering()
        ),
        format!(
            "{layout} with {detail}, {palette}, {warmth}, {mood} atmosphere, {} --ar {ratio}",
            traits.depth()
        ),
    ]
}

fn subject(traits: &PictureMeasures, faces: usize) -> String {
    match faces {
        0 if traits.horizon.is_some() && traits.green_below => {
            "a green landscape under an open sky".into()
        }
        0 if traits.horizon.is_some() => "a wide view with a clear horizon".into(),
        0 if traits.centred > 1.35 => "a single subject that stands out in the middle".into(),
        0 if traits.busy < 0.035 => "a calm, nearly plain composition".into(),
        0 => "a composition that fills the whole frame".into(),
        1 => "portrait of one person facing the camera".into(),
        2 => "two people facing the camera".into(),
        more => format!("group photo of {more} people facing the camera"),
    }
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "grey".into(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The nearest well-known ratio, or the exact one in small numbers.
fn ratio(width: u32, height: u32) -> String {
    const KNOWN: [(u32, u32); 11] = [
        (1, 1),
        (4, 3),
        (3, 4),
        (3, 2),
        (2, 3),
        (16, 9),
        (9, 16),
        (5, 4),
        (4, 5),
        (2, 1),
        (1, 2),
    ];
    let shape = f64::from(width) / f64::from(height);
    let off = |(w, h): (u32, u32)| (f64::from(w) / f64::from(h) / shape).ln().abs();
    let best = KNOWN.into_iter().min_by(|a, b| off(*a).total_cmp(&off(*b)));
    match best {
        Some((w, h)) if off((w, h)) < 0.06 => format!("{w}:{h}"),
        _ if shape >= 1.0 => format!("{}:10", (shape * 10.0).round().min(100.0)),
        _ => format!("10:{}", (10.0 / shape).round().min(100.0)),
    }
}
