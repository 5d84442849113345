//! Pages of lists, moments and periods in parameters.

use atelier_contract::Refusal;
use atelier_contract::body::{self, Fields};
use atelier_contract::fields::Count;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::Deserialize;

/// One page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paging {
    pub(super) page: i64,
    pub(super) limit: i64,
}

/// The page asked for; the rest of the fields is for somebody else.
pub(super) fn of(fields: &Fields) -> Result<Paging, Refusal> {
    #[derive(Deserialize)]
    struct Query {
        #[serde(default)]
        page: Count<1, 1_000_000, 1>,
        #[serde(default)]
        limit: Count<1, 100, 10>,
    }
    let Query { page, limit } = body::read(fields.clone())?;
    Ok(Paging {
        page: page.get(),
        limit: limit.get(),
    })
}

/// A moment given as `YYYY-MM-DD` or `YYYY-MM-DD HH:MM:SS` (UTC), in milliseconds since 1970.
pub(super) fn moment(fields: &Fields, name: &str) -> Result<Option<i64>, Refusal> {
    let Some(value) = fields.get(name).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let text = value.as_str().unwrap_or_default().trim();
    if value.as_str() == Some("") {
        return Ok(None);
    }
    let at = text
        .parse::<DateTime>()
        .or_else(|_| text.parse::<Date>().map(|day| day.at(0, 0, 0, 0)));
    let at = at.and_then(|at| at.to_zoned(TimeZone::UTC));
    match at {
        Ok(at) => Ok(Some(at.timestamp().as_millisecond())),
        Err(_) => Err(Refusal::invalid(
            name,
            "must be a date such as 2026-01-31 or 2026-01-31 12:00:00 (UTC)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: serde_json::Value) -> Fields {
        match value {
            serde_json::Value::Object(fields) => fields,
            _ => Fields::new(),
        }
    }

    #[test]
    fn moments_are_dates_with_or_without_a_time() {
        let read = |text: &str| moment(&fields(json!({ "from": text })), "from");
        assert_eq!(read("1970-01-02"), Ok(Some(86_400_000)));
        assert_eq!(read("1970-01-01 00:00:01"), Ok(Some(1000)));
        assert_eq!(read("1970-01-01T00:00:02"), Ok(Some(2000)));
        assert_eq!(read(""), Ok(None));
        assert!(read("yesterday").is_err());
        assert!(moment(&fields(json!({ "from": 7 })), "from").is_err());
    }

    #[test]
    fn a_page_out_of_bounds_is_refused_by_name() {
        let refusal = of(&fields(json!({ "limit": "101" }))).expect_err("too many");
        assert_eq!(refusal.field.as_deref(), Some("limit"));
        assert_eq!(
            of(&fields(json!({ "page": "3" }))),
            Ok(Paging { page: 3, limit: 10 })
        );
    }
}
