//! Identifiers. Each is a type of its own, so that an account's is never taken for a job's; as JSON, in a schema and in
//! a database each is plain text.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// No identifier of ours is longer, so no longer one needs to be looked for.
const MOST_ID_CHARACTERS: usize = 100;

macro_rules! identifier {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps an identifier; any text may be asked for, only ours will be found.
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            /// The identifier as text that many may hold.
            pub fn shared(&self) -> &Arc<str> {
                &self.0
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}

identifier! {
    /// A job's identifier: UUID-shaped, or a family's own style.
    JobId
}

identifier! {
    /// Identifier of a caller's account.
    AccountId
}

identifier! {
    /// One attempt at a job, which vendors see as well.
    AttemptId
}

identifier! {
    /// Identifier of a back end.
    BackendId
}

identifier! {
    /// A worker account at a back end.
    WorkerId
}

/// The identifiers that answers of the service carry.
macro_rules! shown {
    ($($name:ident),*) => {
        $(impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                "string".into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        })*
    };
}
shown!(AccountId, BackendId, WorkerId);

impl<'de> Deserialize<'de> for JobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = crate::fields::as_text(deserializer)?;
        if text.chars().count() > MOST_ID_CHARACTERS {
            let message = "must be a job identifier of at most 100 characters";
            return Err(de::Error::custom(message));
        }
        Ok(Self(text.into()))
    }
}

impl JsonSchema for JobId {
    fn schema_name() -> Cow<'static, str> {
        "JobId".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MOST_ID_CHARACTERS, "x-widget": "job" })
    }
}

impl JobId {
    /// When the job was made, where its identifier says so: those in the shape of a UUID begin with the time.
    pub fn made_ms(&self) -> Option<i64> {
        let mut parts = self.0.split('-');
        let (first, second) = (parts.next()?, parts.next()?);
        let is_ordered = parts.next()?.starts_with('7') && first.len() == 8 && second.len() == 4;
        let number = i64::from_str_radix(&format!("{first}{second}"), 16).ok()?;
        is_ordered.then_some(number)
    }
}

impl AttemptId {
    /// The attempt at a job by the lease with a fence.
    pub fn of(job: &JobId, fence: i64) -> Self {
        format!("{job}-{fence}").into()
    }

    /// The job it is an attempt at; `None` for what is no such identifier.
    pub fn job(&self) -> Option<JobId> {
        let (job, fence) = self.0.rsplit_once('-')?;
        fence.parse::<i64>().ok()?;
        Some(job.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_knows_its_job() {
        let job = JobId::new("0190-ab-7");
        let attempt = AttemptId::of(&job, 12);
        assert_eq!(attempt, "0190-ab-7-12");
        assert_eq!(attempt.job(), Some(job));
        assert_eq!(AttemptId::new("no-fence-").job(), None);
    }

    #[test]
    fn as_json_an_identifier_is_its_text() {
        let written = serde_json::to_string(&AccountId::new("a\"b")).expect("JSON");
        assert_eq!(written, r#""a\"b""#);
    }
}
