//! A wish for a video in the fields of one of our operations, as its model allows.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ratio;
use super::wish::{VideoWish, WishField};
use crate::body::Fields;
use crate::kept::EXTERNAL_ID;
use crate::pages::models::AccountField;
use crate::refusal::Refusal;

/// What requests of a model may say, by field.
type ModelFields = BTreeMap<String, AccountField>;

/// A job that is wished for.
#[derive(Debug)]
pub struct VideoTask {
    /// The body of its submit.
    pub fields: Fields,
    /// Fields that take addresses alone; bytes that stand there are to be kept first.
    pub addresses: &'static [&'static str],
    /// What the caller said without effect.
    pub ignored: Vec<String>,
    /// What is kept with the request though no caller can send it.
    pub notes: Fields,
    /// Our name of a field and the caller's, where they differ.
    written: Vec<(&'static str, String)>,
}

impl VideoTask {
    /// What a wish comes to in one of the operations for videos; `named` is whether its model is known there.
    pub fn of(
        wish: &VideoWish,
        operation: &str,
        fields: &ModelFields,
        named: bool,
    ) -> Result<Self, Refusal> {
        let mut task = Self {
            fields: Fields::new(),
            addresses: &[],
            ignored: wish.ignored.clone(),
            notes: Fields::new(),
            written: Vec::new(),
        };
        task.keep("hookUrl", wish.hook.clone());
        task.keep("user", wish.user.clone());
        if let Some(name) = wish.external_id() {
            task.notes.insert(EXTERNAL_ID.to_owned(), name.into());
        }
        let spelling = if operation == "motion.generations" {
            "modelName"
        } else {
            "model"
        };
        match &wish.model {
            Some(model) if named => task.say(spelling, model, model.value.as_str().into()),
            model => task.drop(model.as_ref()),
        }
        let mut task = match operation {
            "vidgen.generations" => task.for_vidgen(wish),
            "clipgen.generations" => task.for_clipgen(wish),
            "motion.generations" => task.for_motion(wish),
            _ => task.for_partner(wish, fields),
        }?;
        task.ignored.sort();
        Ok(task)
    }

    fn for_partner(mut self, wish: &VideoWish, fields: &ModelFields) -> Result<Self, Refusal> {
        self.keep("prompt", wish.prompt.clone());
        if let Some(seconds) = &wish.seconds {
            self.say("seconds", seconds, seconds.value.clone());
        }
        self.one_image("input_reference", wish);
        self.drop(wish.last.as_ref());
        let allowed = allowed_sizes(fields.get("size"));
        if let Some(size) = &wish.size {
            let (width, height) = size.value;
            self.say("size", size, format!("{width}x{height}").into());
            self.drop(wish.ratio.as_ref());
            self.drop(wish.resolution.as_ref());
        } else if let Some(ratio) = &wish.ratio {
            let size = size_of(ratio, wish.resolution.as_ref(), &allowed)?;
            let resolution = wish.resolution.as_ref();
            self.drop(resolution.filter(|wanted| Some(size.1.min(size.0)) != lines(&wanted.value)));
            self.say("size", ratio, format!("{}x{}", size.0, size.1).into());
        } else {
            self.drop(wish.resolution.as_ref());
        }
        Ok(self)
    }

    fn for_vidgen(mut self, wish: &VideoWish) -> Result<Self, Refusal> {
        self.keep("prompt", wish.prompt.clone());
        if let Some(seconds) = &wish.seconds {
            self.say("duration", seconds, seconds.value.clone());
        }
        let images = wish.images.iter().map(|image| image.value.as_str().into());
        let images: Vec<Value> = images.collect();
        if let Some(first) = wish.images.first() {
            self.say("referImages", first, images.into());
        }
        self.drop(wish.last.as_ref());
        self.drop(wish.resolution.as_ref());
        if let Some(WishField {
            field,
            value: (width, height),
        }) = shape(wish)?
        {
            if width == height {
                return Err(Refusal::invalid(
                    &field,
                    "must be upright or wide, such as 9:16 or 16:9",
                ));
            }
            let word = if height > width {
                "portrait"
            } else {
                "landscape"
            };
            self.fields.insert("orientation".into(), word.into());
            self.written.push(("orientation", field));
        }
        Ok(self)
    }

    fn for_clipgen(mut self, wish: &VideoWish) -> Result<Self, Refusal> {
        self.keep("prompt", wish.prompt.clone());
        if let Some(seconds) = &wish.seconds {
            self.say("video_length", seconds, as_text(&seconds.value));
        }
        let images = wish.images.iter().map(|image| image.value.as_str().into());
        let images: Vec<Value> = images.collect();
        if let Some(first) = wish.images.first() {
            self.say("refer_images", first, images.into());
            self.addresses = &["refer_images"];
        }
        self.drop(wish.last.as_ref());
        if let Some(resolution) = &wish.resolution {
            self.say(
                "resolution_name",
                resolution,
                resolution.value.as_str().into(),
            );
        }
        if let Some(WishField { field, value }) = shape(wish)? {
            let word = ratio::written(value);
            self.fields.insert("aspect_ratio".into(), word.into());
            self.written.push(("aspect_ratio", field));
        }
        Ok(self)
    }

