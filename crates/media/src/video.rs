//! Clips: frames into an H.264 MP4, an MP4's facts and single frames back.

mod encoder;
mod error;
mod fit;
mod movie;
mod reader;
mod still;
mod writer;
mod yuv;

pub use encoder::{Fineness, encode_video, encode_video_as};
pub use error::VideoError;
pub use fit::fit_video;
pub use reader::{VideoInfo, video_info};
pub use still::{first_frame, frame_at, last_frame};
pub use writer::label_video;
