//! chat-image: an image from words and reference images, as a job.

use crate::fields::{ImageData, List, Prompt};
use crate::prelude::*;

/// One image from a conversation's words and references.
pub const FAMILY: Family = Family {
    name: "imgmodel_chat",
    title: "Chat images",
    about: "An image from words and reference images.",
    prefix: "/imgmodel/chat-image/",
    queue: "imgmodel_chat",
    submits: &[submit_job::<ChatImageGenerations>(
        "imgmodel.chat",
        "/imgmodel/chat-image/generations",
        example!("imgmodel.chat"),
    )
    .priced(&["imgmodel.chat"])
    .making(&[Task::Draw])
    .usually(|_| 60)
    .with_images()],
    fetches: &[FetchEndpoint {
        path: "/imgmodel/chat-image/fetch",
        param: "jobId",
    }],
    render: |family, job| family.framed_result(job, ChatImageResult::of(job)),
    shape: envelope_schema::<ChatImageResult>,
    ..Family::USUAL
};

/// Makes an image from a prompt and reference images.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChatImageGenerations")]
pub struct ChatImageGenerations {
    /// What to draw, in any language; phrase it as a request to draw.
    pub prompt: Prompt,
    /// URLs or base64 of reference images.
    #[serde(default)]
    pub refer_images: List<ImageData, 0, 10>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ChatImageGenerations {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = Brief::new(Task::Draw)
            .words(&self.prompt)
            .sized((1024, 1024));
        for (index, image) in self.refer_images.iter().enumerate() {
            brief = brief.from(format!("referImages[{index}]"), image.clone());
        }
        Ok(Order::new(Price::of("imgmodel.chat"), brief).hook(self.hook_url.as_ref()))
    }
}

/// The `data` of a finished image.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChatImageResult")]
struct ChatImageResult {
    /// The prompt as it was submitted.
    prompt: String,
    /// URLs of the reference images; inline ones by their names.
    refer_images: Vec<String>,
    /// URL of the image; it works for 24 hours.
    image_url: String,
    /// Quota consumed, as text.
    quota: QuotaText,
    /// When it finished, `YYYY-MM-DD HH:MM:SS` in UTC.
    finish_time: String,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
}

impl ChatImageResult {
    fn of(job: &Job) -> Option<Self> {
        let file = job.file(0)?;
        let request: ChatImageGenerations = job.request()?;
        Some(Self {
            prompt: request.prompt.to_string(),
            refer_images: request
                .refer_images
                .iter()
                .map(ImageData::to_text)
                .collect(),
            image_url: file.cdn_url.clone(),
            quota: QuotaText(job.quota),
            finish_time: job.finish_time(),
            hook_url: job.hook_url.clone(),
        })
    }
}
