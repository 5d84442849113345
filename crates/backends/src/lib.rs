//! Who makes the media: one folder per vendor, and the embedded engine.
//!
//! Invariants: backends never see an API key of a caller, never read or write the store, and treat everything that
//! comes back over the network as hostile.

mod answers;
pub mod backend;
mod cancelled;
mod canvas;
mod clips;
mod clock;
pub mod credentials;
mod downloads;
#[cfg(feature = "studio")]
pub mod embedded;
mod fetched;
mod files;
mod fit;
pub mod guard;
pub mod heavy;
pub mod hooks;
pub mod http;
mod inputs;
mod mapping;
mod models;
mod origins;
mod pictures;
pub mod regard;
pub mod reserved;
mod seeds;
mod tasks;
mod threads;
mod thumbs;
pub mod vendor;
mod vendors;
mod worker;
mod wrong;

pub use atelier_media::without_metadata;
pub use atelier_shares::{allowances, shares};
pub use backend::{Backend, Class, Cost, Fault, Made, MadeFile, Progress, Started, Step, Work};
pub use clips::{clip_seconds, clip_type};
pub use hooks::Post;
pub use thumbs::thumbnail;
pub use vendor::{Secret, Setup, Vendor};
pub use vendors::{VENDORS, vendor_named};
pub use worker::Worker;
pub use wrong::Wrong;
