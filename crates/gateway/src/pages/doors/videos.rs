//! Videos in the form of the vendor's own client libraries: the jobs of vidgen-partner under other names.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::families::vidgen_partner::{FAMILY, VidgenPartnerGenerations};
use atelier_contract::fields::Text;
use atelier_contract::models::as_asked;
use atelier_contract::pages::jobs::JobCursor;
use atelier_contract::{AccountId, Code, FileRole, Job, JobId, JobState, Refusal};
use atelier_engine::records::JobFilter;
use atelier_engine::{Asset, Call, refusal_of};
use base64::Engine as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::config::Role;
use crate::http::denial::Denial;
use crate::http::form::{FormFields, FormOf};
use crate::http::idempotency::idempotency_key;
use crate::http::page::{Body, File, Json, Query};
use crate::http::request::IncomingRequest;
use crate::pages::service::assets;

/// The field that a reference picture comes in.
const REFERENCE: &str = "input_reference";

impl FormFields for VidgenPartnerGenerations {
    const FILES: &'static [&'static str] = &[REFERENCE];
    const OR_JSON: bool = true;
}

/// A video.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Video {
    /// Identifier; the job's.
    id: String,
    /// `video`.
    object: &'static str,
    /// The model.
    model: String,
    /// `queued`, `in_progress`, `completed` or `failed`.
    status: &'static str,
    /// 0 to 100.
    progress: u8,
    /// When it was accepted, in seconds since 1970.
    created_at: i64,
    /// When it was finished.
    completed_at: Option<i64>,
    /// When its file is deleted.
    expires_at: Option<i64>,
    /// Length in seconds, as text.
    seconds: String,
    /// Width and height.
    size: String,
    /// What happens.
    prompt: String,
    /// The video it was made from.
    remixed_from_video_id: Option<String>,
    /// Why it failed.
    error: Option<VideoError>,
}

/// Why a video failed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VideoError {
    /// A machine word.
    code: &'static str,
    /// A sentence.
    message: String,
}

impl Video {
    fn of(job: &Job) -> Self {
        // In the caller's words: a model of the operator's has names and sizes of its own.
        let asked = as_asked(&job.request);
        let text = |name: &str| match asked.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let failed = job.state == JobState::Failed;
        let error = failed.then(|| refusal_of(job));
        Self {
            id: job.id.to_string(),
            object: "video",
            model: text("model"),
            status: match job.state {
                JobState::Waiting => "queued",
                JobState::Running => "in_progress",
                JobState::Succeeded => "completed",
                JobState::Failed => "failed",
            },
            progress: match job.state {
                JobState::Succeeded => 100,
                _ => job.progress.min(99),
            },
            created_at: job.created_ms / 1000,
            completed_at: job.finished_ms.map(|ms| ms / 1000).filter(|_| !failed),
            expires_at: job.file(0).map(|file| file.expires_ms / 1000),
            seconds: text("seconds"),
            size: text("size"),
            prompt: text("prompt"),
            remixed_from_video_id: job.parent.as_ref().map(ToString::to_string),
            error: error.map(|refusal| VideoError {
                code: refusal.code.word(),
                message: refusal.message,
            }),
        }
    }
}

pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    form: FormOf<VidgenPartnerGenerations>,
) -> Result<Json<Video>, Denial> {
    let mut fields = form.fields;
    referred(&mut fields)?;
    for (name, bytes) in form.files {
        let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
        if fields.insert(name, encoded.into()).is_some() {
            return Err(Refusal::invalid(REFERENCE, "must be given once").into());
        }
    }
    order(app, received, fields).await
}

/// A reference may come as an object that names its address.
fn referred(fields: &mut Fields) -> Result<(), Refusal> {
    if let Some(Value::Object(object)) = fields.get(REFERENCE) {
        let address = object.get("image_url").cloned();
        let address = address.ok_or_else(|| {
            let message = "must be a file, a URL, or an object with image_url";
            Refusal::invalid(REFERENCE, message)
        })?;
        fields.insert(REFERENCE.into(), address);
    }
    Ok(())
}

async fn order(
    app: Arc<App>,
    received: IncomingRequest,
    fields: Fields,
) -> Result<Json<Video>, Denial> {
    let callers = app.engine.admin().callers();
    let caller = callers.refreshed(received.caller()?).await?;
    let (account, submit) = (caller.account_id.clone(), &FAMILY.submits[0]);
    let call = Call {
        caller,
        family: &FAMILY,
        submit,
        fields,
        files: Vec::new(),
        idempotency_key: idempotency_key(&received.head.headers)?,
        custody: received.from.role == Role::Custody && FAMILY.custody,
        notes: Fields::new(),
        begun: received.admission.waits_since(),
    };
    let work = async move {
        let submitted = app.engine.intake().submit(call).await?;
        app.engine.jobs().job(&account, &submitted.job_id).await
    };
    let job = received.admission.spend(work).await??;
    Ok(Json(Video::of(&job)))
}

/// A new video after an earlier one.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Remix {
    /// What happens instead.
    prompt: Text<32000>,
}

