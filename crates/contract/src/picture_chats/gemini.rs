//! Gemini's calls for pictures: `generateContent`, the same as a stream, and `predict`, which its older picture models have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::wish::{PictureWish, left, take};
use crate::body::Fields;
use crate::families::imgmodel::CallTokens;
use crate::family::{FinishedJob, to_json};
use crate::job::{File, FileRole, Job};
use crate::kept::CHAT_MODEL;
use crate::refusal::{Code, Refusal};

/// What is to be done, as the path says behind its last colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeminiAction {
    /// The answer, when it is there.
    Generate,
    /// The answer as events.
    Stream,
    /// Pictures in the form of the older models.
    Predict,
}

impl GeminiAction {
    /// The model and the action of a path below `models/`.
    pub fn split(path: &str) -> Result<(&str, Self), Refusal> {
        let (model, action) = path.rsplit_once(':').unwrap_or((path, ""));
        let action = match action {
            "generateContent" => Self::Generate,
            "streamGenerateContent" => Self::Stream,
            "predict" => Self::Predict,
            _ => {
                let message = "models have generateContent, streamGenerateContent and predict here, as in \
                               /v1beta/models/chat-image:generateContent";
                return Err(Refusal::new(Code::NotFound, message));
            }
        };
        // Both ways to write a model's name are in use.
        let model = model.strip_prefix("models/").unwrap_or(model);
        Ok((model, action))
    }
}

/// A call for pictures. The last content of the user counts, with its images; most of the settings have no effect.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GeminiCall")]
#[serde(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "only its shape is told; the fields are read as they came"
)]
pub struct GeminiCall {
    /// The conversation: `{"role": "user", "parts": [{"text": …}, {"inlineData": {"mimeType": …, "data": …}}]}`.
    #[serde(default)]
    contents: Option<Value>,
    /// `imageConfig.aspectRatio` and `candidateCount` count, where the model has a choice.
    #[serde(default)]
    generation_config: Option<Value>,
    /// Of `predict`: `[{"prompt": …}]`.
    #[serde(default)]
    instances: Option<Value>,
    /// Of `predict`: `sampleCount` and `aspectRatio` count.
    #[serde(default)]
    parameters: Option<Value>,
}

impl GeminiCall {
    /// What a call asks for.
    pub fn read(action: GeminiAction, fields: Fields) -> Result<PictureWish, Refusal> {
        match action {
            GeminiAction::Predict => predict(fields),
            GeminiAction::Generate | GeminiAction::Stream => generate(fields),
        }
    }
}

fn generate(mut fields: Fields) -> Result<PictureWish, Refusal> {
    let mut wish = PictureWish::default();
    read_contents(&mut fields, &mut wish)?;
    let config = take(&mut fields, &["generationConfig", "generation_config"]);
    if let Some(Value::Object(mut config)) = config {
        // Pictures are all that there is.
        take(&mut config, &["responseModalities", "response_modalities"]);
        let count = take(&mut config, &["candidateCount", "candidate_count"]);
        wish.count = count.map(|count| ("generationConfig.candidateCount".to_owned(), count));
        let image = take(&mut config, &["imageConfig", "image_config"]);
        if let Some(Value::Object(mut image)) = image {
            let ratio = take(&mut image, &["aspectRatio", "aspect_ratio"]);
            wish.ratio = ratio_at("generationConfig.imageConfig.aspectRatio", ratio);
            wish.ignore(left("generationConfig.imageConfig", image));
        }
        wish.ignore(left("generationConfig", config));
    }
    wish.ignore(left("", fields));
    Ok(wish)
}

fn ratio_at(field: &str, ratio: Option<Value>) -> Option<(String, String)> {
    let ratio = ratio?.as_str()?.to_owned();
    Some((field.to_owned(), ratio))
}

