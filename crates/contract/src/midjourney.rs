//! The wire format of midjourney-proxy, in both of its dialects: what its calls come to here, and jobs as its tasks.

mod interpret;
mod task;

pub use interpret::{NewTask, TaskAction, TaskJob, interpret, region_modal_id};
pub use task::{Button, ButtonAction, Link, STATE, TaskView, button_action, callback, modal_task};

use crate::families::{artgen, facegen};

/// The operations whose jobs are tasks.
pub fn task_operations() -> Vec<String> {
    let families = [artgen::FAMILY, artgen::video::FAMILY, facegen::FAMILY];
    let submits = families.iter().flat_map(|family| family.submits);
    submits.map(|submit| submit.name.to_owned()).collect()
}
