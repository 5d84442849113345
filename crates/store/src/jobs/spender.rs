//! Whose spending is asked for, as conditions of a statement over jobs.

use crate::db::{Arg, args, json};

/// Whose spending is asked for; what is absent is everybody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpenderFilter {
    /// Of this key.
    pub key_id: Option<String>,
    /// Of this member of the account.
    pub member_id: Option<String>,
    /// Of jobs that name this model.
    pub model: Option<String>,
    /// Of this operation.
    pub operation: Option<String>,
    /// Of jobs with this tag: its name and what it says.
    pub tag: Option<(String, String)>,
    /// Of this end user.
    pub user: Option<String>,
}

/// Who spent, as a row tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowSpender<'a> {
    pub key_id: Option<&'a str>,
    pub member_id: Option<&'a str>,
    pub model: Option<&'a str>,
    pub operation: Option<&'a str>,
    /// As a JSON object of texts.
    pub tags: Option<&'a str>,
    pub user: Option<&'a str>,
}

impl SpenderFilter {
    /// Whether a row is one of those that are asked for: what the conditions say of rows that were not filtered by them.
    pub fn matches(&self, row: &RowSpender<'_>) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let has_tag = |tag: String| row.tags.is_some_and(|tags| tags.contains(&tag));
        same(&self.key_id, row.key_id)
            && same(&self.member_id, row.member_id)
            && same(&self.model, row.model)
            && same(&self.operation, row.operation)
            && same(&self.user, row.user)
            && self.tag_text().is_none_or(has_tag)
    }

    /// Whether everybody's is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether only the jobs themselves can tell.
    pub fn needs_jobs(&self) -> bool {
        self.tag.is_some() || self.user.is_some()
    }

    /// A tag as it stands among those of a job.
    pub(crate) fn tag_text(&self) -> Option<String> {
        let (name, value) = self.tag.as_ref()?;
        Some(format!("{}:{}", json(name), json(value)))
    }

    /// The conditions on jobs; their values are [`SpenderFilter::values`], the first of which has this number.
    pub(crate) fn conditions(first: usize) -> String {
        let (sums, [tag, user]) = (
            Self::conditions_of("job", "used_model", first),
            [4, 5].map(|place| first + place),
        );
        format!(
            "{sums} AND (${tag} IS NULL OR REPLACE(job.tags, ${tag}, '') <> job.tags) AND (${user} IS NULL OR job.end_user = ${user})"
        )
    }

    /// The same on sums of jobs, which know neither tags nor end users; so named are the models there.
    pub(crate) fn conditions_of(table: &str, models: &str, first: usize) -> String {
        let [key, member, model, operation] = [0, 1, 2, 3].map(|place| first + place);
        format!(
            "(${key} IS NULL OR {table}.key_id = ${key}) AND (${member} IS NULL OR {table}.member_id = ${member}) \
             AND (${model} IS NULL OR {table}.{models} = ${model}) AND (${operation} IS NULL OR {table}.operation = ${operation})"
        )
    }

    /// The values of the conditions.
    pub(crate) fn values<'a>(&'a self, tag: Option<&'a str>) -> [Arg<'a>; 6] {
        *args![
            self.key_id.as_deref(),
            self.member_id.as_deref(),
            self.model.as_deref(),
            self.operation.as_deref(),
            tag,
            self.user.as_deref()
        ]
    }
}
