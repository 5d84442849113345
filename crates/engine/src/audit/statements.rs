//! Statements and their pages are, byte for byte, what they were when they were made.

use atelier_contract::hex;
use atelier_contract::pages::statements::StatementRecord;
use atelier_store::{Store, Violation};
use sha2::{Digest as _, Sha256};

use super::summary::{AuditError, AuditSummary};
use crate::statements::put_logo;

/// Statements read at once.
const PAGE: i64 = 50;

/// Compares every statement and every page of one with its hash.
pub(super) async fn are_as_made(
    store: &Store,
    looked: &mut AuditSummary,
    found: &mut (dyn FnMut(Violation) + Send),
) -> Result<(), AuditError> {
    let (statements, mut after) = (store.ledger().statements(), (String::new(), 0));
    loop {
        let page = statements.after(&after.0, after.1, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = (last.account_id.clone(), last.month);
        for statement in page {
            looked.rows += 1;
            let record: Option<StatementRecord> = serde_json::from_str(&statement.record).ok();
            let logo = match record
                .as_ref()
                .and_then(|record| record.issuer.logo.as_ref())
            {
                Some(hash) => statements.logo(hash).await?,
                None => None,
            };
            let pages = statements.pages(&statement).await?;
            let pages = pages
                .iter()
                .map(|page| (put_logo(&page.html, logo.as_ref()), &page.hash));
            let table = (statement.csv.clone(), &statement.hash);
            let is_record = record.is_some_and(|record| record.csv() == statement.csv);
            let is_same =
                |(bytes, hash): (String, &String)| hex(&Sha256::digest(bytes.as_bytes())) == *hash;
            if !is_record || !std::iter::once(table).chain(pages).all(is_same) {
                found(Violation {
                    invariant: "statements.bytes",
                    what: "statement is not as it was made",
                    subject: format!("{} {}", statement.account_id, statement.month),
                });
            }
        }
    }
}
