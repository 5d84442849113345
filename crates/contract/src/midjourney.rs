//! The wire format of midjourney-proxy, in both of its dialects: what its calls come to here, and jobs as its tasks.

mod interpret;
mod task;

use interpret::EDITS;
pub use interpret::{NewTask, TaskAction, TaskJob, interpret, region_modal_id};
pub use task::{Button, ButtonAction, Link, TaskView, button_action, callback, modal_task};

use crate::families::{artgen, facegen};
use crate::family::Family;
use crate::job::Job;
use crate::kept::MIDJOURNEY_STATE;

/// The families whose jobs are tasks.
const TASKS: [Family; 3] = [artgen::FAMILY, artgen::video::FAMILY, facegen::FAMILY];

/// Whether a job is a task: those of some families are, and what was asked for as one.
pub fn is_task(job: &Job) -> bool {
    let mut submits = TASKS.iter().flat_map(|family| family.submits);
    submits.any(|submit| submit.name == job.operation) || job.request.contains_key(MIDJOURNEY_STATE)
}

/// The operations whose jobs are tasks; edits only where they were asked for as tasks.
pub fn task_operations() -> Vec<String> {
    let submits = TASKS.iter().flat_map(|family| family.submits);
    let names = submits.map(|submit| submit.name.to_owned());
    names.chain([EDITS.to_owned()]).collect()
}
