//! The models that requests may name: the built-in ones, read from the table, so that a family's new model is known here by
//! itself, and those of the operators' catalogue.

mod builtin;
mod catalogue;
mod check;
mod check_fields;
mod check_price;
mod definition;
mod exact;
mod facts;
mod index;
mod like;
mod names;
mod note;
mod price;
mod render;
mod request;
mod routes;
mod row;
mod rules;
mod schema;
mod short_text;
mod stored;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub(crate) use builtin::builtin_model;
pub use builtin::{Model, model_of, models};
pub use catalogue::{Audience, DEFAULT_GROUP, ListedModel, ModelCatalogue, ParsedCall};
pub use check::CheckContext;
pub use definition::{FieldRule, ModelDefinition, ModelRevision};
pub(crate) use exact::{AMOUNT_MOST, FACTOR_MOST, Fraction, bounded};
pub use like::operations_of;
pub use names::model_key;
pub(crate) use names::{NOT_A_NAME, is_name};
pub(crate) use note::put_back;
pub use note::{CATALOGUE_FIELD, ModelNote, as_asked, note_of};
pub use price::{CatalogueTotal, ModelPrice, PriceLine, PriceUnit, UnitPrice};
pub use render::{render_answer, render_events, render_job};
pub use request::CatalogueRequest;
pub use routes::{Route, Routes, STOP_LOSS, StopLoss, joint_hash, share_hash};
pub use schema::DatedModels;
pub(crate) use stored::StoredModelRequest;
pub use view::price_text;
