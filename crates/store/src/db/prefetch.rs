//! What a transaction is known to ask first. On PostgreSQL, where every statement is a way there and back while accounts are
//! locked, it goes there with the beginning, and its answers wait on the connection until they are asked for.

use std::borrow::Cow;
use std::fmt::Write as _;

use sqlx::postgres::PgRow;

use crate::db::statement::Arg;
use crate::dialect::Dialect;

/// A statement whose values are texts.
pub(crate) struct PrefetchQuery {
    /// What it is prepared as.
    pub(crate) name: &'static str,
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<String>,
}

impl PrefetchQuery {
    /// How it is made ready, once for each connection.
    pub(crate) fn prepared(&self) -> String {
        let types = vec!["text"; self.values.len()].join(", ");
        let text = Dialect::Postgres.text(&self.sql);
        format!("PREPARE {} ({types}) AS {text}", self.name)
    }

    /// How it is asked.
    pub(crate) fn executed(&self) -> String {
        let mut asked = format!("EXECUTE {} (", self.name);
        for (index, value) in self.values.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let value = value.replace('\'', "''");
            write!(asked, "{comma}'{value}'").expect("a text takes all");
        }
        asked + ")"
    }
}

/// Answers that came before they were asked for.
#[derive(Default)]
pub(super) struct PrefetchCache(Vec<(PrefetchQuery, Vec<PgRow>)>);

impl PrefetchCache {
    pub(super) fn new(answered: Vec<(PrefetchQuery, Vec<PgRow>)>) -> Self {
        Self(answered)
    }

    /// The answer to a statement, once.
    pub(super) fn take(&mut self, sql: &str, args: &[Arg<'_>]) -> Option<Vec<PgRow>> {
        let same = |(question, _): &(PrefetchQuery, Vec<PgRow>)| {
            let values = question.values.iter().map(|value| Some(value.as_str()));
            question.sql == sql
                && question.values.len() == args.len()
                && args.iter().map(Arg::text).eq(values)
        };
        let found = self.0.iter().position(same)?;
        Some(self.0.swap_remove(found).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::args;

    fn question() -> PrefetchQuery {
        PrefetchQuery {
            name: "those",
            sql: "SELECT 1 WHERE 'a' IN ({list:$1}) OR $2 = ''".into(),
            values: vec![r#"["it's"]"#.to_owned(), String::new()],
        }
    }

    #[test]
    fn a_value_stays_a_value() {
        let prepared = question().prepared();
        assert!(prepared.starts_with("PREPARE those (text, text) AS SELECT 1"));
        assert_eq!(question().executed(), r#"EXECUTE those ('["it''s"]', '')"#);
    }

    /// An answer is never taken for that to something else, nor twice.
    #[test]
    fn an_answer_belongs_to_one_question() {
        let mut ahead = PrefetchCache::new(vec![(question(), Vec::new())]);
        let (sql, it) = (question().sql, r#"["it's"]"#);
        assert!(ahead.take(&sql, args![it]).is_none());
        assert!(ahead.take(&sql, args![it, "x"]).is_none());
        assert!(ahead.take("SELECT 1", args![it, ""]).is_none());
        assert!(ahead.take(&sql, args![it, ""]).is_some());
        assert!(ahead.take(&sql, args![it, ""]).is_none());
    }
}
