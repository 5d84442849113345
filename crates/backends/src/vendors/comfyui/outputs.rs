//! The files of prompts that have ended, fetched and made into results.

use atelier_contract::brief::Task;
use bytes::Bytes;
use serde_json::{Value, json};

use super::server::ComfyUi;
use crate::backend::{Fault, PollOutcome, Work, WorkOutput};
use crate::downloads::Downloader;
use crate::fit;
use crate::images::{FinishOptions, finish_images};
use crate::seeds;
use crate::videos::{finish_videos, kind};

/// Files of one piece of work that are looked at; those of another kind than the wanted are not kept.
const MOST_FILES: usize = 64;

impl ComfyUi {
    /// Fetches what prompts have made.
    pub(super) async fn collected(
        &self,
        work: &Work,
        ended: &[Value],
    ) -> Result<PollOutcome, Fault> {
        let is_film = matches!(work.brief.task, Task::Animate | Task::Extend(_));
        let wanted = work.brief.count.max(1) as usize;
        let mut files = Vec::new();
        let mut downloads = Downloader::new(&self.http);
        for address in ended.iter().flat_map(addresses).take(MOST_FILES) {
            let bytes = downloads.file(&address).await?;
            if kind(&bytes).is_some() == is_film {
                files.push(bytes);
            }
            if files.len() == wanted {
                break;
            }
        }
        if files.is_empty() {
            let fault = Fault {
                detail: "the workflow saved no file of the wanted kind".to_owned(),
                ..Fault::unusable("the back end could not make this")
            };
            return Ok(PollOutcome::Failed(fault));
        }
        let made = if is_film {
            finish_videos(work, files, Value::Null).await
        } else {
            pictured(work, files).await
        };
        made.map(PollOutcome::Done)
    }
}

/// The pictures of a piece of work, cut to the size that was asked for.
async fn pictured(work: &Work, files: Vec<Bytes>) -> Result<WorkOutput, Fault> {
    let fixed = work.brief.seed.filter(|_| work.parent.is_none());
    let seed = fixed.unwrap_or_else(|| seeds::of_job(&work.job_id));
    // Upscales have the size their workflow gives them; the brief leaves it open.
    let finish = FinishOptions {
        size: fit::target(&work.brief, None),
        seed: Some(seed),
        tell_seed: work.brief.tells_seed,
        cut_out: work.brief.transparent,
        notes: json!({"seed": seed}),
        ..FinishOptions::default()
    };
    finish_images(work, files, finish).await
}

/// Where the files of a prompt are: the saved ones, or the previews when nothing was saved.
fn addresses(entry: &Value) -> Vec<String> {
    let mut nodes: Vec<_> = entry["outputs"].as_object().into_iter().flatten().collect();
    let number = |id: &str| id.parse::<u64>().unwrap_or(u64::MAX);
    nodes.sort_by(|one, other| (number(one.0), one.0).cmp(&(number(other.0), other.0)));
    let mut saved = Vec::new();
    let mut previews = Vec::new();
    for (_, node) in nodes {
        let lists = node.as_object().into_iter().flatten();
        for file in lists.filter_map(|(_, list)| list.as_array()).flatten() {
            let Some(name) = file["filename"].as_str() else {
                continue;
            };
            let kind = file["type"].as_str().unwrap_or("output");
            let query = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("filename", name)
                .append_pair("subfolder", file["subfolder"].as_str().unwrap_or_default())
                .append_pair("type", kind)
                .finish();
            let list = if kind == "output" {
                &mut saved
            } else {
                &mut previews
            };
            list.push(format!("view?{query}"));
        }
    }
    if saved.is_empty() { previews } else { saved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_files_come_before_previews_in_the_order_of_their_nodes() {
        let entry = json!({"outputs": {
            "10": {"images": [{"filename": "b.png", "subfolder": "x y", "type": "output"}]},
            "9": {"gifs": [{"filename": "a&b.mp4", "subfolder": "", "type": "output"}], "text": ["hello"]},
            "2": {"images": [{"filename": "p.png", "subfolder": "", "type": "temp"}], "animated": [true]},
        }});
        let wanted = [
            "view?filename=a%26b.mp4&subfolder=&type=output",
            "view?filename=b.png&subfolder=x+y&type=output",
        ];
        assert_eq!(addresses(&entry), wanted);
    }
}
