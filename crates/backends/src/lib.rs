//! Who makes the media: one folder per vendor, and the embedded engine.
//!
//! Invariants: backends never see an API key of a caller, never read or write the store, and treat everything that
//! comes back over the network as hostile.

#![warn(missing_docs)]

// A vendor that was written and tested outside, as that of the guide, is taken in as it stands.
extern crate self as atelier_backends;

pub mod backend;
mod cancellation;
mod canvas;
mod clock;
pub mod credentials;
mod downloads;
#[cfg(feature = "studio")]
pub mod embedded;
mod fetch_images;
mod field_error;
mod files;
mod fit;
pub mod guard;
pub mod hooks;
pub mod http;
mod images;
mod inputs;
mod mapping;
mod models;
mod origins;
mod seeds;
mod studio_settings;
pub mod support;
mod task_vendor;
mod thumbs;
mod unit_costs;
pub mod vendor;
mod vendor_errors;
mod vendors;
mod videos;
mod worker;

pub use atelier_media::without_metadata;
pub use backend::{
    Backend, Class, Cost, Fault, NextPass, OutputFile, PollOutcome, StartOutcome, Work, WorkOutput,
    unknown_model,
};
pub use field_error::FieldError;
pub use hooks::WebhookRequest;
pub use studio_settings::{StudioSettings, Tempo};
pub use thumbs::thumbnail;
pub use unit_costs::{ExpectedCost, expected_cost};
pub use vendor::{Secret, Setup, Vendor};
pub use vendors::{VENDORS, vendor_named};
pub use videos::{video_seconds, video_type};
pub use worker::Worker;
