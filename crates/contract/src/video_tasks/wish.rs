//! What a call for a video asks for. The services differ in their words and hardly in what they mean, so that one reader knows
//! all of them; what it does not know is named.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::ratio;
use crate::body::Fields;
use crate::refusal::Refusal;

/// The longest name that is kept.
const EXTERNAL_ID_MOST: usize = 200;
/// The object whose fields count as if they stood beside it.
const METADATA: &str = "metadata";
/// Names of fields that are told as ignored, at most, and letters of each.
const NAMES_MOST: usize = 50;
const NAME_MOST: usize = 100;
/// Frames that Jimeng counts for a second; one more stands at the end.
const FRAMES_PER_SECOND: u64 = 24;

/// A call for a video, in the words of any of these services. Fields of `metadata` count as if they stood beside it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "VideoCall")]
#[expect(
    dead_code,
    reason = "only its shape is told; the fields are read as they came"
)]
pub struct VideoCall {
    /// What happens in the video.
    #[serde(default)]
    prompt: Option<String>,
    /// A video model by its name or an alias; the default of vidgen_partner in place of one that is not known. Also `model_name`
    /// and `req_key`.
    #[serde(default)]
    model: Option<String>,
    /// The start frame: an address, a data-URI or base64. Also `image_url`, `input_reference`, `first_frame_image`.
    #[serde(default)]
    image: Option<Value>,
    /// Reference images. Also `image_urls`, `binary_data_base64`.
    #[serde(default)]
    images: Option<Vec<String>>,
    /// The end frame, where the model has one. Also `end_image`, `last_frame_image`.
    #[serde(default)]
    image_tail: Option<String>,
    /// Length in seconds, as the model allows. Also `seconds`; `frames` counts 24 for a second and one more.
    #[serde(default)]
    duration: Option<Value>,
    /// Width and height, as in `1280x720`.
    #[serde(default)]
    size: Option<String>,
    /// Width in pixels, with `height`.
    #[serde(default)]
    width: Option<Value>,
    /// Height in pixels, with `width`.
    #[serde(default)]
    height: Option<Value>,
    /// Aspect ratio, as in `16:9`. Also `ratio`.
    #[serde(default)]
    aspect_ratio: Option<String>,
    /// `720p` or `1080p`, where the model has a choice.
    #[serde(default)]
    resolution: Option<String>,
    /// `std` or `pro`: the same choice in Kling's words.
    #[serde(default)]
    mode: Option<String>,
    /// URL that receives the result. Also `hookUrl`.
    #[serde(default)]
    callback_url: Option<String>,
    /// The caller's own name for the task.
    #[serde(default)]
    external_task_id: Option<String>,
    /// The end user.
    #[serde(default)]
    user: Option<String>,
    /// More of these fields.
    #[serde(default)]
    metadata: Option<Value>,
}

/// A field as it was written, and what it says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WishField<T> {
    pub(super) field: String,
    pub(super) value: T,
}

/// What a call asks for.
#[derive(Debug, Default)]
pub struct VideoWish {
    /// The model, by whatever name.
    pub(super) model: Option<WishField<String>>,
    pub(super) prompt: Option<Value>,
    /// The start frame and other reference images, in order.
    pub(super) images: Vec<WishField<String>>,
    pub(super) last: Option<WishField<String>>,
    pub(super) seconds: Option<WishField<Value>>,
    pub(super) size: Option<WishField<(u32, u32)>>,
    pub(super) ratio: Option<WishField<String>>,
    /// `720p`, `1080p`; Kling's `std` and `pro` mean the same.
    pub(super) resolution: Option<WishField<String>>,
    pub(super) hook: Option<Value>,
    pub(super) user: Option<Value>,
    external_id: Option<String>,
    /// What nobody here knows.
    pub(super) ignored: Vec<String>,
}

/// The fields of a call with those of its metadata, by the name that its caller knows.
struct CallFields(BTreeMap<String, Value>);

impl CallFields {
    fn of(mut fields: Fields) -> Result<Self, Refusal> {
        let more = match fields.remove(METADATA) {
            Some(Value::String(text)) if !text.is_empty() => {
                let read = crate::body::parse_object(text.as_bytes());
                read.map_err(|_| Refusal::invalid(METADATA, "must be an object"))?
            }
            Some(Value::Object(more)) => more,
            None | Some(Value::Null | Value::String(_)) => Fields::new(),
            Some(_) => return Err(Refusal::invalid(METADATA, "must be an object")),
        };
        let mut all = BTreeMap::new();
        for (name, value) in more {
            all.insert(format!("{METADATA}.{name}"), value);
        }
        all.extend(fields);
        all.retain(|_, value| !is_nothing(value));
        Ok(Self(all))
    }

    /// The first of some spellings; all of them are known then.
    fn take(&mut self, names: &[&str]) -> Option<WishField<Value>> {
        let mut found = None;
        for name in names {
            for field in [(*name).to_owned(), format!("{METADATA}.{name}")] {
                if let Some(value) = self.0.remove(&field) {
                    found.get_or_insert(WishField { field, value });
                }
            }
        }
        found
    }

