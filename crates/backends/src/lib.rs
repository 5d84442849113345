//! Who makes the media: one file per vendor, and the embedded engine.
//!
//! Invariants: backends never see an API key of a caller, never read or write the store, and treat everything that
//! comes back over the network as hostile.

pub mod backend;
mod bases;
mod border;
pub mod comfyui;
#[cfg(feature = "studio")]
pub mod embedded;
mod film;
mod fit;
mod frame;
pub mod guard;
pub mod http;
pub mod midjourney;
pub mod openai;
mod pool;
mod prints;
mod received;
pub mod relay;
pub mod sdwebui;
mod seeds;
pub mod vendor;
mod verdict;
mod wanted;

pub use atelier_media::without_metadata;
pub use backend::{Backend, Class, Fault, Made, MadeFile, Progress, Started, Work};
pub use vendor::{Secret, Setup, Vendor};

/// Every vendor, by name.
pub const VENDORS: &[Vendor] = &[
    relay::VENDOR,
    midjourney::VENDOR,
    openai::VENDOR,
    sdwebui::VENDOR,
    comfyui::VENDOR,
];
