//! Videos: started once, asked about until they are done, fetched at once because they are kept for an hour only.

use std::sync::atomic::Ordering;

use atelier_contract::brief::Task;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::account::OpenAi;
use super::reply;
use super::settings::{NegativeStyle, ServerDialect};
use crate::backend::{Acceptance, Class, Fault, PollOutcome, StartOutcome, Work};
use crate::downloads::Downloader;
use crate::http::{MultipartForm, VendorRequest, VendorResponse, encoded};
use crate::inputs::{self, unsupported};
use crate::vendor_errors::{self, VendorError};
use crate::videos::{self, finish_videos};

/// Identifiers are longer than this only by mistake. Those of a proxy carry another server's inside.
const MOST_ID: usize = 512;

impl OpenAi {
    /// Starts a video, or makes it where the server answers in the call.
    pub(super) async fn start_video(&self, work: &Work) -> Result<StartOutcome, Fault> {
        self.check_video(work)?;
        if let Some(started) = self.extend_there(work).await? {
            return Ok(started);
        }
        let start = match work.brief.task {
            Task::Extend(index) => {
                Some(inputs::png(videos::last_of_parent(work, usize::from(index)).await?).await?)
            }
            _ if work.sources.is_empty() => None,
            _ => Some(self.sized_source(work, 0).await?),
        };
        if self.settings.dialect == ServerDialect::Localai {
            return self.film_at_once(work, start).await;
        }
        let call = self.video_call(work, start)?;
        self.submit_video(call).await
    }

    /// What no server of this format can do is said before anything is sent.
    fn check_video(&self, work: &Work) -> Result<(), Fault> {
        let brief = &work.brief;
        let ends = self.settings.dialect == ServerDialect::Localai;
        if brief.video.is_some() || !work.cited.is_empty() {
            return Err(unsupported(
                "prompt",
                "no back end for characters is available",
            ));
        }
        if let Some(end) = brief.last_frame.filter(|_| !ends) {
            let field = brief
                .sources
                .get(end)
                .map_or("image", |source| &source.field);
            return Err(unsupported(
                field,
                "no back end for end frames is available",
            ));
        }
        if brief.looped && !ends {
            return Err(unsupported("loop", "no back end for loops is available"));
        }
        self.settings.check_size(brief)?;
        self.seconds(work).map(|_| ())
    }

    /// The length to ask for: the wanted one, or the next longer one that the server offers.
    fn seconds(&self, work: &Work) -> Result<u32, Fault> {
        let wanted = work.brief.seconds;
        let offered = &self.settings.video_seconds;
        if offered.is_empty() {
            return Ok(wanted);
        }
        let longer = offered.iter().copied().filter(|&seconds| seconds >= wanted);
        longer.min().ok_or_else(|| {
            let offered: Vec<String> = offered.iter().map(u32::to_string).collect();
            let message = format!(
                "no back end makes videos of {wanted} seconds, allowed: {}",
                offered.join(", ")
            );
            unsupported("duration", &message)
        })
    }

    fn seconds_value(&self, work: &Work) -> Result<Value, Fault> {
        let seconds = self.seconds(work)?;
        Ok(if self.settings.seconds_as_text {
            json!(seconds.to_string())
        } else {
            json!(seconds)
        })
    }

    /// The extension of a video that this worker account made, where the server can do that.
    async fn extend_there(&self, work: &Work) -> Result<Option<StartOutcome>, Fault> {
        let notes = inputs::parent_notes(work);
        let id = notes["video"].as_str();
        let (Task::Extend(_), true, Some(id)) =
            (work.brief.task, self.settings.video_extensions, id)
        else {
            return Ok(None);
        };
        let body = json!({
            "video": {"id": id},
            "prompt": self.words(&work.brief.prompt, &work.brief.negative),
            "seconds": self.seconds_value(work)?,
        });
        let call = VendorRequest::post_json("videos/extensions", &body);
        self.submit_video(call).await.map(Some)
    }

    fn video_call(&self, work: &Work, start: Option<Bytes>) -> Result<VendorRequest, Fault> {
        let brief = &work.brief;
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        put("prompt", json!(self.words(&brief.prompt, &brief.negative)));
        put("model", json!(self.model(work)?));
        put("seconds", self.seconds_value(work)?);
        let (width, height) = self.settings.video_size(brief);
        put("size", json!(format!("{width}x{height}")));
        if self.settings.negative == NegativeStyle::Field && !brief.negative.is_empty() {
            put("negative_prompt", json!(brief.negative));
        }
        if start.is_none() && self.settings.dialect != ServerDialect::VllmOmni {
            return Ok(VendorRequest::post_json("videos", &Value::Object(fields)));
        }
        let mut form = MultipartForm::of(&fields);
        if let Some(start) = start {
            form = form.file("input_reference", "start.png", "image/png", start);
        }
        let (body, media_type) = form.finish();
        Ok(VendorRequest::new(http::Method::POST, "videos").body(body, media_type))
    }

    async fn submit_video(&self, call: VendorRequest) -> Result<StartOutcome, Fault> {
        let answer = self.http.submit(call.within(self.settings.timeout)).await?;
        if !answer.is_good() {
            return Err(vendor_errors::fault_of_start(&answer));
        }
        let taken = |fault| Fault {
            taken: Acceptance::Perhaps,
            ..fault
        };
        let body = answer.json().map_err(taken)?;
        match body["id"].as_str() {
            Some(id) if is_id(id) => Ok(StartOutcome::Ticket(json!({"video": id}))),
            _ => Err(vendor_errors::unexpected(&answer)),
        }
    }

