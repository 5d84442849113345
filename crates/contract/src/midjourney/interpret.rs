//! From a call of that program to an operation and its fields.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::task::STATE;
use crate::body::Fields;
use crate::families::artgen::actions::Action;
use crate::refusal::Refusal;

/// Fields of the calls that start a task; which ones count depends on the call.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "MidjourneyCall")]
pub struct NewTask {
    /// What to draw, or what happens.
    pub prompt: Option<String>,
    /// Source images as data-URIs.
    pub base64_array: Vec<String>,
    /// The bot that draws: `MID_JOURNEY` or `NIJI_JOURNEY`.
    pub bot_type: Option<String>,
    /// The task that is followed.
    pub task_id: Option<String>,
    /// The button that is pressed.
    pub custom_id: Option<String>,
    /// `UPSCALE`, `VARIATION` or `REROLL`; `extend` for videos.
    pub action: Option<String>,
    /// Which of four: 1 to 4, for videos 0 to 3.
    pub index: Option<Value>,
    /// Task and action in one, as in `ID U2`.
    pub content: Option<String>,
    /// An image as a data-URI.
    pub base64: Option<String>,
    /// URL of an image.
    pub link: Option<String>,
    /// `PORTRAIT`, `SQUARE` or `LANDSCAPE`.
    pub dimensions: Option<String>,
    /// The region to make anew: white on black.
    pub mask_base64: Option<String>,
    /// How much the video moves: `low` or `high`.
    pub motion: Option<String>,
    /// The start frame, as a URL or a data-URI.
    pub image: Option<String>,
    /// The end frame, as a URL or a data-URI.
    pub end_image: Option<String>,
    /// Resolution of the video: `vid_1.1_i2v_480` or `vid_1.1_i2v_720`.
    pub video_type: Option<String>,
    /// How many videos: 1, 2 or 4.
    pub batch_size: Option<Value>,
    /// The face, as a data-URI.
    pub source_base64: Option<String>,
    /// The image that gets the face, as a data-URI.
    pub target_base64: Option<String>,
    /// The caller's own word for the task.
    pub state: Option<String>,
    /// URL that receives the task when it ends.
    pub notify_hook: Option<String>,
    /// Speed modes in order of preference, as in `{"modes":["FAST"]}`.
    pub account_filter: Option<Value>,
}

/// What a call comes to.
#[derive(Debug, PartialEq)]
pub enum TaskAction {
    /// It submits a job of one of our operations.
    Job(TaskJob),
    /// A button of a task is pressed.
    Press {
        /// Identifier of the task.
        task: String,
        /// The button, as the task showed it.
        custom_id: String,
        /// What goes on with it.
        rest: Fields,
    },
    /// The window of a task is confirmed.
    Window {
        /// What the window was opened as.
        task: String,
        /// The mask, the words and what goes on with them.
        rest: Fields,
    },
}

/// A job that is wished for.
#[derive(Debug, PartialEq)]
pub struct TaskJob {
    /// The operation to submit, `family.operation`.
    pub operation: &'static str,
    /// The body of its submit.
    pub fields: Fields,
    /// Fields that take addresses; bytes that stand there are to be kept first.
    pub addresses: &'static [&'static str],
    /// Pictures that stand before the prompt, as bytes or addresses.
    pub pictures: Vec<String>,
}

/// The end of a window's name; before it stands the task it was opened on.
const WINDOW: &str = "-region";

/// The name of the window that makes a region of a task anew, and the task behind such a name.
pub fn region_modal_id(name: &str) -> (String, Option<&str>) {
    (format!("{name}{WINDOW}"), name.strip_suffix(WINDOW))
}

/// What a call comes to; `None` when that program has no such call.
pub fn interpret(
    call: &str,
    body: &NewTask,
    speed: Option<&str>,
) -> Option<Result<TaskAction, Refusal>> {
    let filter = mode(body);
    let speed = speed.or(filter.as_deref());
    Some(match call {
        "imagine" => imagine(body, speed),
        "blend" => blend(body, speed),
        "describe" => Ok(describe(body, speed)),
        "change" => change(body),
        "simple-change" => simple_change(body),
        "action" => action(body),
        "modal" => modal(body),
        "video" => Ok(TaskAction::Job(video(body))),
        "swap" => swap(body),
        _ => return None,
    })
}

fn mode(body: &NewTask) -> Option<String> {
    let modes = body.account_filter.as_ref()?.get("modes")?;
    Some(modes.get(0)?.as_str()?.to_lowercase())
}

