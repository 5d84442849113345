//! A job as midjourney-proxy shows its tasks: states in that program's words, and the follow-ups a job offers as buttons.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::families::artgen::actions::{Action, components, result_kind};
use crate::family::to_json;
use crate::job::{File, FileRole, Job, JobState};

/// Where the caller's own word for a task is kept in the stored request. A job that has it was asked for in that program's
/// words, and its callback is told in them.
pub const STATE: &str = "mjState";

/// The kinds of component and of style that buttons have in that program.
const BUTTON: u8 = 2;

/// A job as that API shows it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MidjourneyTask")]
pub struct TaskView {
    /// Identifier; the same as the job's.
    pub id: String,
    /// The task it follows.
    pub parent_id: Option<String>,
    /// `IMAGINE`, `UPSCALE`, `VARIATION`, `REROLL`, `DESCRIBE`, `BLEND`, `PAN`, `ZOOM`, `EDIT`, `VIDEO`, `SWAP_FACE`, `SHOW`.
    pub action: &'static str,
    /// `NOT_START`, `IN_PROGRESS`, `SUCCESS` or `FAILURE`.
    pub status: &'static str,
    /// The prompt as it was submitted.
    pub prompt: String,
    /// The same; nothing is translated.
    pub prompt_en: String,
    /// Description.
    pub description: String,
    /// The caller's own word for it.
    pub state: Option<String>,
    /// When it was accepted, in milliseconds since 1970.
    pub submit_time: i64,
    /// When it started, in milliseconds since 1970.
    pub start_time: Option<i64>,
    /// When it finished, in milliseconds since 1970.
    pub finish_time: Option<i64>,
    /// Progress, from `0%` to `100%`.
    pub progress: String,
    /// The image, or the first video.
    pub image_url: Option<String>,
    /// The four images of a grid.
    pub image_urls: Vec<Link>,
    /// URL of the first video.
    pub video_url: Option<String>,
    /// URLs of all videos.
    pub video_urls: Vec<Link>,
    /// The follow-ups that the task offers.
    pub buttons: Vec<Button>,
    /// Width of the image.
    pub width: Option<u32>,
    /// Height of the image.
    pub height: Option<u32>,
    /// Seed of the image.
    pub seed: Option<String>,
    /// Why it failed, if it did.
    pub fail_reason: Option<String>,
    /// `RELAX`, `FAST` or `TURBO`.
    pub mode: String,
    /// More about it: `finalPrompt`.
    pub properties: Map<String, Value>,
}

/// Where a file is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MidjourneyLink")]
pub struct Link {
    /// URL of the file.
    pub url: String,
}

/// A follow-up that a task offers.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MidjourneyButton")]
pub struct Button {
    /// What to send to have it done.
    pub custom_id: String,
    /// What stands on it.
    pub label: String,
    /// The sign on it.
    pub emoji: String,
    /// Kind of component in that API; always a button.
    #[serde(rename = "type")]
    pub kind: u8,
    /// Style of the button in that API.
    pub style: u8,
}

/// What a button does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonAction {
    /// A follow-up by its name.
    Act(Action),
    /// A region made anew, which needs a mask and words first.
    Region,
}

impl TaskView {
    /// A job as a task.
    pub fn of(job: &Job) -> Self {
        let text = |name: &str| job.text(name).unwrap_or_default().to_owned();
        let prompts = job.output().map(|output| output.prompts.join("\n"));
        let prompt = prompts
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| text("prompt"));
        let main = job.file(0);
        let links = |role: FileRole, kind: &str| {
            let files = job
                .files(role)
                .filter(|file| file.media_type.starts_with(kind));
            files.map(Link::to).collect::<Vec<_>>()
        };
        let video_urls = links(FileRole::Main, "video/");
        let mut properties = Map::new();
        properties.insert("finalPrompt".into(), prompt.clone().into());
        Self {
            id: job.id.to_string(),
            parent_id: job.parent.as_ref().map(ToString::to_string),
            action: action_word(job),
            status: match job.state {
                JobState::Waiting => "NOT_START",
                JobState::Running => "IN_PROGRESS",
                JobState::Succeeded => "SUCCESS",
                JobState::Failed => "FAILURE",
            },
            description: format!("/{} {prompt}", action_word(job).to_lowercase()),
            prompt_en: prompt.clone(),
            prompt,
            state: job
                .text(STATE)
                .map(str::to_owned)
                .filter(|text| !text.is_empty()),
            submit_time: job.created_ms,
            start_time: job.started_ms,
            finish_time: job.finished_ms,
            progress: match job.state {
                JobState::Succeeded => "100%".into(),
                JobState::Failed => String::new(),
                _ => format!("{}%", job.progress.min(99)),
            },
            image_url: main.map(|file| file.origin_url.clone()),
            image_urls: links(FileRole::Small, "image/"),
            video_url: video_urls.first().map(|link| link.url.clone()),
            video_urls,
            buttons: buttons(job),
            width: main.map(|file| file.width),
            height: main.map(|file| file.height),
            seed: job.output().and_then(|output| output.seed.clone()),
            fail_reason: job.message.clone(),
            mode: job.speed.word().to_uppercase(),
            properties,
        }
    }
}

impl Link {
    fn to(file: &File) -> Self {
        Self {
            url: file.origin_url.clone(),
        }
    }
}

