//! facegen: puts the face of one image into another.

use crate::prelude::*;

/// Face swap: the face of one image put into another.
pub const FAMILY: Family = Family {
    name: "facegen",
    title: "Face swap",
    about: "Replaces the face in one image with that of another.",
    ids: JobIds::Digits("SWAP-FACE-"),
    prefix: "/facegen/",
    queue: "facegen",
    submits: &[submit_job::<FacegenSwap>(
        "facegen.swap",
        "/facegen/v1/swap",
        example!("facegen.swap"),
    )
    .priced(&["facegen.swap"])
    .making(&[Task::SwapFace])],
    fetches: &[FetchEndpoint {
        path: "/facegen/v1/fetch",
        param: "jobId",
    }],
    render: |family, job| {
        let mut body = family.framed_result(job, FacegenResult::of(job));
        if job.state != JobState::Failed {
            body["message"] = Value::Null;
        }
        body
    },
    shape: envelope_schema::<FacegenResult>,
    ..Family::USUAL
};

/// Replaces the face in `targetImage` with the face in `swapImage`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Swap")]
pub struct FacegenSwap {
    /// Template image whose face is replaced.
    pub target_image: ImageUrl,
    /// Image whose face is placed into the template.
    pub swap_image: ImageUrl,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for FacegenSwap {
    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let brief = Brief::new(Task::SwapFace)
            .from_url("targetImage", &self.target_image)
            .from_url("swapImage", &self.swap_image);
        Ok(Order::new(Price::of("facegen.swap"), brief).hook(self.hook_url.as_ref()))
    }
}

/// The `data` of a finished swap.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FacegenResult")]
struct FacegenResult {
    /// Identifier of the job, as its submit returned it.
    job_id: String,
    /// URL of the template image, as submitted.
    target_image: String,
    /// URL of the face image, as submitted.
    swap_image: String,
    /// Result on the origin host.
    origin_image: String,
    /// Result on the proxy host.
    cdn_image: String,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
    /// Quota that the job consumed.
    quota: Quota,
}

impl FacegenResult {
    fn of(job: &Job) -> Option<Self> {
        let file = job.file(0)?;
        Some(Self {
            job_id: job.id.to_string(),
            target_image: job.text("targetImage")?.to_owned(),
            swap_image: job.text("swapImage")?.to_owned(),
            origin_image: file.origin_url.clone(),
            cdn_image: file.cdn_url.clone(),
            hook_url: job.hook_url.clone(),
            quota: job.quota,
        })
    }
}