/// The words and images of the last content of the user.
fn read_contents(fields: &mut Fields, wish: &mut PictureWish) -> Result<(), Refusal> {
    let contents = match take(fields, &["contents"]) {
        Some(Value::Array(contents)) => contents,
        Some(one @ Value::Object(_)) => vec![one],
        None => return Err(Refusal::missing("contents")),
        Some(_) => return Err(Refusal::invalid("contents", "must be a list")),
    };
    let is_user = |content: &Value| matches!(content["role"].as_str(), None | Some("user" | ""));
    let Some(index) = contents.iter().rposition(is_user) else {
        return Err(Refusal::invalid("contents", "must have one of the user"));
    };
    let place = format!("contents[{index}].parts");
    let parts = contents
        .into_iter()
        .nth(index)
        .map(|mut one| one["parts"].take());
    let parts = match parts {
        Some(Value::Array(parts)) => parts,
        Some(one @ Value::Object(_)) => vec![one],
        _ => return Err(Refusal::missing(&place)),
    };
    let mut words = Vec::new();
    for (index, mut part) in parts.into_iter().enumerate() {
        let place = format!("{place}[{index}]");
        if let Value::String(text) = part["text"].take() {
            words.push(text);
        } else if let Some(image) = image_of(&mut part) {
            wish.images.push((place, image));
        } else {
            wish.ignore([place]);
        }
    }
    say(wish, words.join("\n").trim(), place)
}

fn say(wish: &mut PictureWish, prompt: &str, place: String) -> Result<(), Refusal> {
    if prompt.is_empty() {
        return Err(Refusal::invalid(&place, "must say what to draw"));
    }
    prompt.clone_into(&mut wish.prompt);
    wish.prompt_field = place;
    Ok(())
}

/// The image of a part: its base64, or its address.
fn image_of(part: &mut Value) -> Option<Value> {
    let part = part.as_object_mut()?;
    if let Some(Value::Object(mut inline)) = take(part, &["inlineData", "inline_data"]) {
        return match inline.remove("data") {
            Some(Value::String(data)) => Some(usual_base64(data).into()),
            _ => None,
        };
    }
    let Some(Value::Object(mut file)) = take(part, &["fileData", "file_data"]) else {
        return None;
    };
    take(&mut file, &["fileUri", "file_uri"]).filter(Value::is_string)
}

/// Base64 in the usual alphabet: Google's library for Python writes that of addresses. What has a colon is an address itself.
fn usual_base64(data: String) -> String {
    if data.contains(':') || !data.contains(['-', '_']) {
        return data;
    }
    data.replace('-', "+").replace('_', "/")
}

fn predict(mut fields: Fields) -> Result<PictureWish, Refusal> {
    let mut wish = PictureWish::default();
    let instance = match take(&mut fields, &["instances"]) {
        Some(Value::Array(mut instances)) if instances.len() == 1 => instances.remove(0),
        Some(one @ Value::Object(_)) => one,
        None => return Err(Refusal::missing("instances")),
        Some(_) => return Err(Refusal::invalid("instances", "must be a list of one")),
    };
    let Value::Object(mut instance) = instance else {
        return Err(Refusal::missing("instances[0].prompt"));
    };
    let prompt = take(&mut instance, &["prompt"]);
    let prompt = prompt.as_ref().and_then(Value::as_str).unwrap_or_default();
    say(&mut wish, prompt.trim(), "instances[0].prompt".to_owned())?;
    if let Some(Value::Object(mut image)) = take(&mut instance, &["image"])
        && let Some(bytes) = image.remove("bytesBase64Encoded").filter(Value::is_string)
    {
        wish.images
            .push(("instances[0].image.bytesBase64Encoded".to_owned(), bytes));
    }
    wish.ignore(left("instances[0]", instance));
    if let Some(Value::Object(mut parameters)) = take(&mut fields, &["parameters"]) {
        let count = take(&mut parameters, &["sampleCount"]);
        wish.count = count.map(|count| ("parameters.sampleCount".to_owned(), count));
        let ratio = take(&mut parameters, &["aspectRatio"]);
        wish.ratio = ratio_at("parameters.aspectRatio", ratio);
        wish.ignore(left("parameters", parameters));
    }
    wish.ignore(left("", fields));
    Ok(wish)
}

/// What the model says, or the pictures of `predict`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GeminiAnswer {
    /// Each picture with the end of its message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<GeminiCandidate>,
    /// Of `predict`: the pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    predictions: Vec<GeminiPrediction>,
    /// Tokens, estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<GeminiUsage>,
    /// The model, as it was asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    model_version: String,
    /// Identifier; the job's.
    #[serde(skip_serializing_if = "String::is_empty")]
    response_id: String,
}

/// A picture as a message.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GeminiCandidate {
    /// The message.
    content: GeminiContent,
    /// `STOP`; not there while more comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'static str>,
    /// Its place, from 0.
    index: usize,
}

