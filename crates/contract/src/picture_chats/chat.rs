//! Chat completions: the last message of the user, and the pictures as what the assistant says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::wish::{PictureWish, left, take};
use crate::body::Fields;
use crate::families::imgmodel::CallTokens;
use crate::family::FinishedJob;
use crate::job::{FileRole, Job};
use crate::kept::CHAT_MODEL;
use crate::refusal::Refusal;

/// What picture models read under the same name.
const OPTIONS: [&str; 7] = [
    "size",
    "quality",
    "background",
    "moderation",
    "output_format",
    "output_compression",
    "style",
];

/// A conversation. The last message of the user counts, with its images; other fields have no effect.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ChatRequest")]
#[expect(
    dead_code,
    reason = "only its shape is told; the fields are read as they came"
)]
pub struct ChatRequest {
    /// A picture model, or `chat-image`.
    #[serde(default)]
    model: Option<String>,
    /// The messages; `content` is text, or a list of `text` and `image_url` parts.
    messages: Vec<Value>,
    /// Whether to answer with server-sent events: progress as `reasoning_content`, then the picture.
    #[serde(default)]
    stream: bool,
    /// `{"include_usage": true}` asks for a last event with the usage.
    #[serde(default)]
    stream_options: Option<Value>,
    /// How many pictures, where the model makes several.
    #[serde(default)]
    n: Option<u32>,
    /// Width and height, where the model has a choice.
    #[serde(default)]
    size: Option<String>,
    /// `{"aspect_ratio": "16:9"}`, where the model has a choice.
    #[serde(default)]
    image_config: Option<Value>,
    /// The end user.
    #[serde(default)]
    user: Option<String>,
}

/// How the answer of a conversation is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatStream {
    /// Whether it is wanted as events.
    pub wanted: bool,
    /// Whether the usage is wanted at their end.
    pub usage: bool,
}

impl ChatRequest {
    /// The model, the wish, and how the answer is wanted.
    pub fn read(mut fields: Fields) -> Result<(Option<String>, PictureWish, ChatStream), Refusal> {
        let model = match take(&mut fields, &["model"]) {
            None => None,
            Some(Value::String(model)) => Some(model),
            Some(_) => return Err(Refusal::invalid("model", "must be text")),
        };
        let messages = match take(&mut fields, &["messages"]) {
            Some(Value::Array(messages)) => messages,
            None => return Err(Refusal::missing("messages")),
            Some(_) => return Err(Refusal::invalid("messages", "must be a list")),
        };
        let options = take(&mut fields, &["stream_options"]);
        let stream = ChatStream {
            wanted: is_true(take(&mut fields, &["stream"]).as_ref()),
            usage: options.is_some_and(|options| is_true(options.get("include_usage"))),
        };
        let mut wish = PictureWish::default();
        read_messages(messages, &mut wish)?;
        wish.user = take(&mut fields, &["user"]);
        wish.count = take(&mut fields, &["n"]).map(|count| ("n".to_owned(), count));
        // Pictures are all that there is.
        take(&mut fields, &["modalities"]);
        for name in OPTIONS {
            if let Some(value) = take(&mut fields, &[name]) {
                wish.options.insert(name.to_owned(), value);
            }
        }
        if let Some(Value::Object(mut config)) = take(&mut fields, &["image_config"]) {
            let field = "image_config.aspect_ratio";
            let ratio = take(&mut config, &["aspect_ratio"]);
            wish.ratio = ratio
                .and_then(|ratio| ratio.as_str().map(str::to_owned))
                .map(|ratio| (field.to_owned(), ratio));
            wish.ignore(left("image_config", config));
        }
        wish.ignore(left("", fields));
        Ok((model, wish, stream))
    }
}

fn is_true(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(yes)) => *yes,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

/// The words and images of the last message of the user.
fn read_messages(messages: Vec<Value>, wish: &mut PictureWish) -> Result<(), Refusal> {
    let is_user = |message: &Value| message["role"].as_str() == Some("user");
    let Some(index) = messages.iter().rposition(is_user) else {
        return Err(Refusal::invalid(
            "messages",
            "must have a message with the role user",
        ));
    };
    let place = format!("messages[{index}].content");
    let content = messages
        .into_iter()
        .nth(index)
        .map(|mut one| one["content"].take());
    let mut words = Vec::new();
    match content {
        Some(Value::String(text)) => words.push(text),
        Some(Value::Array(parts)) => {
            for (index, part) in parts.into_iter().enumerate() {
                let place = format!("{place}[{index}]");
                match part_of(part) {
                    MessagePart::Words(text) => words.push(text),
                    MessagePart::Image(image) => wish.images.push((place, image)),
                    MessagePart::Other => wish.ignore([place]),
                }
            }
        }
        _ => return Err(Refusal::invalid(&place, "must be text or a list of parts")),
    }
    words.join("\n").trim().clone_into(&mut wish.prompt);
    if wish.prompt.is_empty() {
        return Err(Refusal::invalid(&place, "must say what to draw"));
    }
    wish.prompt_field = place;
    Ok(())
}

