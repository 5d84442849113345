//! An operation is a function from a request to an order: price, brief, callback, time limit. Rules over one field
//! are the field's type; rules over several fields, or over the parent job, are the first lines of `order`.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use serde_json::Value;

use crate::body::Fields;
use crate::brief::Brief;
use crate::fields::{HookUrl, ImageUrl};
use crate::ids::JobId;
use crate::job::{Job, Speed};
use crate::models::{CATALOGUE_FIELD, CatalogueTotal};
use crate::refusal::{Code, Refusal};
use crate::tariff::Price;

/// The jobs of the same account that a request refers to.
#[derive(Clone, Copy, Default)]
pub struct ReferencedJobs<'a> {
    /// The job named by [`Operation::parent`].
    pub parent: Option<&'a Job>,
    /// The jobs named by [`Operation::cites`] that exist.
    pub cited: &'a [Job],
}

impl<'a> ReferencedJobs<'a> {
    /// The parent, refused unless it is a job of the family and finished successfully. A job of another family is
    /// answered like one that does not exist. The family is known by what its operations' names have before their last
    /// word, so that an operation needs no table of operations.
    pub fn finished_parent(self, field: &str, stem: &str) -> Result<&'a Job, Refusal> {
        let of_family = |job: &&Job| {
            let named = job.operation.rsplit_once('.');
            named.is_some_and(|(found, _)| found == stem)
        };
        let parent = self
            .parent
            .filter(of_family)
            .ok_or_else(|| Refusal::field(Code::JobNotFound, field, "job not found"))?;
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
    /// Fields that have a second spelling: the documented one first, which wins where a call gives both.
    const SPELLINGS: &'static [(&'static str, &'static str)] = &[];

    /// The models whose answers can be streamed, where the operation answers with its result.
    const STREAMED_MODELS: &'static [&'static str] = &[];

    /// The earlier job it follows.
    fn parent(&self) -> Option<JobId> {
        None
    }

    /// Names of earlier results it mentions, by alias.
    fn cites(&self) -> Vec<String> {
        Vec::new()
    }

    /// The texts to hold against the list of banned words, each with its field; the main prompt first.
    fn prompts(&self) -> Vec<(String, &str)> {
        Vec::new()
    }

    /// What to make and what it costs, or why not.
    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal>;
}

/// A parsed request of any operation.
pub trait Request: Send + Sync {
    /// The earlier job it follows.
    fn parent(&self) -> Option<JobId>;
    /// Names of earlier results it mentions.
    fn cites(&self) -> Vec<String>;
    /// The texts to hold against the list of banned words, each with its field; the main prompt first.
    fn prompts(&self) -> Vec<(String, &str)>;
    /// The prompt that lists, searches and word rules look at; `None` for an operation without one.
    fn prompt(&self) -> Option<&str> {
        self.prompts().first().map(|(_, text)| *text)
    }
    /// What to make and what it costs, before the pictures that came inline are looked at.
    fn draft(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal>;
    /// What to make and what it costs, or why not.
    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let order = self.draft(context)?;
        order.brief.check_inline()?;
        Ok(order)
    }
    /// The request with every default resolved, as it is stored.
    fn to_fields(&self) -> Fields;
    /// The same in the caller's words alone, without what the service keeps beside them.
    fn as_asked(&self) -> Fields {
        self.to_fields()
    }
}

impl<T: Operation + Send + Sync> Request for T {
    fn parent(&self) -> Option<JobId> {
        Operation::parent(self)
    }
    fn cites(&self) -> Vec<String> {
        Operation::cites(self)
    }
    fn prompts(&self) -> Vec<(String, &str)> {
        Operation::prompts(self)
    }
    fn draft(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        Operation::order(self, context)
    }
    fn to_fields(&self) -> Fields {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Fields::new(),
        }
    }
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// What it costs, as keys of the tariff.
    pub price: Price,
    /// What it costs by the catalogue, which goes before the tariff; `None` where no row has a price.
    pub catalogue_price: Option<CatalogueTotal>,
    /// What to make; an order changes hands often.
    pub brief: Box<Brief>,
    /// Where to post the result.
    pub hook: Option<HookUrl>,
    /// The field that address came in, as its family documents it.
    pub hook_field: &'static str,
    /// Addresses that this order does not use but that are kept with the request: they meet the same rules.
    pub mentions: Vec<(String, ImageUrl)>,
    /// Time limit in seconds; `None` for the family's.
    pub timeout_s: Option<u32>,
    /// Place in the queue.
    pub speed: Speed,
    /// What the request alone does not say but results and follow-ups need: what was inherited from the parent or
    /// read out of the prompt. It is merged into the stored request (see [`Order::stored`]). It is safe from
    /// callers: a request keeps only its own documented fields, so none of these names is ever read from a call.
    pub resolved: Fields,
}

impl Order {
    /// An order with a price and a brief.
    pub fn new(price: Price, brief: Brief) -> Self {
        Self {
            price,
            catalogue_price: None,
            brief: Box::new(brief),
            hook: None,
            hook_field: "hookUrl",
            mentions: Vec::new(),
            timeout_s: None,
            speed: Speed::Fast,
            resolved: Fields::new(),
        }
    }

    /// Keeps a value for results and follow-ups; see [`Order::resolved`].
    #[must_use]
    pub fn resolve(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.resolved.insert(name.to_owned(), value.into());
        self
    }

    /// The request as it is stored: every default resolved, and what the order found out beside it.
    pub fn stored(&self, request: &dyn Request) -> Fields {
        let mut fields = request.to_fields();
        fields.extend(self.resolved.clone());
        // An order that goes out from an earlier job may have found that the model named is not the one it has.
        if fields.get(CATALOGUE_FIELD).is_some_and(Value::is_null) {
            fields.remove(CATALOGUE_FIELD);
        }
        fields
    }

    /// Sets the callback address.
    #[must_use]
    pub fn hook(mut self, hook: Option<&HookUrl>) -> Self {
        self.hook = hook.cloned();
        self
    }

    /// Sets the callback address where its field has another name than usual.
    #[must_use]
    pub fn hook_in(self, field: &'static str, hook: Option<&HookUrl>) -> Self {
        Self {
            hook_field: field,
            ..self.hook(hook)
        }
    }

    /// Names an address that is kept but not used.
    #[must_use]
    pub fn mention(mut self, field: &str, url: Option<&ImageUrl>) -> Self {
        let named = url.map(|url| (field.to_owned(), url.clone()));
        self.mentions.extend(named);
        self
    }

    /// Sets the time limit.
    #[must_use]
    pub fn within(mut self, seconds: u32) -> Self {
        self.timeout_s = Some(seconds);
        self
    }

    /// Sets the place in the queue.
    #[must_use]
    pub fn at(mut self, speed: Speed) -> Self {
        self.speed = speed;
        self
    }
}
