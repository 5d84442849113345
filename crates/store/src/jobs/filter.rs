//! Which jobs are asked for, as conditions of a statement.

use atelier_contract::JobState;
use atelier_contract::families::prompt_fields;
use atelier_contract::pages::jobs::JobCursor;

use crate::db::{Arg, args};
use crate::jobs::row::JobRow;
use crate::jobs::spender::SpenderFilter;

/// Which jobs to list.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Of one account, or of all.
    pub account_id: Option<String>,
    /// Of these operations; empty means all.
    pub operations: Vec<String>,
    pub state: Option<JobState>,
    /// Only unfinished ones.
    pub open: bool,
    /// Only those whose prompt has these words in its beginning, in any case; or the one whose identifier this is.
    pub text: Option<String>,
    /// Only those that follow this job.
    pub parent_id: Option<String>,
    /// Oldest first.
    pub ascending: bool,
    pub offset: i64,
    /// Rows to return at most.
    pub limit: i64,
    /// Created at or after.
    pub created_from_ms: Option<i64>,
    /// Created before.
    pub created_to_ms: Option<i64>,
    /// Only those that these spend on.
    pub of: SpenderFilter,
    /// Only those that come after this place of the list.
    pub after: Option<JobCursor>,
}

/// A page of jobs, as rows or as what was made of them.
#[derive(Clone, Debug)]
pub struct JobPage<T = JobRow> {
    pub rows: Vec<T>,
    /// How many match; of a search, how many it has found.
    pub total: i64,
    /// Where the list goes on; of a search, where the next one does.
    pub next: Option<JobCursor>,
}

impl JobFilter {
    /// All jobs of a page, which are numbered from 1.
    pub fn page(page: i64, limit: i64) -> Self {
        Self {
            offset: (page - 1).max(0).saturating_mul(limit),
            limit,
            ..Self::default()
        }
    }

    /// Whether the jobs themselves have to be counted: what was added up by the day knows neither parents nor hours.
    pub(super) fn counts_jobs(&self) -> bool {
        let hours = self.account_id.is_none() || self.ascending;
        self.parent_id.is_some() || hours && self.created_from_ms.is_some()
    }

    /// What a text fits that has the words in it.
    pub(super) fn pattern(&self) -> Option<String> {
        self.text.as_deref().map(containing)
    }

    /// Whether a job stays in the list once it is there, unless it is removed.
    pub(super) fn keeps_jobs(&self) -> bool {
        !self.open && self.state.is_none_or(JobState::is_final)
    }

    /// What jobs that have not ended add to what was added up, unless none of them can be asked for: then days come in the
    /// order in which they were added up.
    pub(super) fn open_jobs(&self, columns: &str, which: &str) -> String {
        if self.state.is_some_and(JobState::is_final) {
            return String::new();
        }
        format!(" UNION ALL SELECT {columns} FROM job WHERE job.state < 2 AND {which}")
    }
}

/// The values of the conditions.
pub(super) fn common<'a>(
    filter: &'a JobFilter,
    operations: &'a str,
    pattern: Option<&'a str>,
) -> [Arg<'a>; 6] {
    *args![
        filter.account_id.as_deref(),
        operations,
        filter.state.map(JobState::number),
        pattern,
        filter.text.as_deref(),
        filter.parent_id.as_deref()
    ]
}

/// A pattern that a text fits when it has the words in it.
pub(crate) fn containing(words: &str) -> String {
    let mut pattern = String::from("%");
    for letter in words.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

/// Whether the beginning of a job's prompt has the words in it; families have different fields for it.
fn prompt_condition() -> String {
    format!(
        "SUBSTR({{first:job.request {}}}, 1, 500) {{like}} $4 ESCAPE '\\' AND $5 IS NOT NULL",
        prompt_fields().join(" ")
    )
}

/// A filter that is absent still names its place, so that the values keep theirs.
pub(super) fn conditions(filter: &JobFilter, any_operation: bool) -> String {
    let pick = |present: bool, with: &'static str, without: &'static str| {
        if present { with } else { without }
    };
    let prompt = filter.text.as_ref().map(|_| prompt_condition());
    [
        pick(
            filter.account_id.is_some(),
            "job.account_id = $1",
            "$1 IS NULL",
        ),
        pick(any_operation, "$2 IS NOT NULL", "job.operation {among:$2}"),
        match filter.state {
            // Said twice, because only then an index of those that have ended is known to do.
            Some(state) if state.is_final() => "job.state = $3 AND job.state >= 2",
            // Said as a number for the same reason.
            Some(JobState::Waiting) => {
                "job.state < 2 AND (job.state = 0 OR job.started_ms IS NULL) AND $3 IS NOT NULL"
            }
            Some(_) => "job.state = 1 AND job.started_ms IS NOT NULL AND $3 IS NOT NULL",
            None => "$3 IS NULL",
        },
        prompt.as_deref().unwrap_or("$4 IS NULL AND $5 IS NULL"),
        pick(
            filter.parent_id.is_some(),
            "job.parent_id = $6",
            "$6 IS NULL",
        ),
        pick(filter.open, "job.state < 2", "1 = 1"),
    ]
    .join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::{JobFilter, conditions, containing};

    #[test]
    fn words_to_look_for_mean_themselves() {
        assert_eq!(containing("50 % of_it"), "%50 \\% of\\_it%");
    }

    #[test]
    fn words_are_looked_for_in_every_field_that_a_prompt_may_have() {
        let filter = JobFilter {
            text: Some("fox".into()),
            ..JobFilter::default()
        };
        let expected =
            "SUBSTR({first:job.request prompt userPrompt user_prompt}, 1, 500) {like} $4";
        let sql = conditions(&filter, true);
        assert!(sql.contains(expected), "{sql}");
    }
}