/// A message.
#[derive(Serialize, JsonSchema)]
struct GeminiContent {
    /// `model`.
    role: &'static str,
    /// What it is made of.
    parts: Vec<GeminiPart>,
}

/// A part of a message.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum GeminiPart {
    /// A picture.
    Picture {
        #[serde(rename = "inlineData")]
        inline_data: GeminiBlob,
    },
    /// How far it is, as a thought, which is no part of the answer.
    Thought { text: String, thought: bool },
}

/// The bytes of a picture.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GeminiBlob {
    /// Media type, such as `image/png`.
    mime_type: String,
    /// The file in base64.
    data: String,
}

/// A picture of `predict`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GeminiPrediction {
    /// Media type, such as `image/png`.
    mime_type: String,
    /// The file in base64.
    bytes_base64_encoded: String,
}

/// Tokens, estimated by the size of what went in and out.
#[derive(Serialize, JsonSchema)]
struct GeminiUsage {
    #[serde(rename = "promptTokenCount")]
    prompt: u64,
    #[serde(rename = "candidatesTokenCount")]
    candidates: u64,
    #[serde(rename = "totalTokenCount")]
    total: u64,
}

impl GeminiAnswer {
    /// What the model says of a finished job.
    pub fn of(finished: &FinishedJob<'_>) -> Self {
        let pictures = pictures(finished).enumerate();
        let candidates = pictures.map(|(index, (file, bytes))| GeminiCandidate {
            content: GeminiContent {
                role: "model",
                parts: vec![GeminiPart::Picture {
                    inline_data: GeminiBlob {
                        mime_type: file.media_type.clone(),
                        data: bytes.clone(),
                    },
                }],
            },
            finish_reason: Some("STOP"),
            index,
        });
        let CallTokens { input, output } = CallTokens::of(finished.job);
        Self {
            candidates: candidates.collect(),
            usage_metadata: Some(GeminiUsage {
                prompt: input,
                candidates: output,
                total: input + output,
            }),
            ..Self::empty(finished.job)
        }
    }

    /// The pictures of a finished job, as `predict` answers them.
    pub fn predicted(finished: &FinishedJob<'_>) -> Self {
        let pictures = pictures(finished).map(|(file, bytes)| GeminiPrediction {
            mime_type: file.media_type.clone(),
            bytes_base64_encoded: bytes.clone(),
        });
        Self {
            predictions: pictures.collect(),
            model_version: String::new(),
            response_id: String::new(),
            ..Self::empty(finished.job)
        }
    }

    /// An event that says how far a job is.
    pub fn progress(job: &Job) -> Value {
        let text = format!("{} %\n", job.progress.min(99));
        to_json(&Self {
            candidates: vec![GeminiCandidate {
                content: GeminiContent {
                    role: "model",
                    parts: vec![GeminiPart::Thought {
                        text,
                        thought: true,
                    }],
                },
                finish_reason: None,
                index: 0,
            }],
            ..Self::empty(job)
        })
    }

    fn empty(job: &Job) -> Self {
        Self {
            candidates: Vec::new(),
            predictions: Vec::new(),
            usage_metadata: None,
            model_version: job.text(CHAT_MODEL).unwrap_or_default().to_owned(),
            response_id: job.id.to_string(),
        }
    }
}

fn pictures<'a>(finished: &'a FinishedJob<'_>) -> impl Iterator<Item = (&'a File, &'a String)> {
    finished.job.files(FileRole::Main).zip(finished.base64)
}

/// The models as Gemini lists them.
#[derive(Serialize, JsonSchema)]
pub struct GeminiModels {
    models: Vec<GeminiModel>,
}

/// A model as Gemini shows it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GeminiModel {
    /// `models/` and its name.
    name: String,
    /// Its name as people read it.
    display_name: String,
    /// What can be asked of it.
    supported_generation_methods: Vec<&'static str>,
}

impl GeminiModels {
    /// Models by their names and titles.
    pub fn of(models: impl IntoIterator<Item = (String, String)>) -> Self {
        let models = models.into_iter().map(|(name, title)| GeminiModel {
            name: format!("models/{name}"),
            display_name: title,
            supported_generation_methods: vec![
                "generateContent",
                "streamGenerateContent",
                "predict",
            ],
        });
        Self {
            models: models.collect(),
        }
    }
}

