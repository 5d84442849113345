//! Follow-ups by the buttons of the parent task. Their ids carry a version that varies, so they are looked up by how
//! they begin or by their label, and never built.

use atelier_contract::families::artgen::actions::Action as A;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// No task has more buttons.
const MOST_BUTTONS: usize = 40;
/// No id or label is longer.
const MOST_CHARACTERS: usize = 200;

/// A button of a finished task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Button {
    custom_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    emoji: String,
}

/// How a button is recognised: how its id begins, what its id also has, and its label or emoji.
struct Looks {
    begins: String,
    has: &'static str,
    label: String,
}

impl Looks {
    fn new(begins: impl Into<String>, has: &'static str, label: impl Into<String>) -> Self {
        Self {
            begins: begins.into(),
            has,
            label: label.into(),
        }
    }

    fn fits(&self, button: &Button) -> bool {
        button.custom_id.starts_with(&self.begins) && button.custom_id.contains(self.has)
    }

    fn reads(&self, button: &Button) -> bool {
        button.label == self.label || button.emoji == self.label
    }
}

/// The buttons of a task, as far as follow-ups need them.
pub(super) fn of_task(task: &Value) -> Vec<Button> {
    let buttons = task["buttons"].as_array().into_iter().flatten();
    let text = |button: &Value, name: &str| {
        let text = button[name].as_str().unwrap_or_default();
        text.chars().take(MOST_CHARACTERS).collect::<String>()
    };
    buttons
        .map(|button| Button {
            custom_id: text(button, "customId"),
            label: text(button, "label"),
            emoji: text(button, "emoji"),
        })
        .filter(|button| !button.custom_id.is_empty())
        .take(MOST_BUTTONS)
        .collect()
}

/// The id of the button that does an action.
pub(super) fn find(buttons: &[Button], action: A) -> Option<&str> {
    pressed(buttons, &looks(action))
}

/// The id of the button that repaints a region.
pub(super) fn find_region(buttons: &[Button]) -> Option<&str> {
    pressed(buttons, &Looks::new("MJ::Inpaint::", "", "Vary (Region)"))
}

fn pressed<'a>(buttons: &'a [Button], looks: &Looks) -> Option<&'a str> {
    let by_id = buttons.iter().find(|button| looks.fits(button));
    let found = by_id.or_else(|| buttons.iter().find(|button| looks.reads(button)));
    found.map(|button| button.custom_id.as_str())
}

fn looks(action: A) -> Looks {
    let numbered = |word: &str, letter: &str, number: u8| {
        Looks::new(
            format!("MJ::JOB::{word}::{number}::"),
            "",
            format!("{letter}{number}"),
        )
    };
    let job = |word: &str, label: &str| Looks::new(format!("MJ::JOB::{word}::"), "", label);
    let enlarge = |has: &'static str, label: &str| Looks::new("MJ::JOB::upsample_v", has, label);
    let outpaint =
        |percent: u8, label: &str| Looks::new(format!("MJ::Outpaint::{percent}::"), "", label);
    match action {
        A::Upsample1 => numbered("upsample", "U", 1),
        A::Upsample2 => numbered("upsample", "U", 2),
        A::Upsample3 => numbered("upsample", "U", 3),
        A::Upsample4 => numbered("upsample", "U", 4),
        A::Variation1 => numbered("variation", "V", 1),
        A::Variation2 => numbered("variation", "V", 2),
        A::Variation3 => numbered("variation", "V", 3),
        A::Variation4 => numbered("variation", "V", 4),
        A::HighVariation => job("high_variation", "Vary (Strong)"),
        A::LowVariation => job("low_variation", "Vary (Subtle)"),
        A::Upscale2 => enlarge("_2x::", "Upscale (2x)"),
        A::Upscale4 => enlarge("_4x::", "Upscale (4x)"),
        A::RedoUpscale2 => enlarge("_2x::", "Redo Upscale (2x)"),
        A::RedoUpscale4 => enlarge("_4x::", "Redo Upscale (4x)"),
        A::UpscaleSubtle => enlarge("_2x_subtle::", "Upscale (Subtle)"),
        A::UpscaleCreative => enlarge("_2x_creative::", "Upscale (Creative)"),
        A::RedoUpscaleSubtle => enlarge("_2x_subtle::", "Redo Upscale (Subtle)"),
        A::RedoUpscaleCreative => enlarge("_2x_creative::", "Redo Upscale (Creative)"),
        A::ZoomOut2 => outpaint(50, "Zoom Out 2x"),
        A::ZoomOut15 => outpaint(75, "Zoom Out 1.5x"),
        A::MakeSquare => outpaint(100, "Make Square"),
        A::PanLeft => job("pan_left", "⬅️"),
        A::PanRight => job("pan_right", "➡️"),
        A::PanUp => job("pan_up", "⬆️"),
        A::PanDown => job("pan_down", "⬇️"),
        A::Reroll => job("reroll", "🔄"),
    }
}

/// The word and number of the older dialect for an action, where it has one.
pub(super) fn change(action: A) -> Option<(&'static str, Option<u8>)> {
    Some(match action {
        A::Upsample1 => ("UPSCALE", Some(1)),
        A::Upsample2 => ("UPSCALE", Some(2)),
        A::Upsample3 => ("UPSCALE", Some(3)),
        A::Upsample4 => ("UPSCALE", Some(4)),
        A::Variation1 => ("VARIATION", Some(1)),
        A::Variation2 => ("VARIATION", Some(2)),
        A::Variation3 => ("VARIATION", Some(3)),
        A::Variation4 => ("VARIATION", Some(4)),
        A::Reroll => ("REROLL", None),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_button_is_found_by_its_id_whatever_its_version_or_else_by_its_label() {
        let task = json!({ "buttons": [
            { "customId": "MJ::JOB::upsample::1::abc", "label": "U1" },
            { "customId": "MJ::JOB::upsample::2::abc", "label": "U2" },
            { "customId": "MJ::JOB::upsample_v7_2x_subtle::1::abc::SOLO", "label": "Upscale (Subtle)" },
            { "customId": "MJ::JOB::upsample_v6r1_2x_creative::1::abc::SOLO", "label": "x" },
            { "customId": "MJ::Outpaint::75::1::abc::SOLO", "label": "Zoom Out 1.5x" },
            { "customId": "MJ::New::left::abc", "emoji": "⬅️" },
            { "customId": "", "label": "U3" },
            { "label": "U4" },
        ] });
        let buttons = of_task(&task);
        let found = |action| find(&buttons, action);
        assert_eq!(found(A::Upsample2), Some("MJ::JOB::upsample::2::abc"));
        assert_eq!(
            found(A::UpscaleSubtle),
            Some("MJ::JOB::upsample_v7_2x_subtle::1::abc::SOLO")
        );
        assert_eq!(
            found(A::RedoUpscaleCreative),
            Some("MJ::JOB::upsample_v6r1_2x_creative::1::abc::SOLO")
        );
        assert_eq!(found(A::PanLeft), Some("MJ::New::left::abc"));
        for missing in [
            A::Upsample3,
            A::Upsample4,
            A::ZoomOut2,
            A::Upscale2,
            A::Reroll,
        ] {
            assert_eq!(found(missing), None, "{missing:?}");
        }
        assert_eq!(find_region(&buttons), None);
    }
}
