//! Whose spending is asked for, in the engine's words.

use atelier_contract::Refusal;
use atelier_contract::fields::Text;
use atelier_contract::pages::exports::ExportQuery;
use atelier_contract::pages::jobs::JobsQuery;
use atelier_contract::pages::spending::{LedgerQuery, UsageQuery};
use atelier_contract::tags::{check_tag_name, read_tag_filter};
use atelier_engine::records::{SpenderFilter, UsageKind};

/// What usage may be added up by.
const KINDS: &str = "must be key, member, model, operation or tag:NAME";

fn text<const MOST: usize>(given: Option<&Text<MOST>>) -> Option<String> {
    given.map(|text| (**text).to_owned())
}

/// A tag that is asked for.
fn tag(given: Option<&Text<200>>) -> Result<Option<(String, String)>, Refusal> {
    given.map(|text| read_tag_filter(text)).transpose()
}

/// Who spent, of a query that names it: each has the same fields, which it describes in its own words.
macro_rules! spender {
    ($query:expr) => {
        Ok(SpenderFilter {
            key_id: text($query.key_id.as_ref()),
            member_id: text($query.member_id.as_ref()),
            model: text($query.model.as_ref()),
            operation: text($query.operation.as_ref()),
            tag: tag($query.tag.as_ref())?,
            user: text($query.user.as_ref()),
        })
    };
}

/// The jobs whose movements are asked for.
pub(super) fn of_ledger(query: &LedgerQuery) -> Result<SpenderFilter, Refusal> {
    spender!(query)
}

/// The jobs whose usage is asked for.
pub(super) fn of_usage(query: &UsageQuery) -> Result<SpenderFilter, Refusal> {
    spender!(query)
}

/// The jobs that are listed.
pub(super) fn of_jobs(query: &JobsQuery) -> Result<SpenderFilter, Refusal> {
    spender!(query)
}

/// The jobs whose rows are exported.
pub(super) fn of_export(query: &ExportQuery) -> Result<SpenderFilter, Refusal> {
    spender!(query)
}

/// What usage is added up by.
pub(super) fn kind(by: &str) -> Result<UsageKind, Refusal> {
    Ok(match by {
        "key" => UsageKind::Key,
        "member" => UsageKind::Member,
        "model" => UsageKind::Model,
        "operation" => UsageKind::Operation,
        _ => {
            let name = by
                .strip_prefix("tag:")
                .ok_or_else(|| Refusal::invalid("by", KINDS))?;
            check_tag_name("by", name)?;
            UsageKind::Tag(name.to_owned())
        }
    })
}
