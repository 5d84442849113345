//! What a workflow is filled with: words and numbers of the brief, and the names of pictures that were uploaded.

use atelier_contract::brief::Task;
use atelier_media::Mask;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::queue;
use super::server::{CALL, ComfyUi};
use crate::backend::{Acceptance, Fault, Work};
use crate::fit;
use crate::http::{MultipartForm, VendorRequest};
use crate::inputs::{self, unsupported};
use crate::seeds;
use crate::vendor_errors;

/// Placeholders for pictures, in the order of the sources.
const IMAGES: [&str; 5] = ["image", "image2", "image3", "image4", "image5"];
/// How far variations go from their picture, and how far an upscale that may invent does.
const SUBTLE: f64 = 0.4;
const STRONG: f64 = 0.75;
const REFINE: f64 = 0.3;

impl ComfyUi {
    /// What each prompt of a piece of work is filled with, by placeholder; its pictures are uploaded here.
    pub(super) async fn values(&self, work: &Work) -> Result<Vec<Map<String, Value>>, Fault> {
        let names = self.settings.template(work)?.names();
        let count = self.settings.prompts(work)?;
        let apart = work.brief.task == Task::Repaint && work.brief.of_grid;
        let shared = if apart {
            Map::new()
        } else {
            self.pictures(work, &names, None).await?
        };
        let mut all = Vec::new();
        for index in 0..count {
            let mut values = self.numbers(work, index as usize, count);
            values.extend(shared.clone());
            if apart {
                values.extend(self.pictures(work, &names, Some(index)).await?);
            }
            all.push(values);
        }
        Ok(all)
    }

    fn numbers(&self, work: &Work, index: usize, prompts: u32) -> Map<String, Value> {
        let brief = &work.brief;
        let fixed = brief.seed.filter(|_| work.parent.is_none());
        let seed = fixed.unwrap_or_else(|| seeds::of_job(&work.job_id));
        let wanted = inputs::size_or_usual(work);
        let (width, height) =
            fit::stepped(wanted, self.settings.size_step, self.settings.most_pixels);
        let strength = match brief.task {
            Task::Vary(_, false) => SUBTLE,
            Task::Vary(_, true) => STRONG,
            Task::Enlarge(..) | Task::CreativeUpscale => REFINE,
            _ => brief.strength,
        };
        let rate = self.settings.frames_per_second;
        let count = if prompts > 1 { 1 } else { brief.count.max(1) };
        let mut values = self.settings.values.clone();
        // What only one family knows of fills placeholders of the same name, when the operator has given them.
        if let Value::Object(extra) = &brief.extra {
            for (name, value) in extra {
                if let Some(place) = values.get_mut(name) {
                    *place = value.clone();
                }
            }
        }
        let own = json!({
            "prompt": brief.prompt,
            "negative": brief.negative,
            "model": brief.vendor_model.as_ref().unwrap_or(&brief.model),
            "seed": seeds::member(seed, index),
            "width": width,
            "height": height,
            "count": count,
            "strength": strength,
            "seconds": brief.seconds,
            "frames": brief.seconds * rate + 1,
            "frames_per_second": rate,
            "prefix": format!("atelier/{}", queue::id(&work.attempt_id, index as u32)),
            "loop": brief.looped,
        });
        if let Value::Object(own) = own {
            values.extend(own);
        }
        values
    }

    /// Uploads the pictures that the workflow asks for; `quarter` is the one of a grid that is worked on.
    async fn pictures(
        &self,
        work: &Work,
        names: &[&str],
        quarter: Option<u32>,
    ) -> Result<Map<String, Value>, Fault> {
        let mut values = Map::new();
        for (name, bytes) in self.files(work, names, quarter).await? {
            if names.contains(&name) {
                let id = queue::id(&work.attempt_id, quarter.unwrap_or(0));
                let file = format!(
                    "{id}-{name}.{}",
                    if name == "video" { "mp4" } else { "png" }
                );
                values.insert(name.to_owned(), self.uploaded(&file, bytes).await?.into());
            }
        }
        let missing = |name: &&&str| {
            (IMAGES.contains(name) || matches!(**name, "mask" | "video" | "end_image"))
                && !values.contains_key(**name)
        };
        match names.iter().find(missing) {
            Some(name) => Err(unsupported(name, "is needed by the back end")),
            None => Ok(values),
        }
    }