    /// The same where only text makes sense.
    fn take_text(&mut self, names: &[&str]) -> Result<Option<WishField<String>>, Refusal> {
        let taken = self.take(names);
        let read = taken.map(|WishField { field, value }| match text_of(&value) {
            Some(value) => Ok(WishField { field, value }),
            None => Err(Refusal::invalid(&field, "must be text")),
        });
        read.transpose()
    }

    /// Reference images: one, or a list of them.
    fn take_images(&mut self, names: &[&str]) -> Result<Vec<WishField<String>>, Refusal> {
        let Some(WishField { field, value }) = self.take(names) else {
            return Ok(Vec::new());
        };
        let items = match value {
            Value::Array(items) => items,
            one => return Ok(vec![image(field, &one)?]),
        };
        let items = items.iter().enumerate();
        items
            .map(|(index, item)| image(format!("{field}[{index}]"), item))
            .collect()
    }

    /// What is left, by name.
    fn names(self) -> Vec<String> {
        let shortened = |name: String| name.chars().take(NAME_MOST).collect();
        self.0.into_keys().take(NAMES_MOST).map(shortened).collect()
    }
}

/// An image: text, or an object that names its address.
fn image(field: String, value: &Value) -> Result<WishField<String>, Refusal> {
    let text = match value {
        Value::Object(object) => ["image_url", "url"]
            .iter()
            .find_map(|name| text_of(object.get(*name)?)),
        other => text_of(other),
    };
    match text {
        Some(value) => Ok(WishField { field, value }),
        None => Err(Refusal::invalid(
            &field,
            "must be an address, a data-URI or base64",
        )),
    }
}

/// Clients write what they do not mean as null, as an empty text, list or object, or as 0.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(_) => false,
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl VideoWish {
    /// Reads a call.
    pub fn read(fields: Fields) -> Result<Self, Refusal> {
        let mut fields = CallFields::of(fields)?;
        let mut images = fields.take_images(&[
            "image",
            "input_reference",
            "image_url",
            "first_frame_image",
            "first_image",
        ])?;
        images.extend(fields.take_images(&["images", "image_urls", "binary_data_base64"])?);
        one_video(fields.take(&["n"]))?;
        let external_id = fields.take_text(&["external_task_id"])?;
        let mut wish = Self {
            model: fields.take_text(&["model", "model_name", "req_key"])?,
            prompt: fields.take(&["prompt"]).map(|named| named.value),
            images,
            last: fields.take_text(&["image_tail", "end_image", "last_frame_image"])?,
            seconds: seconds(&mut fields)?,
            size: size(&mut fields)?,
            ratio: fields.take_text(&["aspect_ratio", "ratio"])?,
            resolution: fields.take_text(&["resolution"])?,
            hook: fields
                .take(&["callback_url", "hookUrl", "hook_url", "notify_hook"])
                .map(|named| named.value),
            user: fields.take(&["user"]).map(|named| named.value),
            external_id: external_id
                .map(|named| named.value.chars().take(EXTERNAL_ID_MOST).collect()),
            ignored: Vec::new(),
        };
        if let Some(mode) = fields.take_text(&["mode"])? {
            wish.read_mode(mode);
        }
        // An address is what every answer has.
        let format = fields.take_text(&["response_format"])?;
        let format = format.filter(|format| format.value != "url");
        wish.ignored.extend(format.map(|format| format.field));
        wish.ignored.extend(fields.names());
        Ok(wish)
    }

    /// `std` and `pro` are Kling's words for 720p and 1080p.
    fn read_mode(&mut self, mode: WishField<String>) {
        let meant = match mode.value.to_lowercase().as_str() {
            "std" => Some("720p"),
            "pro" => Some("1080p"),
            _ => None,
        };
        match meant {
            Some(meant) if self.resolution.is_none() => {
                self.resolution = Some(WishField {
                    field: mode.field,
                    value: meant.to_owned(),
                });
            }
            _ => self.ignored.push(mode.field),
        }
    }

    /// The model, by whatever name.
    pub fn model(&self) -> Option<&str> {
        self.model.as_ref().map(|model| model.value.as_str())
    }

    /// The field that named it, as the caller wrote it.
    pub fn model_field(&self) -> &str {
        self.model.as_ref().map_or("model", |model| &model.field)
    }

    /// Whether it comes with an image to start from.
    pub fn has_image(&self) -> bool {
        !self.images.is_empty()
    }

    /// The caller's own name for the task.
    pub fn external_id(&self) -> Option<&str> {
        self.external_id.as_deref()
    }
}

/// Every call makes one video.
fn one_video(wished: Option<WishField<Value>>) -> Result<(), Refusal> {
    let Some(WishField { field, value }) = wished else {
        return Ok(());
    };
    if text_of(&value).as_deref() == Some("1") {
        return Ok(());
    }
    Err(Refusal::invalid(
        &field,
        "must be 1; call once for each video",
    ))
}