    fn for_motion(mut self, wish: &VideoWish) -> Result<Self, Refusal> {
        self.keep("userPrompt", wish.prompt.clone());
        self.written.push(("userPrompt", "prompt".to_owned()));
        if let Some(seconds) = &wish.seconds {
            let Value::String(text) = as_text(&seconds.value) else {
                return Err(Refusal::invalid(&seconds.field, "must be whole seconds"));
            };
            let text = text.trim_end_matches('s');
            self.say("duration", seconds, format!("{text}s").into());
        }
        self.one_image("imageUrl", wish);
        if let Some(last) = &wish.last {
            self.say("imageEndUrl", last, last.value.as_str().into());
        }
        self.addresses = &["imageUrl", "imageEndUrl"];
        if let Some(resolution) = &wish.resolution {
            self.say("resolution", resolution, resolution.value.as_str().into());
        }
        if let Some(WishField { field, value }) = shape(wish)? {
            let word = ratio::written(value);
            self.fields.insert("aspectRatio".into(), word.into());
            self.written.push(("aspectRatio", field));
        }
        Ok(self)
    }

    fn one_image(&mut self, field: &'static str, wish: &VideoWish) {
        let mut images = wish.images.iter();
        if let Some(first) = images.next() {
            self.say(field, first, first.value.as_str().into());
        }
        for more in images {
            self.drop(Some(more));
        }
    }

    fn keep(&mut self, field: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.fields.insert(field.to_owned(), value);
        }
    }

    fn say<T>(&mut self, field: &'static str, wished: &WishField<T>, value: Value) {
        self.fields.insert(field.to_owned(), value);
        self.written.push((field, wished.field.clone()));
    }

    fn drop<T>(&mut self, wished: Option<&WishField<T>>) {
        self.ignored
            .extend(wished.map(|wished| wished.field.clone()));
    }

    /// A refusal that speaks of a field by the name its caller gave it.
    pub fn reworded(&self, refusal: Refusal) -> Refusal {
        let Some(field) = &refusal.field else {
            return refusal;
        };
        let of_field = |(ours, _): &&(&str, String)| {
            let rest = field.strip_prefix(ours);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        };
        let Some((ours, theirs)) = self.written.iter().find(of_field) else {
            return refusal;
        };
        // The message begins with the field.
        let rest = refusal.message.strip_prefix(field.as_str());
        let message = match rest {
            Some(rest) => format!("{theirs}{rest}"),
            None => refusal.message.clone(),
        };
        debug_assert!(field.starts_with(ours));
        Refusal {
            field: Some(theirs.clone()),
            message,
            ..refusal
        }
    }
}

fn as_text(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        other => other.clone(),
    }
}

/// The sizes that a model has, in its own order; the default first.
fn allowed_sizes(size: Option<&AccountField>) -> Vec<(u32, u32)> {
    let Some(size) = size else {
        return Vec::new();
    };
    let words = size
        .default
        .iter()
        .chain(size.allowed.iter().flatten())
        .filter_map(Value::as_str);
    words.filter_map(ratio::pixels).collect()
}

/// The pixels of the shorter side of `720p`.
fn lines(resolution: &str) -> Option<u32> {
    resolution.trim().trim_end_matches(['p', 'P']).parse().ok()
}

/// The size of a model that has a ratio, in the resolution that is wanted where there is a choice.
fn size_of(
    wanted: &WishField<String>,
    resolution: Option<&WishField<String>>,
    allowed: &[(u32, u32)],
) -> Result<(u32, u32), Refusal> {
    let refused = || {
        let mut ratios: Vec<String> = allowed.iter().map(|size| ratio::written(*size)).collect();
        ratios.sort();
        ratios.dedup();
        let message = format!(
            "must be one of {}, is {}",
            ratios.join(", "),
            wanted.value.chars().take(20).collect::<String>()
        );
        Refusal::invalid(&wanted.field, message)
    };
    let shape = ratio::sides(&wanted.value).ok_or_else(refused)?;
    let fits = allowed.iter().filter(|size| ratio::alike(**size, shape));
    let lines = resolution.and_then(|resolution| lines(&resolution.value));
    let exact = fits
        .clone()
        .find(|(width, height)| lines == Some(*width.min(height)));
    exact
        .or_else(|| fits.clone().next())
        .copied()
        .ok_or_else(refused)
}

/// The size of a model that has a ratio, as requests write it.
pub(crate) fn size_like(
    field: &str,
    ratio: &str,
    size: Option<&AccountField>,
) -> Result<String, Refusal> {
    let wanted = WishField {
        field: field.to_owned(),
        value: ratio.to_owned(),
    };
    let (width, height) = size_of(&wanted, None, &allowed_sizes(size))?;
    Ok(format!("{width}x{height}"))
}

/// The shape that is wished for, and the field that says so.
fn shape(wish: &VideoWish) -> Result<Option<WishField<(u32, u32)>>, Refusal> {
    if let Some(size) = &wish.size {
        return Ok(Some(size.clone()));
    }
    let Some(wanted) = &wish.ratio else {
        return Ok(None);
    };
    match ratio::sides(&wanted.value) {
        Some(value) => Ok(Some(WishField {
            field: wanted.field.clone(),
            value,
        })),
        None => Err(Refusal::invalid(
            &wanted.field,
            "must be a ratio, such as 16:9",
        )),
    }
}

impl VideoTask {
    /// The names of what had no effect, as they are kept with the request.
    pub fn ignored_names(&self) -> Value {
        json!(self.ignored)
    }
}
