//! What the flags of a prompt and the fields of a request ask of a picture beside its words.

use atelier_studio::{Scene, Tongue};
use serde_json::Value;

use super::assignment::Assignment;

/// The strength of a style that nobody asked for, on the scale of `--stylize`.
const USUAL_STYLIZE: f32 = 100.0;
/// How much of the chaos scale the strangest picture takes.
const STRANGEST: f32 = 0.5;

/// Wishes beside the words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flags {
    /// How far several pictures of the same words may lie apart, 0 to 1.
    chaos: f32,
    /// How strongly the style shows; 1 is usual.
    flair: f32,
    /// Whether the picture meets itself at its edges.
    tiled: bool,
    /// Whether it is an anime picture.
    anime: bool,
    /// Sides of the drawing for each side of the picture; 1 is usual.
    pub(super) detail: f32,
}

impl Flags {
    /// The wishes of a piece of work.
    pub(super) fn of(assignment: &Assignment) -> Self {
        let extra = &assignment.work.brief.extra;
        let number = |name: &str| extra.get(name).and_then(amount);
        let asked = |name: &str| assignment.work.request.get(name).and_then(Value::as_str);
        let stylize = number("stylize").unwrap_or(USUAL_STYLIZE);
        let raw = extra.get("raw").is_some() || word(extra, "style") == Some("raw");
        let usual = if raw { 0.55 } else { 1.0 };
        let strange = number("weird").unwrap_or(0.0) / 3000.0 * STRANGEST;
        Self {
            chaos: (number("chaos").unwrap_or(0.0) / 100.0 + strange).min(1.0),
            flair: flair(stylize) * usual * style_strength(asked("style")),
            tiled: extra.get("tile") == Some(&Value::Bool(true)),
            anime: extra.get("niji").is_some() || assignment.work.brief.model.starts_with("niji"),
            detail: detail(word(extra, "quality").or(asked("quality"))),
        }
    }

    /// The scene as it is wished for.
    pub(super) fn applied(self, scene: &Scene) -> Scene {
        let mut scene = scene.stirred(self.chaos);
        if self.anime {
            scene = scene.as_anime();
        }
        scene.flair = self.flair;
        scene.tiled = self.tiled;
        scene
    }
}

/// Which languages the words of a piece of work are read in.
pub(super) fn prompt_language(assignment: &Assignment) -> Tongue {
    match assignment.work.request.get("translation") {
        Some(Value::Bool(false)) => Tongue::English,
        _ => Tongue::Any,
    }
}

/// From 0 to 1000, with 100 as usual, to the strength of a style.
fn flair(stylize: f32) -> f32 {
    if stylize <= USUAL_STYLIZE {
        0.25 + 0.75 * stylize / USUAL_STYLIZE
    } else {
        1.0 + (stylize - USUAL_STYLIZE) / 900.0
    }
}

/// How the picture models speak of the strength of a style.
fn style_strength(style: Option<&str>) -> f32 {
    match style {
        Some("vivid") => 1.25,
        Some("natural") => 0.75,
        _ => 1.0,
    }
}

/// How finely a picture is drawn, from the words and numbers requests have for it.
fn detail(quality: Option<&str>) -> f32 {
    match quality {
        Some("0.25" | ".25") => 0.4,
        Some("0.5" | ".5" | "low") => 0.6,
        Some("2" | "high" | "hd") => 1.25,
        Some("4") => 1.5,
        _ => 1.0,
    }
}

fn word<'a>(extra: &'a Value, name: &str) -> Option<&'a str> {
    extra.get(name).and_then(Value::as_str)
}

fn amount(value: &Value) -> Option<f32> {
    match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64().map(|number| number as f32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scales_of_the_flags_keep_their_order() {
        let strengths = [0.0, 50.0, 100.0, 400.0, 1000.0].map(flair);
        assert!(strengths.is_sorted_by(|a, b| a < b), "{strengths:?}");
        assert!((flair(USUAL_STYLIZE) - 1.0).abs() < 1e-6);
        let fine = [Some(".25"), Some("low"), None, Some("hd"), Some("4")].map(detail);
        assert!(fine.is_sorted_by(|a, b| a < b), "{fine:?}");
    }
}