/// What is posted to the caller at the end; `None` for jobs that were not asked for in that program's words.
pub fn callback(job: &Job) -> Option<Value> {
    job.request.get(STATE)?;
    Some(to_json(&TaskView::of(job)))
}

/// What a button of a job does.
pub fn button_action(job: &Job, custom_id: &str) -> Option<ButtonAction> {
    let is = |press: &ButtonAction| button(job, *press).custom_id == custom_id;
    button_actions(job).into_iter().find(is)
}

fn buttons(job: &Job) -> Vec<Button> {
    button_actions(job)
        .into_iter()
        .map(|press| button(job, press))
        .collect()
}

fn button_actions(job: &Job) -> Vec<ButtonAction> {
    let mut all: Vec<ButtonAction> = components(job).into_iter().map(ButtonAction::Act).collect();
    if job.output().is_some() && result_kind(job).is_some() {
        all.push(ButtonAction::Region);
    }
    all
}

fn button(job: &Job, press: ButtonAction) -> Button {
    use Action as A;
    let id = &job.id;
    let solo = |start: &str| format!("{start}::1::{id}::SOLO");
    let numbered = |word: &str, letter: &str, number: u8| {
        (
            format!("MJ::JOB::{word}::{number}::{id}"),
            format!("{letter}{number}"),
            "",
        )
    };
    let labelled = |start: &str, label: &str| (solo(start), label.to_owned(), "");
    let signed = |start: &str, emoji: &'static str| (solo(start), String::new(), emoji);
    let (custom_id, label, emoji) = match press {
        ButtonAction::Region => labelled("MJ::Inpaint", "Vary (Region)"),
        ButtonAction::Act(action) => match action {
            A::Upsample1 => numbered("upsample", "U", 1),
            A::Upsample2 => numbered("upsample", "U", 2),
            A::Upsample3 => numbered("upsample", "U", 3),
            A::Upsample4 => numbered("upsample", "U", 4),
            A::Variation1 => numbered("variation", "V", 1),
            A::Variation2 => numbered("variation", "V", 2),
            A::Variation3 => numbered("variation", "V", 3),
            A::Variation4 => numbered("variation", "V", 4),
            A::HighVariation => labelled("MJ::JOB::high_variation", "Vary (Strong)"),
            A::LowVariation => labelled("MJ::JOB::low_variation", "Vary (Subtle)"),
            A::Upscale2 => labelled("MJ::JOB::upsample_v5_2x", "Upscale (2x)"),
            A::Upscale4 => labelled("MJ::JOB::upsample_v5_4x", "Upscale (4x)"),
            A::RedoUpscale2 => labelled("MJ::JOB::upsample_v5_2x", "Redo Upscale (2x)"),
            A::RedoUpscale4 => labelled("MJ::JOB::upsample_v5_4x", "Redo Upscale (4x)"),
            A::UpscaleSubtle => labelled("MJ::JOB::upsample_v6_2x_subtle", "Upscale (Subtle)"),
            A::UpscaleCreative => {
                labelled("MJ::JOB::upsample_v6_2x_creative", "Upscale (Creative)")
            }
            A::RedoUpscaleSubtle => {
                labelled("MJ::JOB::upsample_v6_2x_subtle", "Redo Upscale (Subtle)")
            }
            A::RedoUpscaleCreative => labelled(
                "MJ::JOB::upsample_v6_2x_creative",
                "Redo Upscale (Creative)",
            ),
            A::ZoomOut2 => labelled("MJ::Outpaint::50", "Zoom Out 2x"),
            A::ZoomOut15 => labelled("MJ::Outpaint::75", "Zoom Out 1.5x"),
            A::MakeSquare => labelled("MJ::Outpaint::100", "Make Square"),
            A::PanLeft => signed("MJ::JOB::pan_left", "⬅️"),
            A::PanRight => signed("MJ::JOB::pan_right", "➡️"),
            A::PanUp => signed("MJ::JOB::pan_up", "⬆️"),
            A::PanDown => signed("MJ::JOB::pan_down", "⬇️"),
            A::Reroll => (
                format!("MJ::JOB::reroll::0::{id}::SOLO"),
                String::new(),
                "🔄",
            ),
        },
    };
    Button {
        custom_id,
        label,
        emoji: emoji.to_owned(),
        kind: BUTTON,
        style: BUTTON,
    }
}

fn action_word(job: &Job) -> &'static str {
    let (family, name) = job.operation.rsplit_once('.').unwrap_or_default();
    let action = job.text("action").and_then(Action::from_word);
    match (family, name, action.map(Action::price_word)) {
        (_, _, Some("upsample" | "upscale")) => "UPSCALE",
        (_, _, Some("variation")) => "VARIATION",
        (_, _, Some("zoom" | "make_square")) => "ZOOM",
        (_, _, Some("pan")) => "PAN",
        (_, _, Some(_)) => "REROLL",
        ("artgen.video", ..) => "VIDEO",
        (_, "imagine", _) => "IMAGINE",
        (_, "blend", _) => "BLEND",
        (_, "describe", _) => "DESCRIBE",
        (_, "inpaint", _) => "EDIT",
        (_, "swap", _) => "SWAP_FACE",
        _ => "SHOW",
    }
}

/// The task that stands for a window that waits to be confirmed.
pub fn modal_task(parent: &Job, id: &str) -> TaskView {
    TaskView {
        id: id.to_owned(),
        status: "MODAL",
        progress: "0%".into(),
        buttons: Vec::new(),
        ..TaskView::of(parent)
    }
}