/// What every job carries along.
fn common(body: &NewTask) -> Fields {
    let mut fields = Fields::new();
    let state = body.state.clone().unwrap_or_default();
    fields.insert(STATE.into(), state.into());
    if let Some(hook) = &body.notify_hook {
        fields.insert("hookUrl".into(), hook.as_str().into());
    }
    fields
}

fn job(operation: &'static str, body: &NewTask, own: Value) -> TaskJob {
    let mut fields = common(body);
    if let Value::Object(own) = own {
        fields.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
    }
    TaskJob {
        operation,
        fields,
        addresses: &[],
        pictures: Vec::new(),
    }
}

fn imagine(body: &NewTask, speed: Option<&str>) -> Result<TaskAction, Refusal> {
    let mut prompt = body
        .prompt
        .clone()
        .ok_or_else(|| Refusal::missing("prompt"))?;
    let niji = body.bot_type.as_deref() == Some("NIJI_JOURNEY");
    if niji && !prompt.contains("--niji") && !prompt.contains("--v ") {
        prompt.push_str(" --niji 6");
    }
    let own = json!({ "prompt": prompt, "mode": speed, "getUImages": true });
    Ok(TaskAction::Job(TaskJob {
        pictures: body.base64_array.clone(),
        ..job("artgen.imagine", body, own)
    }))
}

fn blend(body: &NewTask, speed: Option<&str>) -> Result<TaskAction, Refusal> {
    if body.base64_array.is_empty() {
        return Err(Refusal::missing("base64Array"));
    }
    let own = json!({
        "imgBase64Array": body.base64_array, "dimensions": body.dimensions, "mode": speed, "getUImages": true,
    });
    Ok(TaskAction::Job(job("artgen.blend", body, own)))
}

fn describe(body: &NewTask, speed: Option<&str>) -> TaskAction {
    let own = json!({ "base64": body.base64, "url": body.link, "mode": speed });
    TaskAction::Job(job("artgen.describe", body, own))
}

fn change(body: &NewTask) -> Result<TaskAction, Refusal> {
    let task = body
        .task_id
        .clone()
        .ok_or_else(|| Refusal::missing("taskId"))?;
    let word = body
        .action
        .clone()
        .ok_or_else(|| Refusal::missing("action"))?;
    follow_up(body, &task, &word, body.index.as_ref())
}

fn simple_change(body: &NewTask) -> Result<TaskAction, Refusal> {
    let content = body
        .content
        .clone()
        .ok_or_else(|| Refusal::missing("content"))?;
    let wrong = || Refusal::invalid("content", "must be a task and U1 to U4, V1 to V4 or R");
    let (task, what) = content.trim().split_once(' ').ok_or_else(wrong)?;
    let what = what.trim().to_uppercase();
    let word = match what.get(..1) {
        Some("U") => "UPSCALE",
        Some("V") => "VARIATION",
        Some("R") => "REROLL",
        _ => return Err(wrong()),
    };
    let index = what
        .get(1..)
        .filter(|rest| !rest.is_empty())
        .map(Value::from);
    follow_up(body, task, word, index.as_ref())
}

fn follow_up(
    body: &NewTask,
    task: &str,
    word: &str,
    index: Option<&Value>,
) -> Result<TaskAction, Refusal> {
    let number = || {
        let given = index.map(|value| value.to_string().trim_matches('"').to_owned());
        let one_of_four = |text: &String| ["1", "2", "3", "4"].contains(&text.as_str());
        given
            .filter(one_of_four)
            .ok_or_else(|| Refusal::invalid("index", "must be 1 to 4"))
    };
    let action = match word.to_uppercase().as_str() {
        "UPSCALE" => format!("upsample{}", number()?),
        "VARIATION" => format!("variation{}", number()?),
        "REROLL" => "reroll".to_owned(),
        _ => {
            let message = "must be UPSCALE, VARIATION or REROLL";
            return Err(Refusal::invalid("action", message));
        }
    };
    let own = json!({ "jobId": task, "action": action, "getUImages": true });
    Ok(TaskAction::Job(job("artgen.action", body, own)))
}

fn action(body: &NewTask) -> Result<TaskAction, Refusal> {
    Ok(TaskAction::Press {
        rest: common(body),
        task: body
            .task_id
            .clone()
            .ok_or_else(|| Refusal::missing("taskId"))?,
        custom_id: body
            .custom_id
            .clone()
            .ok_or_else(|| Refusal::missing("customId"))?,
    })
}

