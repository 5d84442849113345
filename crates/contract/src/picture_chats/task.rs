//! A wish for a picture in the fields of one of our operations.

use serde_json::Value;

use super::wish::PictureWish;
use crate::body::Fields;
use crate::kept::{CHAT_MODEL, IGNORED};
use crate::pages::models::AccountField;
use crate::refusal::Refusal;
use crate::video_tasks::size_like;

/// The operation that chat-image is.
pub const CHAT_OPERATION: &str = "imgmodel.chat";

/// The operations that a conversation may come to, by what their models are for: chats, pictures from words, and edits.
pub const PICTURE_OPERATIONS: [&str; 3] =
    [CHAT_OPERATION, "imgmodel.generations", "imgmodel.edits"];

/// A job that is wished for.
#[derive(Debug)]
pub struct PictureTask {
    /// The body of its submit.
    pub fields: Fields,
    /// What is kept with the request though no caller can send it.
    pub notes: Fields,
    /// Our name of a field and the caller's, where they differ.
    written: Vec<(String, String)>,
}

impl PictureTask {
    /// What a wish comes to in one of the operations for pictures. `model` is the name to submit, none for the operation itself;
    /// `asked` is what the caller called it.
    pub fn of(
        mut wish: PictureWish,
        operation: &str,
        model: Option<&str>,
        size: Option<&AccountField>,
        asked: &str,
    ) -> Result<Self, Refusal> {
        let mut task = Self {
            fields: Fields::new(),
            notes: Fields::new(),
            written: vec![("prompt".to_owned(), wish.prompt_field.clone())],
        };
        task.fields
            .insert("prompt".to_owned(), wish.prompt.as_str().into());
        if let Some(user) = wish.user.take() {
            task.fields.insert("user".to_owned(), user);
        }
        if let Some(model) = model {
            task.fields.insert("model".to_owned(), model.into());
        }
        let images = match operation {
            CHAT_OPERATION => "referImages",
            _ => "image",
        };
        if !wish.images.is_empty() {
            task.place_images(images, &wish);
        }
        if operation == CHAT_OPERATION {
            one_picture(&wish, asked)?;
            let options: Vec<String> = wish.options.keys().cloned().collect();
            let ratio = wish.ratio.take().map(|(field, _)| field);
            wish.ignore(options.into_iter().chain(ratio));
        } else {
            task.take_options(&mut wish, size)?;
        }
        wish.ignored.sort();
        task.notes
            .insert(IGNORED.to_owned(), Value::from(wish.ignored));
        task.notes.insert(CHAT_MODEL.to_owned(), asked.into());
        Ok(task)
    }

    fn place_images(&mut self, field: &str, wish: &PictureWish) {
        let several = wish.images.len() > 1;
        let places = wish.images.iter().enumerate();
        let places = places.map(|(index, (place, _))| {
            let ours = if several || field == "referImages" {
                format!("{field}[{index}]")
            } else {
                field.to_owned()
            };
            (ours, place.clone())
        });
        self.written.extend(places);
        let images = wish.images.iter().map(|(_, image)| image.clone());
        self.fields
            .insert(field.to_owned(), images.collect::<Vec<_>>().into());
    }

    fn take_options(
        &mut self,
        wish: &mut PictureWish,
        size: Option<&AccountField>,
    ) -> Result<(), Refusal> {
        if let Some((field, count)) = wish.count.take() {
            self.fields.insert("n".to_owned(), count);
            self.written.push(("n".to_owned(), field));
        }
        self.fields.extend(std::mem::take(&mut wish.options));
        if let Some((field, ratio)) = wish.ratio.take() {
            if self.fields.contains_key("size") {
                wish.ignore([field]);
            } else {
                let size = size_like(&field, &ratio, size)?;
                self.fields.insert("size".to_owned(), size.into());
                self.written.push(("size".to_owned(), field));
            }
        }
        Ok(())
    }

    /// A refusal that speaks of a field by the name its caller gave it.
    pub fn reworded(&self, refusal: Refusal) -> Refusal {
        let Some(field) = &refusal.field else {
            return refusal;
        };
        let Some((_, theirs)) = self.written.iter().find(|(ours, _)| ours == field) else {
            return refusal;
        };
        let rest = refusal.message.strip_prefix(field.as_str());
        Refusal {
            message: rest.map_or_else(|| refusal.message.clone(), |rest| format!("{theirs}{rest}")),
            field: Some(theirs.clone()),
            ..refusal
        }
    }
}

/// chat-image makes one picture.
fn one_picture(wish: &PictureWish, asked: &str) -> Result<(), Refusal> {
    let Some((field, count)) = &wish.count else {
        return Ok(());
    };
    let is_one = count.as_u64() == Some(1) || count.as_str() == Some("1");
    if is_one {
        return Ok(());
    }
    let message = format!("must be 1 with {asked}; ask once for each picture");
    Err(Refusal::invalid(field, message))
}
