//! Video tasks in the wire formats of other services: what a call asks for, in whichever of their words, as the fields of one of
//! our operations, and jobs in their answers.

mod answers;
mod jimeng;
mod kling;
mod openai;
mod ratio;
mod task;
mod wish;

pub use answers::{GatewayTask, GatewayVideo};
pub use jimeng::{JIMENG_FETCH, JIMENG_SUBMIT, JimengAnswer, jimeng_error};
pub use kling::{KlingAnswer, KlingTask, kling_callback, kling_error};
pub use openai::{OpenAiVideo, VideoError};
pub use task::VideoTask;
pub(crate) use task::size_like;
pub use wish::{VideoCall, VideoWish};

/// The operations that such a call may come to; the first one has the model that counts where a call names none that is known.
pub const VIDEO_OPERATIONS: [&str; 4] = [
    "vidgen_partner.generations",
    "vidgen.generations",
    "clipgen.generations",
    "motion.generations",
];
