//! A line of the table of pages.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::access::Access;
use crate::body::{self, Fields};
use crate::fields::field_order;
use crate::refusal::Refusal;

/// Makes the JSON schema of a type.
pub type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// How a page is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads and changes nothing.
    Get,
    /// Makes something or has something done.
    Post,
    /// Replaces the thing as a whole.
    Put,
    /// Changes the fields that are given.
    Patch,
    /// Removes the thing it names.
    Delete,
}

impl Method {
    /// Its name in HTTP, in capitals.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Fields that a page reads.
#[derive(Clone, Copy)]
pub struct FieldsSpec {
    /// The schema of all of them.
    pub schema: SchemaFn,
    /// Whether some fields would be read, for examples.
    pub reads: fn(Fields) -> Result<(), Refusal>,
    /// Their names, in the order people want to read them.
    pub order: fn() -> &'static [&'static str],
}

impl FieldsSpec {
    /// Fields of a body: their type has a name in the documents.
    pub const fn body<T: DeserializeOwned + JsonSchema>() -> Self {
        Self {
            schema: |generator| generator.subschema_for::<T>(),
            reads: |fields| body::read::<T>(fields).map(|_| ()),
            order: field_order::<T>,
        }
    }

    /// Fields of a query: each stands for itself.
    pub const fn query<T: DeserializeOwned + JsonSchema>() -> Self {
        Self {
            schema: |generator| T::json_schema(generator),
            ..Self::body::<T>()
        }
    }
}

/// What a page reads besides its path.
#[derive(Clone, Copy)]
pub struct PageInput {
    /// Fields of the query string.
    pub query: Option<FieldsSpec>,
    /// From a JSON body.
    pub body: Option<FieldsSpec>,
    /// From a multipart form.
    pub form: Option<SchemaFn>,
}

impl PageInput {
    /// No query, body or form.
    pub const NOTHING: Self = Self {
        query: None,
        body: None,
        form: None,
    };
}

/// What a page answers when all is well.
#[derive(Clone, Copy)]
pub enum PageOutput {
    /// The usual envelope around `data`.
    Data(SchemaFn),
    /// The usual envelope around one page of a list; the function describes an item.
    List(SchemaFn),
    /// The same for a list that says where it goes on.
    Continued(SchemaFn),
    /// JSON without an envelope.
    Json(SchemaFn),
    /// The answer of another operation once it is there, and this until then (202).
    Later(SchemaFn),
    /// A stream of server-sent events.
    Events,
    /// Messages of a protocol of their own: JSON, events, or nothing.
    Messages,
    /// Something else, by its media type.
    Media(&'static str),
}

/// Which listeners have a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageListeners {
    /// The listeners that callers use.
    Main,
    /// Every listener of the service.
    Every,
    /// Those for callers and those for files.
    Files,
    /// Those for callers and the alternative host.
    Alternative,
    /// The one for collectors of counters, or those for callers when there is none.
    Metrics,
}

/// A page of the service's own: where it is, who may call it, what it reads and answers.
#[derive(Clone, Copy)]
pub struct Page<H> {
    /// How it is asked.
    pub methods: &'static [Method],
    /// Where it is; `{name}` stands for one segment, a last `{*name}` for all that follow.
    pub path: &'static str,
    /// Its name in the form `group.operation`.
    pub name: &'static str,
    /// Who may call it.
    pub access: Access,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// A valid body, as JSON text.
    pub example: Option<&'static str>,
    /// Which listeners have it.
    pub door: PageListeners,
    /// Whether it takes an `Idempotency-Key`.
    pub idempotent: bool,
    /// Whether it answers under the service's own names alone, unless the request has a credential of its own.
    pub own_names: bool,
    /// What it reads besides its path.
    pub takes: PageInput,
    /// What it answers when all is well.
    pub gives: PageOutput,
    /// The function that answers; the contract itself has none.
    pub handler: H,
}

impl<H: Copy> Page<H> {
    /// Gives a valid body.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self {
            example: Some(example),
            ..self
        }
    }

    /// Names the listeners that have it.
    #[must_use]
    pub const fn at(self, door: PageListeners) -> Self {
        Self { door, ..self }
    }

    /// Lets a repetition be known by an `Idempotency-Key`.
    #[must_use]
    pub const fn idempotent(self) -> Self {
        Self {
            idempotent: true,
            ..self
        }
    }

    /// Has it answer under the service's own names alone.
    #[must_use]
    pub const fn under_own_names(self) -> Self {
        Self {
            own_names: true,
            ..self
        }
    }

    /// Lets it be asked with several methods.
    #[must_use]
    pub const fn by(self, methods: &'static [Method]) -> Self {
        Self { methods, ..self }
    }
}
