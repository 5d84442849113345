//! Vendors of tasks: a request is sent, gets a name, and is asked about until its files are there. What such vendors
//! have in common is here; each of them says only how it writes and reads.

mod chain;
mod desk;
mod heard;
mod scene;
mod sheet;
mod skills;
mod speech;
mod timing;

pub(crate) use chain::Passes;
pub(crate) use desk::Desk;
pub(crate) use heard::Heard;
pub(crate) use scene::{Films, Lengths, Scene, asked_size, films, nearest_ratio, words};
pub(crate) use sheet::{Masks, Pictures, Sheet};
pub(crate) use skills::{ANIME, Skills, label, refused};
pub(crate) use speech::{Brought, Found, Plan, Speech, Told, id};
pub(crate) use timing::{patience, pause};
