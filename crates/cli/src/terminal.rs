//! What is shown to a person, and what is told to a program: colour, tables, bars and pictures only on a terminal.

pub(crate) mod bar;
pub(crate) mod picture;
pub mod screen;
pub(crate) mod table;