    async fn files(
        &self,
        work: &Work,
        names: &[&str],
        quarter: Option<u32>,
    ) -> Result<Vec<(&'static str, Bytes)>, Fault> {
        let mut files = Vec::new();
        if work.parent.is_some() && !matches!(work.brief.task, Task::Draw | Task::Reroll) {
            if let Task::Extend(index) = work.brief.task {
                let parent = work.parent.as_ref();
                let file = parent.and_then(|parent| parent.file(usize::from(index)));
                let file = file.ok_or_else(|| Fault::ours("the followed job has no video"))?;
                files.push(("video", (work.read)(file.key.clone()).await?));
            } else {
                let index = match work.brief.task {
                    Task::Upsample(index) | Task::Vary(Some(index), _) => Some(index),
                    _ => quarter.map(|quarter| quarter as u8),
                };
                let picture = inputs::parent_picture(work, index).await?;
                files.push(("image", inputs::png(picture).await?));
            }
        }
        let end = work
            .brief
            .last_frame
            .filter(|_| names.contains(&"end_image"));
        let mut places = IMAGES.iter().skip(files.len());
        for index in 0..work.sources.len() {
            let place = if end == Some(index) {
                Some(&"end_image")
            } else {
                places.next()
            };
            let Some(name) = place else { break };
            let picture = inputs::source(work, index).await?;
            files.push((name, inputs::png(picture).await?));
        }
        if let Some(drawing) = inputs::mask(work).await? {
            let drawing = match quarter {
                Some(quarter) => drawing.quarter(quarter),
                None => drawing,
            };
            let mask = match work.brief.task {
                Task::Edit => Mask::from_transparent(&drawing),
                _ => Mask::from_white(&drawing),
            };
            files.push(("mask", inputs::png(inputs::white(&mask)).await?));
        }
        Ok(files)
    }

    /// Gives the server a file, and the name it has there.
    async fn uploaded(&self, name: &str, bytes: Bytes) -> Result<String, Fault> {
        let media_type = if name.ends_with("mp4") {
            "video/mp4"
        } else {
            "image/png"
        };
        let form = MultipartForm::default()
            .file("image", name, media_type, bytes)
            .text("type", self.folder())
            .text("subfolder", "atelier")
            .text("overwrite", "true");
        let (body, media_type) = form.finish();
        let call = VendorRequest::new(http::Method::POST, "upload/image").body(body, media_type);
        let call = call.within(CALL);
        // Nothing has been started yet, whatever becomes of the upload.
        let not_taken = |fault: Fault| Fault {
            taken: Acceptance::No,
            ..fault
        };
        let answer = self.http.submit(call).await.map_err(not_taken)?;
        if !answer.is_good() {
            return Err(not_taken(vendor_errors::fault_of_start(&answer)));
        }
        let body = answer.json()?;
        let name = body["name"].as_str();
        let name = name.ok_or_else(|| not_taken(vendor_errors::unexpected(&answer)))?;
        let folder = body["subfolder"].as_str().unwrap_or_default();
        let name = match folder {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        // Nodes look among the inputs, unless the name says otherwise.
        Ok(match self.folder() {
            "temp" => format!("{name} [temp]"),
            _ => name,
        })
    }

    /// The server's folder for what is uploaded.
    fn folder(&self) -> &'static str {
        if self.settings.temporary {
            "temp"
        } else {
            "input"
        }
    }
}
