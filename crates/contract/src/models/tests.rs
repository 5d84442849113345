//! The catalogue, without any store or service.

mod builtin;
