//! A type is a rule: each field type accepts exactly the values its documentation allows, in the lenient forms
//! callers really send, and says in plain words what it wants when it refuses.

mod address;
mod date;
mod deferred;
mod image;
mod length;
mod list;
mod mail_address;
mod moment;
mod number;
mod order;
mod text;
mod values;
#[macro_use]
mod words;

pub use address::{HookUrl, ImageUrl};
pub use date::OperatorDate;
pub use deferred::DeferredField;
pub(crate) use image::is_stored_file_name;
pub use image::{ImageData, ImageHeader, InlineData, InlineImage};
pub use length::{SecondsText, Span};
pub use list::List;
pub use mail_address::MailAddress;
pub use moment::Moment;
pub use number::{Count, Flag, NumberChoice, Real, Seconds, SteppedCount};
pub use order::field_order;
pub use text::{Prompt, SeedText, Text};
pub(crate) use values::{as_text, not_a_word, word_text};
pub(crate) use words::words;
