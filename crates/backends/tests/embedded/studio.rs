//! A service around the embedded engine: requests go the way a call goes, files lie in a map, finished jobs can be
//! followed up on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use atelier_backends::backend::{BoxFuture, FileReader, ProgressTracker};
#[cfg(feature = "studio")]
use atelier_backends::embedded::EmbeddedEngine;
#[cfg(feature = "studio")]
use atelier_backends::{Backend, StartOutcome, StudioSettings};
use atelier_backends::{Fault, Work, WorkOutput};
use atelier_contract::body::parse_object;
use atelier_contract::fields::ImageData;
use atelier_contract::operation::ReferencedJobs;
use atelier_contract::{File, FileRole, Job, JobId, JobState, Notes, Output, Quota, operation};
use atelier_media::{Encoding, Limits, Picture, decode, encode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "studio")]
use crate::defaults::studio_defaults;

pub(crate) struct Studio {
    #[cfg(feature = "studio")]
    pub(crate) backend: EmbeddedEngine,
    asset_store: Arc<Mutex<HashMap<String, Bytes>>>,
    jobs: AtomicUsize,
}

impl Studio {
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(feature = "studio")]
            backend: EmbeddedEngine::new(&studio_defaults()),
            asset_store: Arc::default(),
            jobs: AtomicUsize::new(0),
        }
    }

    #[cfg(feature = "studio")]
    pub(crate) fn with(settings: &StudioSettings) -> Self {
        Self {
            backend: EmbeddedEngine::new(settings),
            asset_store: Arc::default(),
            jobs: AtomicUsize::new(0),
        }
    }

    /// Puts a picture where an address leads to, and gives the address.
    pub(crate) fn host(&self, name: &str, picture: &Picture) -> String {
        self.host_bytes(name, encode(picture, Encoding::Png, None).into())
    }

    pub(crate) fn host_bytes(&self, name: &str, bytes: Bytes) -> String {
        let url = format!("https://pictures.example/{name}");
        self.asset_store
            .lock()
            .expect("no panic")
            .insert(url.clone(), bytes);
        url
    }

    pub(crate) fn read(&self, key: &str) -> Bytes {
        let asset_store = self.asset_store.lock().expect("no panic");
        asset_store
            .get(key)
            .unwrap_or_else(|| panic!("no {key}"))
            .clone()
    }

    /// The attempt a body comes to, and the job it belongs to.
    pub(crate) fn work(&self, name: &str, body: &Value, parent: Option<&Job>) -> (Work, Job) {
        self.work_citing(name, body, parent, &[])
    }

    pub(crate) fn work_citing(
        &self,
        name: &str,
        body: &Value,
        parent: Option<&Job>,
        cited: &[Job],
    ) -> (Work, Job) {
        let (_, submit) = operation(name).expect(name);
        let fields = parse_object(body.to_string().as_bytes()).expect("an object");
        let request = (submit.parse)(fields).unwrap_or_else(|refusal| panic!("{refusal}"));
        let order = request.order(ReferencedJobs { parent, cited });
        let order = order.unwrap_or_else(|refusal| panic!("{refusal}"));
        let number = self.jobs.fetch_add(1, Ordering::Relaxed);
        let job = job(number, name, order.stored(request.as_ref()), &order);
        let brief = order.brief;
        let sources = brief.sources.iter().map(|one| self.input(&one.image));
        let hints = brief.hints.iter();
        let hints = hints.map(|hint| self.input(&hint.source.image));
        let work = Work {
            job_id: job.id.clone(),
            attempt_id: format!("{}-1", job.id),
            whose: "somebody".into(),
            long: false,
            reserved: atelier_fairness::reservation::Reservation::default(),
            operation: name.to_owned(),
            request: job.request.clone(),
            sources: sources.collect(),
            hints: hints.collect(),
            mask: brief.mask.as_ref().map(|mask| self.input(&mask.image)),
            video: brief.video.as_ref().map(|(_, url)| self.read(url.as_str())),
            parent: parent.cloned().map(Arc::new),
            cited: cited.iter().cloned().map(Arc::new).collect(),
            read: self.reader(),
            progress: ProgressTracker::default(),
            cancelled: CancellationToken::new(),
            hook_url: None,
            brief: *brief,
        };
        (work, job)
    }

    fn input(&self, image: &ImageData) -> Bytes {
        match image {
            ImageData::Url(url) => self.read(url.as_str()),
            ImageData::Inline(inline) => {
                Bytes::copy_from_slice(inline.bytes.as_deref().expect("inline bytes"))
            }
        }
    }

    fn reader(&self) -> FileReader {
        let asset_store = self.asset_store.clone();
        Arc::new(
            move |key: String| -> BoxFuture<'static, Result<Bytes, Fault>> {
                let found = asset_store.lock().expect("no panic").get(&key).cloned();
                Box::pin(
                    async move { found.ok_or_else(|| Fault::unusable(format!("no file {key}"))) },
                )
            },
        )
    }

    #[cfg(feature = "studio")]
    pub(crate) async fn make(&self, work: Work) -> Result<WorkOutput, Fault> {
        match self.backend.start(work).await? {
            StartOutcome::Done(made) => Ok(made),
            StartOutcome::Ticket(_) => panic!("the embedded engine gives no tickets"),
        }
    }

    /// Works on a request and stores what was made, as the runner does.
    #[cfg(feature = "studio")]
    pub(crate) async fn finish(&self, name: &str, body: &Value, parent: Option<&Job>) -> Job {
        let (work, job) = self.work(name, body, parent);
        let made = self.make(work).await;
        self.settle(job, made.unwrap_or_else(|fault| panic!("{fault:?}")))
    }

    pub(crate) fn settle(&self, mut job: Job, made: WorkOutput) -> Job {
        let mut output = Output {
            prompts: made.prompts,
            seed: made.seed,
            revised_prompt: made.revised_prompt,
            alias: made.alias,
            made: made.made,
            ignored: made.ignored,
            notes: Notes::of(&made.notes),
            files: Vec::new(),
        };
        for (number, file) in made.files.into_iter().enumerate() {
            let key = format!("out/{}/{number}", job.id);
            output.files.push(File {
                key: key.clone(),
                role: file.role,
                media_type: file.media_type.to_owned(),
                width: file.width,
                height: file.height,
                bytes: file.bytes.len() as u64,
                ..File::default()
            });
            self.asset_store
                .lock()
                .expect("no panic")
                .insert(key, file.bytes);
        }
        // What is stored is text, so notes must survive it.
        let text = serde_json::to_string(&output).expect("an output");
        job.output = Some(serde_json::from_str(&text).expect("an output"));
        job.state = JobState::Succeeded;
        job
    }

    /// The decoded picture of a finished job.
    pub(crate) fn picture(&self, job: &Job, role: FileRole, index: usize) -> Picture {
        let file = job.files(role).nth(index).expect("a file");
        let picture = decode(&self.read(&file.key), Limits::default()).expect("a picture");
        assert_eq!((picture.width, picture.height), (file.width, file.height));
        picture
    }
}

