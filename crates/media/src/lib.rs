//! Pictures and clips in memory: decode, draw, resize, cut, join, encode.
//!
//! Invariants: media knows nothing of jobs, accounts, files on disk or the network; every input is bounded before
//! it is decoded; the same input gives the same bytes; nothing here is async.

mod decode;
mod encode;
mod header;
mod label;
mod orientation;
mod picture;
mod resize;
mod sampling;
mod video;

pub use decode::{Limits, decode};
pub use encode::{Encoding, encode};
pub use header::{Format, Header, ImageError, header};
pub use label::Label;
pub use picture::Picture;
pub use video::{
    CameraMove, Morph, VideoError, VideoInfo, camera_move, encode_video, first_frame, label_video,
    last_frame, loop_time, morph, video_info, watermark,
};
