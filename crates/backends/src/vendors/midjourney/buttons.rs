//! Follow-ups by the buttons of the parent task. Their ids carry a version that varies, so they are looked up by how
//! they begin or by their label, and never built.

use atelier_contract::brief::{Direction, Task};
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
struct ButtonMatch {
    begins: String,
    has: &'static str,
    label: String,
}

impl ButtonMatch {
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

/// The id of the button that does a follow-up.
pub(super) fn find(buttons: &[Button], task: Task) -> Option<&str> {
    let all = looks(task);
    all.iter().find_map(|looks| pressed(buttons, looks))
}

/// The id of the button that repaints a region.
pub(super) fn find_region(buttons: &[Button]) -> Option<&str> {
    pressed(
        buttons,
        &ButtonMatch::new("MJ::Inpaint::", "", "Vary (Region)"),
    )
}

fn pressed<'a>(buttons: &'a [Button], looks: &ButtonMatch) -> Option<&'a str> {
    let by_id = buttons.iter().find(|button| looks.fits(button));
    let found = by_id.or_else(|| buttons.iter().find(|button| looks.reads(button)));
    found.map(|button| button.custom_id.as_str())
}

/// How the buttons of a follow-up look, the usual one first.
fn looks(task: Task) -> Vec<ButtonMatch> {
    let numbered = |word: &str, letter: &str, index: u8| {
        let number = index + 1;
        let begins = format!("MJ::JOB::{word}::{number}::");
        vec![ButtonMatch::new(begins, "", format!("{letter}{number}"))]
    };
    let job =
        |word: &str, label: &str| vec![ButtonMatch::new(format!("MJ::JOB::{word}::"), "", label)];
    // Which of them a picture has depends on the version it was drawn with, and on whether it was enlarged before.
    let enlarge = |has: &'static str, word: &str| {
        [
            format!("Upscale ({word})"),
            format!("Redo Upscale ({word})"),
        ]
        .map(|label| ButtonMatch::new("MJ::JOB::upsample_v", has, label))
    };
    let outpaint = |percent: u8, label: &str| {
        vec![ButtonMatch::new(
            format!("MJ::Outpaint::{percent}::"),
            "",
            label,
        )]
    };
    match task {
        Task::Upsample(index) => numbered("upsample", "U", index),
        Task::Vary(Some(index), _) => numbered("variation", "V", index),
        Task::Vary(None, true) => job("high_variation", "Vary (Strong)"),
        Task::Vary(None, false) => job("low_variation", "Vary (Subtle)"),
        Task::Enlarge(_, true) => enlarge("_2x_creative::", "Creative").into(),
        Task::Enlarge(4, false) => enlarge("_4x::", "4x").into(),
        Task::Enlarge(_, false) => {
            let plain = enlarge("_2x::", "2x").into_iter();
            plain.chain(enlarge("_2x_subtle::", "Subtle")).collect()
        }
        Task::ZoomOut(15) => outpaint(75, "Zoom Out 1.5x"),
        Task::ZoomOut(_) => outpaint(50, "Zoom Out 2x"),
        Task::Square => outpaint(100, "Make Square"),
        Task::Pan(Direction::Left) => job("pan_left", "⬅️"),
        Task::Pan(Direction::Right) => job("pan_right", "➡️"),
        Task::Pan(Direction::Up) => job("pan_up", "⬆️"),
        Task::Pan(Direction::Down) => job("pan_down", "⬇️"),
        Task::Reroll => job("reroll", "🔄"),
        _ => Vec::new(),
    }
}

/// The word and number of the older dialect for a follow-up, where it has one.
pub(super) fn change(task: Task) -> Option<(&'static str, Option<u8>)> {
    Some(match task {
        Task::Upsample(index) => ("UPSCALE", Some(index + 1)),
        Task::Vary(Some(index), _) => ("VARIATION", Some(index + 1)),
        Task::Reroll => ("REROLL", None),
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
        let found = |task| find(&buttons, task);
        assert_eq!(found(Task::Upsample(1)), Some("MJ::JOB::upsample::2::abc"));
        assert_eq!(
            found(Task::Enlarge(2, false)),
            Some("MJ::JOB::upsample_v7_2x_subtle::1::abc::SOLO")
        );
        assert_eq!(
            found(Task::Enlarge(2, true)),
            Some("MJ::JOB::upsample_v6r1_2x_creative::1::abc::SOLO")
        );
        assert_eq!(
            found(Task::Pan(Direction::Left)),
            Some("MJ::New::left::abc")
        );
        for missing in [
            Task::Upsample(2),
            Task::Upsample(3),
            Task::ZoomOut(20),
            Task::Enlarge(4, false),
            Task::Reroll,
        ] {
            assert_eq!(found(missing), None, "{missing:?}");
        }
        assert_eq!(find_region(&buttons), None);
    }
}
