//! Pictures and clips in memory: decode, draw, resize, cut, join, encode.
//!
//! Invariants: media knows nothing of jobs, accounts, files on disk or the network; every input is bounded before
//! it is decoded; the same input gives the same bytes; nothing here is async.

pub mod anime;
mod blend;
mod decode;
mod describe;
mod encode;
mod face;
mod fill;
mod grain;
mod header;
mod label;
mod layout;
mod mask;
mod matte;
mod net;
mod orientation;
mod palette;
mod picture;
mod pyramid;
mod resize;
mod sampling;
mod scene;
mod seamless;
mod strip;
mod style;
mod subject;
mod upscale;
mod vectorize;
mod video;
mod words;

pub use blend::{blend, restyle};
pub use decode::{Limits, decode};
pub use describe::{describe, seeming_time};
pub use encode::{Encoding, encode};
pub use face::{Face, FaceError, faces, swap_face};
pub use fill::fill;
pub use grain::grained;
pub use header::{Format, Header, ImageError, header};
pub use label::Label;
pub use mask::Mask;
pub use matte::cut_out;
pub use picture::Picture;
pub use scene::{Motion, Place, Scene, Season, Setting, StyleName, Time, Wanted, Weather, Window};
pub use seamless::seamless;
pub use strip::{Damaged, without_metadata};
pub use subject::{Habitat, Kind};
pub use upscale::upscale;
pub use vectorize::vectorize;
pub use video::{
    CameraMove, Film, Morph, VideoError, VideoInfo, camera_move, encode_video, first_frame,
    frame_at, label_video, last_frame, loop_time, morph, video_info, watermark,
};
pub use words::{Tongue, translated_prompt};