/// A length in whole seconds as a number; what is none is left to the model's own rules.
fn seconds(fields: &mut CallFields) -> Result<Option<WishField<Value>>, Refusal> {
    let frames = fields.take(&["frames"]);
    if let Some(WishField { field, value }) = fields.take(&["duration", "seconds"]) {
        let number = text_of(&value).and_then(|text| text.trim().parse::<f64>().ok());
        let whole = number.filter(|number| number.fract() == 0.0 && (0.0..1e6).contains(number));
        let value = whole.map_or(value, |whole| (whole as u32).into());
        return Ok(Some(WishField { field, value }));
    }
    let Some(WishField { field, value }) = frames else {
        return Ok(None);
    };
    let frames = text_of(&value).and_then(|text| text.trim().parse::<u64>().ok());
    let seconds = frames
        .filter(|frames| *frames > 1 && (frames - 1).is_multiple_of(FRAMES_PER_SECOND))
        .map(|frames| (frames - 1) / FRAMES_PER_SECOND);
    match seconds {
        Some(seconds) => Ok(Some(WishField {
            field,
            value: seconds.into(),
        })),
        None => Err(Refusal::invalid(
            &field,
            "must be 24 for each second and one more, such as 121 for 5 seconds",
        )),
    }
}

/// A size in pixels, in one field or in two.
fn size(fields: &mut CallFields) -> Result<Option<WishField<(u32, u32)>>, Refusal> {
    let (width, height) = (
        fields.take_text(&["width"])?,
        fields.take_text(&["height"])?,
    );
    if let Some(WishField { field, value }) = fields.take_text(&["size"])? {
        let Some(value) = ratio::pixels(&value) else {
            return Err(Refusal::invalid(
                &field,
                "must be width and height, such as 1280x720",
            ));
        };
        return Ok(Some(WishField { field, value }));
    }
    let (width, height) = match (width, height) {
        (None, None) => return Ok(None),
        (Some(width), Some(height)) => (width, height),
        (Some(one), None) | (None, Some(one)) => {
            return Err(Refusal::invalid(
                &one.field,
                "width and height must be given together",
            ));
        }
    };
    let side = |side: &WishField<String>| {
        let pixels = side.value.parse::<u32>().ok().filter(|side| *side > 0);
        pixels.ok_or_else(|| Refusal::invalid(&side.field, "must be a number of pixels"))
    };
    Ok(Some(WishField {
        value: (side(&width)?, side(&height)?),
        field: width.field,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wish(call: Value) -> VideoWish {
        let Value::Object(fields) = call else {
            panic!("an object")
        };
        VideoWish::read(fields).expect("a wish")
    }

    fn refused(call: Value) -> Option<String> {
        let Value::Object(fields) = call else {
            panic!("an object")
        };
        VideoWish::read(fields).expect_err("refused").field
    }

    #[test]
    fn metadata_counts_as_if_it_stood_beside_it_also_as_text() {
        for metadata in [
            json!({ "aspect_ratio": "16:9", "model_name": "other", "camera": 1 }),
            json!(r#"{"aspect_ratio":"16:9","model_name":"other","camera":1}"#),
        ] {
            let wish = wish(json!({ "model": "kling-v1", "duration": 5.0, "metadata": metadata }));
            assert_eq!(wish.model(), Some("kling-v1"));
            let ratio = wish.ratio.expect("a ratio");
            assert_eq!(
                (&*ratio.field, &*ratio.value),
                ("metadata.aspect_ratio", "16:9")
            );
            assert_eq!(wish.seconds.expect("a length").value, json!(5));
            assert_eq!(wish.ignored, ["metadata.camera"]);
        }
    }

    #[test]
    fn what_a_client_writes_without_meaning_it_is_nothing() {
        let wish = wish(json!({
            "prompt": "a boat", "duration": 0, "width": 0, "height": 0, "fps": 0, "image": "", "images": [],
            "metadata": {}, "seed": null, "n": 1, "response_format": "url",
        }));
        assert!(wish.seconds.is_none() && wish.size.is_none() && !wish.has_image());
        assert_eq!(wish.ignored, Vec::<String>::new());
    }

    #[test]
    fn frames_are_seconds_and_modes_are_resolutions() {
        let wish = wish(
            json!({ "req_key": "jimeng_t2v", "frames": 241, "mode": "pro", "cfg_scale": 0.5 }),
        );
        assert_eq!(wish.model(), Some("jimeng_t2v"));
        assert_eq!(wish.seconds.as_ref().expect("a length").value, json!(10));
        assert_eq!(
            wish.resolution.as_ref().expect("a resolution").value,
            "1080p"
        );
        assert_eq!(wish.ignored, ["cfg_scale"]);
        assert_eq!(refused(json!({ "frames": 120 })).as_deref(), Some("frames"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_the_name_it_has() {
        for (call, field) in [
            (json!({ "n": 2 }), "n"),
            (json!({ "size": "large" }), "size"),
            (json!({ "width": 1280 }), "width"),
            (json!({ "width": "a", "height": 1 }), "width"),
            (json!({ "metadata": [1] }), "metadata"),
            (json!({ "images": [{ "id": 1 }] }), "images[0]"),
            (json!({ "model": ["a"] }), "model"),
        ] {
            assert_eq!(refused(call.clone()).as_deref(), Some(field), "{call}");
        }
    }
}
