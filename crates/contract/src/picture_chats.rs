//! Pictures in the wire formats of chats: what the last message of a conversation asks for, as the fields of one of our operations,
//! and jobs as what the model says to it.

mod chat;
mod gemini;
mod task;
mod wish;

pub use chat::{ChatCompletion, ChatRequest, ChatStream};
pub use gemini::{GeminiAction, GeminiAnswer, GeminiCall, GeminiModels, gemini_error};
pub use task::{CHAT_OPERATION, PICTURE_OPERATIONS, PictureTask};
pub use wish::PictureWish;

/// The name of the model that is chat-image itself, for clients that have to name one.
pub const CHAT_IMAGE: &str = "chat-image";
