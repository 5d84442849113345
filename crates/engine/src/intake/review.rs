//! An optional second opinion on words and pictures before they are accepted: a moderation endpoint in OpenAI's format.

use std::sync::OnceLock;
use std::time::Duration;

use atelier_backends::http::{VendorHttp, VendorRequest};
use atelier_contract::brief::{Brief, Source};
use atelier_contract::fields::ImageData;
use atelier_contract::operation::Request;
use atelier_contract::{Code, Refusal};
use base64::Engine as _;
use serde_json::{Value, json};

use crate::context::Context;
use crate::settings::PromptSettings;

/// The header line that tells the endpoint how strictly a caller wants to be reviewed, where it asked for less.
const MODERATION_HEADER: &str = "x-moderation";
/// How long the endpoint may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// Asks the endpoint, if there is one.
#[derive(Default)]
pub(super) struct Review(OnceLock<Result<VendorHttp, String>>);

impl Review {
    /// Refuses what the endpoint flags. When it cannot be asked, the settings say what that means.
    pub(super) async fn check(
        &self,
        context: &Context,
        request: &dyn Request,
        brief: &Brief,
    ) -> Result<(), Refusal> {
        let settings = &context.settings().prompts;
        if !settings.is_moderated() {
            return Ok(());
        }
        let input = input(request, brief, settings.moderation_pictures);
        let wish = brief.model_words.get("moderation");
        self.judge(context, settings, input, wish.and_then(Value::as_str))
            .await
    }

    /// The same for the words that a prompt was put into.
    pub(super) async fn check_words(&self, context: &Context, words: &str) -> Result<(), Refusal> {
        let settings = &context.settings().prompts;
        if !settings.is_moderated() {
            return Ok(());
        }
        let input = vec![json!({ "type": "text", "text": words })];
        self.judge(context, settings, input, None).await
    }

    async fn judge(
        &self,
        context: &Context,
        settings: &PromptSettings,
        input: Vec<Value>,
        wish: Option<&str>,
    ) -> Result<(), Refusal> {
        if input.is_empty() {
            return Ok(());
        }
        let http = self.0.get_or_init(|| connect(context, settings));
        let judged = match http {
            Ok(http) => ask(http, settings, input, wish).await,
            Err(why) => Err(why.clone()),
        };
        match judged {
            Ok(None) => Ok(()),
            Ok(Some(what)) => {
                let message = format!("the review refused the request: {what}");
                Err(Refusal::new(Code::BannedPrompt, message))
            }
            Err(why) if settings.moderation_fail_closed => {
                tracing::error!(
                    why,
                    "the moderation endpoint is unreachable; the call is rejected"
                );
                let message = "the request cannot be reviewed now; try again shortly";
                Err(Refusal::new(Code::Overloaded, message))
            }
            Err(why) => {
                tracing::warn!(
                    why,
                    "the moderation endpoint is unreachable; the call continues"
                );
                Ok(())
            }
        }
    }
}

fn connect(context: &Context, settings: &PromptSettings) -> Result<VendorHttp, String> {
    let http = context.outbound().vendor(&settings.moderation_url, true);
    let http = http.map_err(|why| why.to_string())?;
    if settings.moderation_key.is_empty() {
        return Ok(http);
    }
    let key = format!("Bearer {}", settings.moderation_key.reveal());
    let http = http.with_header("authorization", "prompts.moderation_key", &key);
    http.map_err(|why| why.to_string())
}

/// The words and pictures of a request, as the endpoint reads them.
fn input(request: &dyn Request, brief: &Brief, pictures: bool) -> Vec<Value> {
    let words = request.prompts().into_iter();
    let mut input: Vec<Value> = words
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(_, text)| json!({ "type": "text", "text": text }))
        .collect();
    if pictures {
        let pictures = brief.inputs().filter_map(picture);
        input.extend(
            pictures.map(|url| json!({ "type": "image_url", "image_url": { "url": url } })),
        );
    }
    input
}

fn picture(source: &Source) -> Option<String> {
    match &source.image {
        ImageData::Url(url) => Some(url.as_str().to_owned()),
        ImageData::Inline(inline) => {
            let (bytes, header) = (inline.bytes.as_ref()?, inline.header?);
            let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
            Some(format!("data:{};base64,{encoded}", header.media_type))
        }
    }
}

/// What was flagged, if anything was.
async fn ask(
    http: &VendorHttp,
    settings: &PromptSettings,
    input: Vec<Value>,
    wish: Option<&str>,
) -> Result<Option<String>, String> {
    let mut body = json!({ "input": input });
    if !settings.moderation_model.is_empty() {
        body["model"] = settings.moderation_model.as_str().into();
    }
    let mut call = VendorRequest::post_json("moderations", &body).within(PATIENCE);
    // Beside the body, whose fields are the endpoint's own.
    if wish == Some("low") {
        call = call.header(MODERATION_HEADER, "low");
    }
    let answer = http.ask(call).await.map_err(|fault| fault.detail)?;
    if !answer.is_good() {
        return Err(answer.start());
    }
    let answer = answer.json().map_err(|fault| fault.detail)?;
    let results = answer["results"].as_array();
    let results = results.ok_or("the answer has no results")?;
    let flagged = results.iter().find(|one| one["flagged"] == true);
    Ok(flagged.map(|one| {
        let categories = one["categories"].as_object().into_iter().flatten();
        let true_ones = categories.filter(|(_, value)| **value == true);
        let names: Vec<&str> = true_ones.map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    }))
}