    /// Videos of a server that has no jobs: the call lasts as long as the making.
    async fn film_at_once(&self, work: &Work, start: Option<Bytes>) -> Result<StartOutcome, Fault> {
        let brief = &work.brief;
        let end = match brief.last_frame {
            Some(end) => Some(self.sized_source(work, end).await?),
            None if brief.looped => start.clone(),
            None => None,
        };
        // The only picture of a brief may be the one to end on.
        let start = start.filter(|_| brief.last_frame != Some(0));
        let (width, height) = self.settings.video_size(brief);
        let mut body = json!({
            "model": self.model(work)?,
            "prompt": brief.prompt,
            "negative_prompt": brief.negative,
            "width": width,
            "height": height,
            "response_format": "b64_json",
        });
        // The server reads `seconds` and forgets it: frames are what it makes.
        let rate = self.settings.frames_per_second;
        body["fps"] = json!(rate);
        body["num_frames"] = json!(self.seconds(work)? * rate + 1);
        if let Some(seed) = brief.seed {
            body["seed"] = json!(seed);
        }
        for (name, picture) in [("start_image", start), ("end_image", end)] {
            if let Some(bytes) = picture {
                body[name] = json!(STANDARD.encode(bytes));
            }
        }
        let above = self.http.base().path().ends_with("/v1/");
        let path = if above { "../video" } else { "video" };
        let call = VendorRequest::post_json(path, &body);
        let most = self.http.most_file();
        let image_files = self.call_for_files(call, &work.progress, 1, most);
        let image_files = work.unless_cancelled(image_files).await?;
        let clip = image_files.files.into_iter().next();
        let clip = clip.ok_or_else(|| Fault::ours("a clip without bytes"))?;
        finish_videos(work, vec![clip], Value::Null)
            .await
            .map(StartOutcome::Done)
    }

    /// A source cut to the size of the video, as the format demands.
    async fn sized_source(&self, work: &Work, index: usize) -> Result<Bytes, Fault> {
        let picture = inputs::source(work, index).await?;
        let (width, height) = match self.settings.video_size(&work.brief) {
            (0, _) | (_, 0) => inputs::size_or_usual(work),
            size => size,
        };
        inputs::png(picture.on([0; 3]).covering(width, height)).await
    }

    /// Asks how far a video is, and fetches it when it is done.
    pub(super) async fn poll_video(
        &self,
        work: &Work,
        ticket: &Value,
    ) -> Result<PollOutcome, Fault> {
        let id = ticket["video"].as_str().filter(|id| is_id(id));
        let id = id.ok_or_else(|| Fault::ours("a ticket without a video"))?;
        let answer = self
            .http
            .ask(VendorRequest::get(format!("videos/{}", encoded(id))))
            .await?;
        if !answer.is_good() {
            return match self.ended_badly(&answer) {
                Some(fault) => Ok(PollOutcome::Failed(fault)),
                None => Err(vendor_errors::of_question(vendor_errors::fault_of(&answer))),
            };
        }
        let video = answer.json()?;
        match video["status"].as_str().unwrap_or_default() {
            "completed" => self.fetch_video(work, id).await,
            "failed" | "cancelled" => Ok(PollOutcome::Failed(reply::failed(&video))),
            "deleted" => Err(Fault::vendor(Class::Gone, "the video was deleted")),
            // Queued, in progress, or a word this program does not know yet.
            _ => {
                let percent = video["progress"].as_f64().unwrap_or(0.0);
                work.progress.set(percent.clamp(0.0, 99.0) as u8);
                Ok(PollOutcome::Running(self.settings.poll))
            }
        }
    }

    /// Why a video failed, where the server says so with the status of its answer: vLLM-Omni gives the error of the
    /// video as the error of the question.
    fn ended_badly(&self, answer: &VendorResponse) -> Option<Fault> {
        let body = answer.json().ok()?;
        let says_so = body["status"] == "failed";
        let is_its_way = self.settings.dialect == ServerDialect::VllmOmni
            && matches!(answer.status, 400 | 422 | 500)
            && VendorError::read(&body).is_some();
        (says_so || is_its_way).then(|| reply::failed(&body))
    }

    async fn fetch_video(&self, work: &Work, id: &str) -> Result<PollOutcome, Fault> {
        let address = format!("videos/{}/content", encoded(id));
        let clip = Downloader::new(&self.http).file(&address).await?;
        let notes = json!({"video": id});
        finish_videos(work, vec![clip], notes)
            .await
            .map(PollOutcome::Done)
    }

    /// Deletes a video nobody wants any more. Some servers have no call for that: there it goes on and is paid for, and they
    /// are not asked again.
    pub(super) async fn delete_video(&self, ticket: &Value) {
        let id = ticket["video"].as_str().filter(|id| is_id(id));
        let Some(id) = id.filter(|_| !self.keeps_videos.load(Ordering::Relaxed)) else {
            return;
        };
        let call = VendorRequest::new(http::Method::DELETE, format!("videos/{}", encoded(id)));
        match self.http.ask(call).await {
            Ok(answer) if answer.is_good() => {}
            Ok(answer) if matches!(answer.status, 405 | 501) => {
                self.keeps_videos.store(true, Ordering::Relaxed);
                tracing::warn!(
                    "the server cannot delete videos: cancelled ones continue and are charged"
                );
            }
            Ok(answer) => {
                tracing::info!(detail = %answer.start(), "a cancelled video could not be deleted");
            }
            Err(fault) => {
                tracing::info!(detail = %fault.detail, "a cancelled video could not be deleted");
            }
        }
    }
}

/// Whether a text can be an identifier: any characters, as long as they can be sent.
fn is_id(id: &str) -> bool {
    let is_step = matches!(id, "." | "..");
    !id.is_empty() && id.len() <= MOST_ID && !is_step && !id.chars().any(char::is_control)
}