fn modal(body: &NewTask) -> Result<TaskAction, Refusal> {
    let mut rest = common(body);
    let mask = body
        .mask_base64
        .clone()
        .ok_or_else(|| Refusal::missing("maskBase64"))?;
    rest.insert("mask".into(), mask.into());
    rest.insert("prompt".into(), body.prompt.clone().into());
    Ok(TaskAction::Window {
        rest,
        task: body
            .task_id
            .clone()
            .ok_or_else(|| Refusal::missing("taskId"))?,
    })
}

fn video(body: &NewTask) -> TaskJob {
    if body.action.as_deref() == Some("extend") {
        let own = json!({
            "jobId": body.task_id, "index": body.index, "manual": body.motion, "bs": body.batch_size,
        });
        return job("artgen.video.extend", body, own);
    }
    let large = body
        .video_type
        .as_deref()
        .is_some_and(|kind| kind.ends_with("720"));
    let own = json!({
        "prompt": body.prompt,
        "imageUrl": body.image,
        "endingUrl": body.end_image,
        "manual": body.motion,
        "bs": body.batch_size,
        "resolution": if large { "hd" } else { "sd" },
    });
    TaskJob {
        addresses: &["imageUrl", "endingUrl"],
        ..job("artgen.video.submit", body, own)
    }
}

fn swap(body: &NewTask) -> Result<TaskAction, Refusal> {
    let needed =
        |given: Option<&String>, name: &str| given.cloned().ok_or_else(|| Refusal::missing(name));
    let own = json!({
        "swapImage": needed(body.source_base64.as_ref(), "sourceBase64")?,
        "targetImage": needed(body.target_base64.as_ref(), "targetBase64")?,
    });
    Ok(TaskAction::Job(TaskJob {
        addresses: &["swapImage", "targetImage"],
        ..job("facegen.swap", body, own)
    }))
}

fn plain(operation: &'static str, fields: Fields) -> TaskJob {
    TaskJob {
        operation,
        fields,
        addresses: &[],
        pictures: Vec::new(),
    }
}

impl TaskJob {
    /// A follow-up on a task.
    pub fn follow_up(task: &str, action: Action, mut rest: Fields) -> Self {
        rest.insert("jobId".into(), task.into());
        rest.insert("action".into(), action.word().into());
        rest.insert("getUImages".into(), true.into());
        plain("artgen.action", rest)
    }

    /// A region of a task's picture made anew.
    pub fn region(task: &str, mut rest: Fields) -> Self {
        rest.insert("jobId".into(), task.into());
        plain("artgen.inpaint", rest)
    }

    /// The seed of a task's picture.
    pub fn seed(task: &str) -> Self {
        let mut fields = Fields::new();
        fields.insert("jobId".into(), task.into());
        plain("artgen.seed", fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wished(call: &str, body: Value) -> TaskJob {
        let body = serde_json::from_value(body).expect("a call");
        match interpret(call, &body, None)
            .expect("a known call")
            .expect("a wish")
        {
            TaskAction::Job(job) => job,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_dialects_follow_up_by_the_same_action() {
        let older = wished(
            "change",
            json!({ "taskId": "t", "action": "UPSCALE", "index": 2 }),
        );
        let simple = wished("simple-change", json!({ "content": "t U2" }));
        assert_eq!(older, simple);
        assert_eq!(older.fields["action"], "upsample2");
        let wrong = serde_json::from_value(json!({ "content": "t X2" })).expect("a call");
        assert!(
            interpret("simple-change", &wrong, None)
                .expect("known")
                .is_err()
        );
    }

    #[test]
    fn speed_comes_from_the_path_or_from_the_filter() {
        let filter = json!({ "prompt": "a", "accountFilter": { "modes": ["TURBO", "FAST"] } });
        assert_eq!(wished("imagine", filter.clone()).fields["mode"], "turbo");
        let body = serde_json::from_value(filter).expect("a call");
        let Some(Ok(TaskAction::Job(job))) = interpret("imagine", &body, Some("relax")) else {
            panic!("a job")
        };
        assert_eq!(job.fields["mode"], "relax");
    }

    #[test]
    fn a_window_is_named_after_its_task() {
        let (name, _) = region_modal_id("t");
        assert_eq!(region_modal_id(&name).1, Some("t"));
        assert_eq!(region_modal_id("t").1, None);
    }
}
