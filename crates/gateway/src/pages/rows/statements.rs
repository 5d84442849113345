//! Statements and closed months as pages show them.

use atelier_contract::month::Month;
use atelier_contract::pages::statements::{BookState, BooksRow, CloseRow, StatementRow};
use atelier_contract::time::timestamp;
use atelier_engine::records::{BookRow, CloseTally, MonthClose, Statement};

/// A month of an account.
pub(crate) fn statement_row(month: Month, statement: Option<&Statement>) -> StatementRow {
    let one = statement;
    StatementRow {
        month,
        closed: one.is_some(),
        opening: one.map(|one| one.opening),
        credited: one.map(|one| one.credited),
        adjusted: one.map(|one| one.adjusted),
        charged: one.map(|one| one.charged),
        closing: one.map(|one| one.closing),
        sha256: one.map(|one| one.hash.clone()),
        made_at: one.map(|one| timestamp(one.made_ms)),
    }
}

/// A month of all accounts.
pub(crate) fn close_row(month: Month, tally: CloseTally, close: Option<&MonthClose>) -> CloseRow {
    let one = close;
    CloseRow {
        month,
        accounts: tally.accounts,
        closed: tally.closed,
        refused: tally.refused,
        charged: tally.charged,
        by: one.map(|one| one.actor.clone()),
        begun_at: one.map(|one| timestamp(one.begun_ms)),
        finished_at: one.and_then(|one| one.ended_ms).map(timestamp),
    }
}

/// The books of an account in a month.
pub(crate) fn books_row(row: BookRow) -> BooksRow {
    let state = match (&row.hash, &row.why) {
        (Some(_), _) => BookState::Closed,
        (None, Some(_)) => BookState::Refused,
        (None, None) => BookState::Open,
    };
    BooksRow {
        account_id: row.account_id,
        email: row.email,
        state,
        closing: row.closing,
        charged: row.charged,
        sha256: row.hash,
        why: row.why.filter(|_| state == BookState::Refused),
    }
}
