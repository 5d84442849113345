//! The service as somebody else's program sees it.

pub(crate) mod download;
pub(crate) mod events;
pub(crate) mod fault;
mod fields;
mod file;
mod idempotency;
pub(crate) mod profile;
mod request;
mod rows;
mod transport;
mod upload;

pub(crate) use fields::{
    FieldArg, build_request, field_names, field_of, find_operation, model_field, picture, resolved,
    segment, takes_file,
};
pub(crate) use file::{UploadFile, data_uri, media_file_at, read_text};
pub(crate) use idempotency::fresh_key;
pub(crate) use request::{ApiRequest, FormValue, RequestBody};
pub(crate) use rows::{Row, read as read_rows};
pub(crate) use transport::Client;
pub(crate) use upload::Uploader;
