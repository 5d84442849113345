//! The wire format of midjourney-proxy, in both of its dialects: what its calls come to here, and jobs as its tasks.

mod task;
mod wish;

pub use task::{Button, Link, Press, STATE, TaskView, callback, press, window};
pub use wish::{NewTask, Wish, WishedJob, region, wish};

use crate::families::{artgen, facegen};

/// The operations whose jobs are tasks.
pub fn task_operations() -> Vec<String> {
    let families = [artgen::FAMILY, artgen::video::FAMILY, facegen::FAMILY];
    let submits = families.iter().flat_map(|family| family.submits);
    submits.map(|submit| submit.name.to_owned()).collect()
}
