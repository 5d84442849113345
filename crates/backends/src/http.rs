//! The one client that goes out on behalf of callers: callbacks, images, files. Every connection passes the guard,
//! and every wait, size and count has a limit. It follows no proxy setting, and keeps no connection but to receivers of callbacks
//! for a moment, so that each request is judged on the address it really reaches.

mod base64_extractor;
mod callback;
mod client;
mod connect;
mod connection;
mod error;
mod fence;
mod fetch;
mod input_memory;
mod limits;
mod memory;
mod multipart;
mod receivers;
mod resolve;
mod slots;
mod tls;
mod trace;
mod vendor;

pub(crate) use base64_extractor::{Base64Extractor, ExtractedBlobs};
pub use callback::CallbackOutcome;
pub use client::OutboundClient;
pub use error::{FetchError, OutboundError};
pub(crate) use fence::fence;
pub use fence::{Fence, with_fence};
pub use fetch::{Download, FetchedImage};
pub use input_memory::InputMemory;
pub use limits::Limits;
pub use memory::MemoryShare;
pub(crate) use memory::with_share;
pub(crate) use multipart::MultipartForm;
pub use resolve::{DialFn, LookupFn, Resolver};
pub use trace::with_traceparent;
pub(crate) use vendor::{RequestSigner, Secrets, UnsignedCall, encoded, segment};
pub use vendor::{VendorHttp, VendorRequest, VendorResponse};