/// A part of a message.
enum MessagePart {
    Words(String),
    Image(Value),
    Other,
}

fn part_of(mut part: Value) -> MessagePart {
    match part["type"].as_str() {
        Some("text" | "input_text") => match part["text"].take() {
            Value::String(text) => MessagePart::Words(text),
            _ => MessagePart::Other,
        },
        Some("image_url" | "input_image") => match part["image_url"].take() {
            Value::String(text) => MessagePart::Image(text.into()),
            Value::Object(mut image) => match image.remove("url") {
                Some(Value::String(text)) => MessagePart::Image(text.into()),
                _ => MessagePart::Other,
            },
            _ => MessagePart::Other,
        },
        _ => MessagePart::Other,
    }
}

/// What the assistant says.
#[derive(Serialize, JsonSchema)]
pub struct ChatCompletion {
    /// Identifier, `chatcmpl-` and the job's.
    id: String,
    /// `chat.completion`.
    object: &'static str,
    /// When it was made, in seconds since 1970.
    created: i64,
    /// The model, as it was asked for.
    model: String,
    /// One choice.
    choices: Vec<ChatChoice>,
    /// Tokens, estimated.
    usage: ChatUsage,
}

/// A choice.
#[derive(Serialize, JsonSchema)]
struct ChatChoice {
    /// 0.
    index: u8,
    /// The message.
    message: ChatMessage,
    /// Always null.
    logprobs: Option<Value>,
    /// `stop`.
    finish_reason: &'static str,
}

/// The message with the pictures.
#[derive(Serialize, JsonSchema)]
struct ChatMessage {
    /// `assistant`.
    role: &'static str,
    /// The pictures in Markdown, by their URLs.
    content: String,
    /// The pictures themselves.
    images: Vec<ChatImage>,
    /// Always null.
    refusal: Option<String>,
}

/// A picture.
#[derive(Serialize, JsonSchema)]
struct ChatImage {
    /// Its place, from 0.
    index: usize,
    /// `image_url`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Where it is.
    image_url: ChatImageUrl,
}

/// Where a picture is.
#[derive(Serialize, JsonSchema)]
struct ChatImageUrl {
    /// The picture as a data-URI.
    url: String,
}

/// Tokens, estimated by the size of what went in and out.
#[derive(Serialize, JsonSchema)]
struct ChatUsage {
    #[serde(rename = "prompt_tokens")]
    prompt: u64,
    #[serde(rename = "completion_tokens")]
    completion: u64,
    #[serde(rename = "total_tokens")]
    total: u64,
}

impl ChatUsage {
    fn of(job: &Job) -> Self {
        let CallTokens { input, output } = CallTokens::of(job);
        Self {
            prompt: input,
            completion: output,
            total: input + output,
        }
    }
}

fn id_of(job: &Job) -> String {
    format!("chatcmpl-{}", job.id)
}

/// The model, as its caller called it.
fn model_of(job: &Job) -> String {
    job.text(CHAT_MODEL).unwrap_or_default().to_owned()
}

/// The pictures in Markdown, by their URLs.
fn markdown(job: &Job) -> String {
    let files = job.files(FileRole::Main);
    let pictures: Vec<String> = files
        .map(|file| format!("![image]({})", file.cdn_url))
        .collect();
    pictures.join("\n\n")
}

fn images(finished: &FinishedJob<'_>) -> Vec<ChatImage> {
    let files = finished.job.files(FileRole::Main).zip(finished.base64);
    let images = files.enumerate().map(|(index, (file, bytes))| ChatImage {
        index,
        kind: "image_url",
        image_url: ChatImageUrl {
            url: format!("data:{};base64,{bytes}", file.media_type),
        },
    });
    images.collect()
}