fn job(
    number: usize,
    name: &str,
    request: atelier_contract::body::Fields,
    order: &atelier_contract::operation::Order,
) -> Job {
    Job {
        id: JobId::new(format!("019a0000-0000-7000-8000-{number:012}")),
        operation: name.to_owned(),
        state: JobState::Running,
        progress: 0,
        message: None,
        fault: None,
        request,
        output: None,
        speed: order.speed,
        price: Quota::ZERO,
        quota: Quota::ZERO,
        parent: None,
        hook_url: None,
        hook_times: 0,
        created_ms: 0,
        started_ms: None,
        finished_ms: None,
        deadline_ms: 0,
        updated_ms: 0,
        revision: 1,
        price_lines: Vec::new(),
        spender: atelier_contract::Spender::default(),
    }
}

/// A picture as bare base64 of a PNG.
pub(crate) fn base64(picture: &Picture) -> String {
    STANDARD.encode(encode(picture, Encoding::Png, None))
}

/// A picture as a data-URI.
pub(crate) fn data_uri(picture: &Picture) -> String {
    format!("data:image/png;base64,{}", base64(picture))
}

/// A picture with a shape in it, for inputs that come from outside.
pub(crate) fn photo(width: u32, height: u32, hue: u8) -> Picture {
    Picture::drawn(width, height, |x, y| {
        let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
        let near = (u - 0.5).hypot(v - 0.55) < 0.22;
        let ripple = ((u * 37.0).sin() * (v * 29.0).cos() * 14.0) as i16;
        let base = if near {
            [230, i16::from(hue), 60]
        } else {
            [
                i16::from(hue) / 2,
                90 + (v * 90.0) as i16,
                190 - (u * 80.0) as i16,
            ]
        };
        let [r, g, b] = base.map(|value| (value + ripple).clamp(0, 255) as u8);
        [r, g, b, 255]
    })
}

/// The mean difference of two pictures of one size, 0 to 255.
pub(crate) fn difference(one: &Picture, other: &Picture) -> f64 {
    assert_eq!((one.width, one.height), (other.width, other.height));
    let sum: u64 = one
        .rgba
        .iter()
        .zip(&other.rgba)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    sum as f64 / one.rgba.len() as f64
}
