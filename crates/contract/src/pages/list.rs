//! Lists: which page of one is asked for.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::fields::{Count, Moment};

/// Number of a page.
pub type PageNumber = Count<1, 1_000_000, 1>;
/// Rows on a page.
pub type PageSize = Count<1, 100, 10>;

/// Which page of a list.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct ListQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// Rows on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
}

/// Which page of a list, and which part of it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct PeriodQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// Rows on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
    /// Only rows of this moment or later.
    #[serde(default)]
    pub from: Option<Moment>,
    /// Only rows before this moment.
    #[serde(default)]
    pub to: Option<Moment>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;

    fn read(text: &str) -> Result<(i64, i64), crate::Refusal> {
        let query: ListQuery = body::read(body::parse_object(text.as_bytes())?)?;
        Ok((query.page.get(), query.limit.get()))
    }

    #[test]
    fn a_page_out_of_bounds_is_refused_by_name() {
        let refusal = read(r#"{"limit":"101"}"#).expect_err("too many");
        assert_eq!(refusal.field.as_deref(), Some("limit"));
        assert_eq!(read(r#"{"page":"3"}"#), Ok((3, 10)));
    }
}