impl ChatCompletion {
    /// What the assistant says of a finished job.
    pub fn of(finished: &FinishedJob<'_>) -> Self {
        let job = finished.job;
        Self {
            id: id_of(job),
            object: "chat.completion",
            created: job.created_ms / 1000,
            model: model_of(job),
            choices: vec![ChatChoice {
                index: 0,
                message: ChatMessage {
                    role: "assistant",
                    content: markdown(job),
                    images: images(finished),
                    refusal: None,
                },
                logprobs: None,
                finish_reason: "stop",
            }],
            usage: ChatUsage::of(job),
        }
    }

    /// The first event of a stream.
    pub fn opening(job: &Job) -> Value {
        chunk(job, &json!({ "role": "assistant", "content": "" }), None)
    }

    /// An event that says how far it is: as thinking, which is no part of the answer.
    pub fn progress(job: &Job) -> Value {
        let text = format!("{} %\n", job.progress.min(99));
        chunk(job, &json!({ "reasoning_content": text }), None)
    }

    /// The last events of a stream: the pictures, the end, and the usage where that is wanted.
    pub fn closing(finished: &FinishedJob<'_>, usage: bool) -> Vec<Value> {
        let job = finished.job;
        let content = json!({ "content": markdown(job), "images": images(finished) });
        let mut events = vec![
            chunk(job, &content, None),
            chunk(job, &json!({}), Some("stop")),
        ];
        if usage {
            let mut last = frame(job);
            last.insert("choices".to_owned(), Value::Array(Vec::new()));
            last.insert("usage".to_owned(), json!(ChatUsage::of(job)));
            events.push(Value::Object(last));
        }
        events
    }
}

fn frame(job: &Job) -> Map<String, Value> {
    let mut frame = Map::new();
    frame.insert("id".to_owned(), id_of(job).into());
    frame.insert("object".to_owned(), "chat.completion.chunk".into());
    frame.insert("created".to_owned(), (job.created_ms / 1000).into());
    frame.insert("model".to_owned(), model_of(job).into());
    frame
}

fn chunk(job: &Job, delta: &Value, finish: Option<&str>) -> Value {
    let mut chunk = frame(job);
    let choice = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
    chunk.insert("choices".to_owned(), choice);
    Value::Object(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: Value) -> Result<(Option<String>, PictureWish, ChatStream), Refusal> {
        let Value::Object(fields) = body else {
            panic!("an object")
        };
        ChatRequest::read(fields)
    }

    #[test]
    fn the_last_message_of_the_user_counts_with_its_images() {
        let (model, wish, stream) = read(json!({
            "model": "chat-image", "stream": true, "stream_options": { "include_usage": true }, "temperature": 0.5,
            "tools": null, "max_tokens": 10,
            "messages": [
                { "role": "system", "content": "be brief" },
                { "role": "user", "content": "a boat" },
                { "role": "assistant", "content": "![image](https://example.com/a.png)" },
                { "role": "user", "content": [
                    { "type": "text", "text": "make it" }, { "type": "text", "text": "blue" },
                    { "type": "image_url", "image_url": { "url": "https://example.com/a.png" } },
                    { "type": "image_url", "image_url": "data:image/png;base64,AA==" },
                    { "type": "input_audio", "input_audio": {} },
                ] },
                { "role": "assistant", "content": "" },
            ],
        }))
        .expect("a wish");
        assert_eq!(model.as_deref(), Some("chat-image"));
        assert_eq!(wish.prompt, "make it\nblue");
        assert_eq!(wish.images.len(), 2);
        assert_eq!(wish.images[1].0, "messages[3].content[3]");
        assert!(stream.wanted && stream.usage);
        assert_eq!(
            wish.ignored,
            ["messages[3].content[4]", "max_tokens", "temperature"]
        );
    }

    #[test]
    fn a_conversation_without_words_is_refused_by_its_place() {
        for (body, field) in [
            (json!({}), "messages"),
            (json!({ "messages": "a" }), "messages"),
            (json!({ "messages": [] }), "messages"),
            (
                json!({ "messages": [{ "role": "assistant", "content": "a" }] }),
                "messages",
            ),
            (
                json!({ "messages": [{ "role": "user", "content": " " }] }),
                "messages[0].content",
            ),
            (
                json!({ "messages": [{ "role": "user", "content": null }] }),
                "messages[0].content",
            ),
            (json!({ "model": 1, "messages": [] }), "model"),
        ] {
            let refusal = read(body.clone()).expect_err("refused");
            assert_eq!(refusal.field.as_deref(), Some(field), "{body}");
        }
    }
}
