//! Intake: a call becomes an accepted job.

pub(crate) mod submit;
