//! Notices as commits make them: each is there once, by its name.

use std::collections::HashMap;

use atelier_contract::hex;
use sha2::{Digest as _, Sha256};

use crate::Result;
use crate::changes::delivery::DeliveryResult;
use crate::db::{Arg, Conn, Line, args, json};

/// Something to be told of, once for what it is about and the window that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNotice {
    /// Whom it concerns; the operators where it is empty.
    pub account_id: String,
    pub kind: &'static str,
    /// What it is about.
    pub subject: String,
    /// When the window began.
    pub window_ms: i64,
    /// Since when it is so.
    pub since_ms: i64,
    /// What its text is made of, as a JSON object of texts.
    pub facts: String,
    pub now_ms: i64,
}

impl NewNotice {
    /// Its name: the same for whoever notices the same.
    pub fn id(&self) -> String {
        let mut digest = Sha256::new();
        for part in [
            &self.account_id,
            self.kind,
            &self.subject,
            &self.window_ms.to_string(),
        ] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        format!("nt_{}", &hex(&digest.finalize())[..32])
    }
}

/// A notice with its name, as it is written down.
struct NoticeLine<'a> {
    id: String,
    notice: &'a NewNotice,
}

impl Line for NoticeLine<'_> {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        let notice = self.notice;
        out.extend_from_slice(args![
            &self.id,
            &notice.account_id,
            notice.kind,
            &notice.subject,
            notice.window_ms,
            notice.since_ms,
            &notice.facts,
            notice.now_ms,
        ]);
    }
}

/// Notes what is to be told of in the commit that makes it so; how many of it are new.
pub(crate) async fn insert(conn: &mut Conn, notices: &[NewNotice]) -> Result<u64> {
    let mut lines: Vec<NoticeLine<'_>> = Vec::with_capacity(notices.len());
    for notice in notices {
        let id = notice.id();
        // A statement cannot say the same twice.
        if !lines.iter().any(|line| line.id == id) {
            lines.push(NoticeLine { id, notice });
        }
    }
    if lines.is_empty() {
        return Ok(0);
    }
    conn.run_lines(INSERT, &lines).await
}

const INSERT: &str = "INSERT INTO notice (id, account_id, kind, subject, window_ms, since_ms, facts, created_ms) \
     SELECT v.id, v.account_id, v.kind, v.subject, v.window_ms, v.since_ms, v.facts, v.created_ms \
     FROM {lines:id text, account_id text, kind text, subject text, window_ms bigint, since_ms bigint, facts text, created_ms bigint} \
     WHERE TRUE ON CONFLICT (id) DO NOTHING";

/// Tells of callbacks that were given up, one of each receiver and day.
pub(crate) async fn exhausted(conn: &mut Conn, results: &[&DeliveryResult]) -> Result<()> {
    let ids: Vec<&str> = results.iter().map(|one| one.id.as_str()).collect();
    let sql = "SELECT id, account_id, host FROM delivery WHERE id IN ({list:$1})";
    let rows: Vec<(String, (String, String))> = conn.all(sql, args![&json(&ids)]).await?;
    let rows: HashMap<String, (String, String)> = rows.into_iter().collect();
    let notices = results.iter().filter_map(|result| {
        let (account_id, host) = rows.get(&result.id)?;
        let facts = serde_json::json!({ "host": host, "callback": result.id, "tries": result.attempts.to_string() });
        Some(NewNotice {
            account_id: account_id.clone(),
            kind: "callback_exhausted",
            subject: host.clone(),
            window_ms: result.now_ms - result.now_ms.rem_euclid(DAY_MS),
            since_ms: result.now_ms,
            facts: facts.to_string(),
            now_ms: result.now_ms,
        })
    });
    let notices: Vec<NewNotice> = notices.collect();
    insert(conn, &notices).await.map(|_| ())
}

const DAY_MS: i64 = 86_400_000;