/// Makes a video like an earlier one, of its size and length.
pub(crate) async fn remix(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<Remix>,
) -> Result<Json<Video>, Denial> {
    let parent = video(&app, &received).await?;
    let mut fields = Fields::new();
    fields.insert("prompt".into(), wish.prompt.to_string().into());
    fields.insert(
        VidgenPartnerGenerations::REMIX_OF.into(),
        parent.id.as_str().into(),
    );
    order(app, received, fields).await
}

/// The job that the path names, if it is a video's.
async fn video(app: &App, received: &IncomingRequest) -> Result<Job, Refusal> {
    let id = JobId::new(received.param(0));
    let job = app.engine.jobs().job(received.account()?, &id).await?;
    if FAMILY
        .submits
        .iter()
        .any(|submit| submit.name == job.operation)
    {
        Ok(job)
    } else {
        Err(Refusal::job_not_found())
    }
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<Video>, Denial> {
    Ok(Json(Video::of(&video(&app, &received).await?)))
}

/// Where a list goes on.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct VideoListQuery {
    /// The last video of the page before.
    #[serde(default)]
    after: Option<JobId>,
    /// Videos on a page.
    #[serde(default)]
    limit: atelier_contract::fields::Count<1, 100, 20>,
    /// `desc` (newest first) or `asc`.
    #[serde(default)]
    order: Option<String>,
}

/// A list of videos.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VideoList {
    /// `list`.
    object: &'static str,
    /// The videos.
    data: Vec<Video>,
    /// The first of them.
    first_id: Option<String>,
    /// The last of them.
    last_id: Option<String>,
    /// Whether there are more.
    has_more: bool,
}

/// Where a video is in the list.
async fn place_of(app: &App, account: &AccountId, id: &JobId) -> Result<JobCursor, Refusal> {
    match app.engine.jobs().job(account, id).await {
        Ok(job) => Ok(JobCursor {
            created_ms: job.created_ms,
            id: job.id.to_string(),
        }),
        Err(refusal) if refusal.code == Code::JobNotFound => {
            let message = "must be the id of a video of this account";
            Err(Refusal::invalid("after", message))
        }
        Err(refusal) => Err(refusal),
    }
}

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(wish): Query<VideoListQuery>,
) -> Result<Json<VideoList>, Denial> {
    let ascending = match wish.order.as_deref() {
        None | Some("desc") => false,
        Some("asc") => true,
        Some(_) => return Err(Refusal::invalid("order", "must be asc or desc").into()),
    };
    let account = received.account()?;
    let operations = FAMILY.submits.iter().map(|one| one.name.to_owned());
    let filter = JobFilter {
        operations: operations.collect(),
        ascending,
        after: match &wish.after {
            Some(id) => Some(place_of(&app, account, id).await?),
            None => None,
        },
        ..JobFilter::page(1, wish.limit.get())
    };
    let found = app.engine.jobs().list(Some(account), filter).await?;
    let has_more = found.next.is_some();
    let data: Vec<Video> = found.rows.iter().map(Video::of).collect();
    Ok(Json(VideoList {
        object: "list",
        first_id: data.first().map(|video| video.id.clone()),
        last_id: data.last().map(|video| video.id.clone()),
        has_more,
        data,
    }))
}

/// Which file of a video.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Variant {
    /// `video` (the default) or `thumbnail`.
    #[serde(default)]
    variant: Option<String>,
}

/// Hands out a video's file.
pub(crate) async fn content(
    app: Arc<App>,
    received: IncomingRequest,
    Query(wish): Query<Variant>,
) -> Result<File, Denial> {
    let job = video(&app, &received).await?;
    let file = match wish.variant.as_deref() {
        None | Some("video") => job.file(0),
        Some("thumbnail") => job.files(FileRole::FirstFrame).next(),
        Some(_) => {
            return Err(Refusal::invalid("variant", "must be video or thumbnail").into());
        }
    };
    let Some(file) = file else {
        let message = match job.state {
            JobState::Succeeded => "the video has no such file",
            JobState::Failed => "the video failed and has no file",
            _ => "the video has not finished",
        };
        return Err(Refusal::new(Code::ParentNotFinished, message).into());
    };
    if file.expires_ms <= app.engine.now_ms() {
        return Err(Refusal::new(Code::Expired, "the file has expired").into());
    }
    let asset = Asset {
        etag: format!("\"{:x}-{:x}\"", job.created_ms, file.bytes),
        key: file.key.clone(),
        account_id: Arc::clone(received.account()?.shared()),
        media_type: file.media_type.clone(),
        bytes: file.bytes,
        expires_ms: file.expires_ms,
    };
    assets::hand_out(&app, &received, &asset).await
}

/// A video that is gone.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Deleted")]
pub(crate) struct DeletedVideo {
    /// Identifier.
    id: String,
    /// `video.deleted`.
    object: &'static str,
    /// `true`.
    deleted: bool,
}

/// Cancels a video that has not finished, and removes one that has.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<DeletedVideo>, Denial> {
    let job = video(&app, &received).await?;
    let account = received.account()?;
    // One that finishes at this very moment is removed like every other.
    let over = job.state.is_final() || app.engine.jobs().cancel(account, &job.id).await.is_err();
    if over {
        app.engine.jobs().delete(account, &job.id).await?;
    }
    Ok(Json(DeletedVideo {
        id: job.id.to_string(),
        object: "video.deleted",
        deleted: true,
    }))
}
