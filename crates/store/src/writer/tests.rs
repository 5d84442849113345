//! The writer survives what a change does to it.