/// What Gemini's clients read of a refusal, beside the service's own words.
pub fn gemini_error(refusal: &Refusal) -> Map<String, Value> {
    let status = match refusal.code {
        Code::Unauthorized => "UNAUTHENTICATED",
        Code::Forbidden => "PERMISSION_DENIED",
        Code::NotFound => "NOT_FOUND",
        Code::RateLimited | Code::QueueFull | Code::InsufficientQuota | Code::KeyLimit => {
            "RESOURCE_EXHAUSTED"
        }
        Code::Overloaded => "UNAVAILABLE",
        Code::BackendTimeout => "DEADLINE_EXCEEDED",
        code if code.status() >= 500 => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    let error =
        json!({ "code": refusal.code.status(), "message": refusal.message, "status": status });
    let mut fields = Map::new();
    fields.insert("error".to_owned(), error);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(action: GeminiAction, body: Value) -> Result<PictureWish, Refusal> {
        let Value::Object(fields) = body else {
            panic!("an object")
        };
        GeminiCall::read(action, fields)
    }

    #[test]
    fn a_path_is_split_at_its_last_colon() {
        assert_eq!(
            GeminiAction::split("a:b/c:generateContent"),
            Ok(("a:b/c", GeminiAction::Generate))
        );
        assert_eq!(
            GeminiAction::split("models/a:predict"),
            Ok(("a", GeminiAction::Predict))
        );
        for path in ["a", "a:countTokens", "a:", ":"] {
            let refusal = GeminiAction::split(path).expect_err("refused");
            assert_eq!(refusal.code, Code::NotFound, "{path}");
        }
    }

    /// The spellings of Google's libraries, of Open WebUI and of LiteLLM.
    #[test]
    fn contents_are_read_in_every_spelling() {
        for body in [
            json!({ "contents": [{ "role": "user", "parts": [{ "text": "a boat" }, { "inlineData": { "mimeType": "image/png", "data": "AA==" } }] }],
                    "generationConfig": { "responseModalities": ["IMAGE"], "imageConfig": { "aspectRatio": "16:9", "imageSize": "1K" } } }),
            json!({ "contents": [{ "parts": [{ "text": "a boat" }, { "inline_data": { "mime_type": "image/png", "data": "AA==" } }] }],
                    "generation_config": { "response_modalities": ["IMAGE"], "image_config": { "aspect_ratio": "16:9", "imageSize": "1K" } } }),
            json!({ "contents": { "parts": [{ "text": "a boat" }, { "fileData": { "fileUri": "AA==" } }] },
                    "generationConfig": { "imageConfig": { "aspectRatio": "16:9", "imageSize": "1K" } } }),
        ] {
            let wish = read(GeminiAction::Generate, body.clone()).expect("a wish");
            assert_eq!(wish.prompt, "a boat");
            assert_eq!(
                wish.images,
                [("contents[0].parts[1]".to_owned(), json!("AA=="))],
                "{body}"
            );
            assert_eq!(wish.ratio.expect("a ratio").1, "16:9");
            assert_eq!(wish.ignored, ["generationConfig.imageConfig.imageSize"]);
        }
    }

    #[test]
    fn bytes_may_come_in_the_alphabet_of_addresses() {
        for (sent, read) in [
            ("-_A=", "+/A="),
            ("+/A=", "+/A="),
            ("https://a.example/b-c_d", "https://a.example/b-c_d"),
        ] {
            let mut part = json!({ "inlineData": { "data": sent } });
            assert_eq!(image_of(&mut part), Some(json!(read)), "{sent}");
        }
    }

    #[test]
    fn predict_is_read_as_a_list_and_as_one() {
        for instances in [
            json!([{ "prompt": "a boat" }]),
            json!({ "prompt": "a boat" }),
        ] {
            let body = json!({ "instances": instances, "parameters": { "sampleCount": 2, "outputOptions": {} } });
            let wish = read(GeminiAction::Predict, body).expect("a wish");
            assert_eq!(wish.prompt, "a boat");
            assert_eq!(wish.count.expect("a count").1, json!(2));
            assert_eq!(wish.ignored, ["parameters.outputOptions"]);
        }
        for (body, field) in [
            (json!({}), "instances"),
            (json!({ "instances": [] }), "instances"),
            (json!({ "instances": [{}] }), "instances[0].prompt"),
        ] {
            let refusal = read(GeminiAction::Predict, body).expect_err("refused");
            assert_eq!(refusal.field.as_deref(), Some(field));
        }
    }
}
