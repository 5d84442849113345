//! Pictures and clips in memory: decode, probe, strip, fit, cut out, enlarge, encode.
//!
//! Invariants: media knows nothing of jobs, accounts, files on disk or the network; every input is bounded before
//! it is decoded; the same input gives the same pixels from one build on one kind of processor; nothing here is async.
//! Who paints is `atelier-studio`.

pub mod credentials;
mod decode;
mod encode;
mod face;
mod header;
mod label;
mod mask;
mod matte;
mod net;
mod orientation;
pub mod palette;
mod picture;
mod pieces;
mod relabel;
mod resize;
pub mod sampling;
mod seamless;
mod strip;
mod upscale;
mod video;

pub use decode::{Limits, decode};
pub use encode::{Encoding, encode};
pub use face::{Face, FaceError, faces, swap_face};
pub use header::{Format, Header, ImageError, header};
pub use label::Label;
pub use mask::Mask;
pub use matte::cut_out;
pub use picture::{Picture, over};
pub use pieces::pieces;
pub use relabel::relabelled;
pub use seamless::{seamless, spread};
pub use strip::{DamagedFile, without_metadata};
pub use upscale::upscale;
pub use video::{
    Fineness, VideoError, VideoInfo, encode_video, encode_video_as, first_frame, fit_video,
    frame_at, label_video, last_frame, video_info,
};
