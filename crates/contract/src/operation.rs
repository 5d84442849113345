//! An operation is a function from a request to an order: price, brief, callback, time limit. Rules over one field
//! are the field's type; rules over several fields, or over the parent job, are the first lines of `order`.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::brief::Brief;
use crate::fields::HookUrl;
use crate::job::{Job, JobId, Speed};
use crate::refusal::{Code, Refusal};
use crate::tariff::Price;

/// The jobs of the same account that a request refers to.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// The job named by [`Operation::parent`].
    pub parent: Option<&'a Job>,
    /// The jobs named by [`Operation::cites`] that exist.
    pub cited: &'a [Job],
}

impl<'a> Context<'a> {
    /// The parent, refused unless it finished successfully.
    pub fn finished_parent(self, field: &str) -> Result<&'a Job, Refusal> {
        let parent = self.parent.ok_or_else(Refusal::job_not_found)?;
        if parent.output().is_none() {
            let message = format!(
                "the job must have finished successfully, it is {}",
                parent.state.word()
            );
            return Err(Refusal::field(Code::ParentNotFinished, field, message));
        }
        Ok(parent)
    }
}

/// A request type that can be ordered.
pub trait Operation: Serialize + DeserializeOwned + JsonSchema {
    /// The earlier job it follows.
    fn parent(&self) -> Option<JobId> {
        None
    }

    /// Names of earlier results it mentions, by alias.
    fn cites(&self) -> Vec<String> {
        Vec::new()
    }

    /// The text to hold against the list of banned words.
    fn prompt(&self) -> Option<&str> {
        None
    }

    /// What to make and what it costs, or why not.
    fn order(&self, context: Context<'_>) -> Result<Order, Refusal>;
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// What it costs, as keys of the tariff.
    pub price: Price,
    /// What to make.
    pub brief: Brief,
    /// Where to post the result.
    pub hook: Option<HookUrl>,
    /// Time limit in seconds; `None` for the family's.
    pub timeout_s: Option<u32>,
    /// Place in the queue.
    pub speed: Speed,
}

impl Order {
    /// An order with a price and a brief.
    pub fn new(price: Price, brief: Brief) -> Self {
        Self {
            price,
            brief,
            hook: None,
            timeout_s: None,
            speed: Speed::Fast,
        }
    }

    /// Sets the callback address.
    pub fn hook(mut self, hook: Option<&HookUrl>) -> Self {
        self.hook = hook.cloned();
        self
    }

    /// Sets the time limit.
    pub fn within(mut self, seconds: u32) -> Self {
        self.timeout_s = Some(seconds);
        self
    }

    /// Sets the place in the queue.
    pub fn at(mut self, speed: Speed) -> Self {
        self.speed = speed;
        self
    }
}
