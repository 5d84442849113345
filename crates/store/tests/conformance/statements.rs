//! Statements: kept once, one after the other, and never changed; months that are closed.

use atelier_contract::Quota;
use atelier_contract::month::Month;
use atelier_store::{CloseClaim, Guard, Statement, StatementLogo, StatementPage};

use crate::rig::{NOW, Rig, quota, sql};

each_db!(
    a_statement_is_kept_once_and_goes_on_where_the_one_before_ends,
    a_page_and_a_logo_stay_as_they_were_made,
    what_has_no_statement_is_found,
    a_month_is_closed_by_one_node_at_a_time,
);

const DAY_MS: i64 = 86_400_000;

fn month() -> Month {
    Month::at(NOW)
}

/// The statement of an account for a month, of what its ledger says.
pub(crate) async fn statement(rig: &Rig, account_id: &str, of: Month) -> Statement {
    let span = rig.store.ledger().statements().span(account_id, of).await;
    let span = span.expect("read").expect("an account");
    let (rows, _) = rig
        .store
        .ledger()
        .list(Some(account_id), 0, 1_000)
        .await
        .expect("rows");
    let rows = &rows[rows.len() - span.last as usize..rows.len() - span.first as usize];
    let moved = |kind: &str| {
        let of_kind = rows.iter().filter(|row| row.kind == kind);
        of_kind.fold(Quota::ZERO, |sum, row| sum + row.amount)
    };
    let opening = span.balance + span.frozen;
    let (credited, adjusted, charged) = (moved("grant"), moved("adjust"), moved("capture"));
    Statement {
        account_id: account_id.to_owned(),
        month: of.number(),
        first: span.first,
        last: span.last,
        opening,
        credited,
        adjusted,
        charged,
        closing: opening + credited + adjusted - charged,
        record: "{}".into(),
        csv: format!("{of}"),
        hash: "hash".into(),
        made_ms: NOW,
    }
}

pub(crate) async fn add(rig: &Rig, statement: &Statement) -> bool {
    let added = rig
        .store
        .ledger()
        .statements()
        .add(statement.clone(), None)
        .await;
    added.expect("answered")
}

/// An account that spent three of a hundred in the month of now.
async fn spent(rig: &Rig) -> String {
    let account = rig.account(100, 10).await;
    let job = rig.waiting(&account, 3).await;
    rig.settle(rig.success(&job, Guard::Unfinished, 3)).await;
    account
}

async fn a_statement_is_kept_once_and_goes_on_where_the_one_before_ends(rig: Rig) {
    let account = spent(&rig).await;
    let first = statement(&rig, &account, month()).await;
    assert_eq!(
        (first.opening, first.credited, first.charged, first.closing),
        (quota(0), quota(100), quota(3), quota(97))
    );
    let statements = rig.store.ledger().statements();
    assert_eq!(
        statements.find(&account, first.month).await.expect("read"),
        None
    );
    assert!(add(&rig, &first).await);
    let other = Statement {
        csv: "another".into(),
        ..first.clone()
    };
    assert!(add(&rig, &other).await, "nothing speaks against it");
    let stands = statements.find(&account, first.month).await.expect("read");
    assert_eq!(stands, Some(first.clone()), "the first one stands");
    // What was written meanwhile is of the next month, whatever its time says.
    rig.waiting(&account, 5).await;
    let next = statement(&rig, &account, month().next()).await;
    assert_eq!((next.first, next.last), (first.last, first.last + 1));
    let apart = Statement {
        first: next.first - 1,
        ..next.clone()
    };
    assert!(!add(&rig, &apart).await, "it would count a row twice");
    assert!(add(&rig, &next).await);
    let before = statement(&rig, &account, month().previous()).await;
    assert_eq!(
        (before.first, before.last, before.closing),
        (0, 0, quota(0))
    );
    let beyond = Statement {
        last: 1,
        ..before.clone()
    };
    assert!(
        !add(&rig, &beyond).await,
        "the next one begins before it ends"
    );
    assert!(add(&rig, &before).await);
    let all = statements
        .of_account(&account, before.month, next.month)
        .await
        .expect("read");
    let months: Vec<i64> = all.iter().map(|one| one.month).collect();
    assert_eq!(months, [next.month, first.month, before.month]);
    assert!(
        all.iter().all(|one| one.csv.is_empty()),
        "lists have no more than they show"
    );
    let walked = statements.after("", 0, 100).await.expect("read");
    assert_eq!(walked.len(), 3);
    assert_eq!(walked[0].csv, before.csv);
    assert_eq!(
        statements.span("nobody", month()).await.expect("read"),
        None
    );
    let credit = crate::credits::grant(&rig, &account, 9, NOW + DAY_MS).await;
    let sources = statements.sources(&[&credit, "other"]).await.expect("read");
    assert_eq!(sources, [(credit, "grant".to_owned())]);
}

async fn a_page_and_a_logo_stay_as_they_were_made(rig: Rig) {
    let account = spent(&rig).await;
    let of = statement(&rig, &account, month()).await;
    let logo = StatementLogo {
        hash: "abc".into(),
        media_type: "image/png".into(),
        content: "AAAA".into(),
    };
    let statements = rig.store.ledger().statements();
    for _ in 0..2 {
        let added = statements.add(of.clone(), Some(logo.clone())).await;
        assert!(added.expect("answered"));
    }
    assert_eq!(statements.logo("abc").await.expect("read"), Some(logo));
    let page = |html: &str| StatementPage {
        html: html.into(),
        hash: html.into(),
    };
    for (given, stands) in [("first", "first"), ("second", "first")] {
        let kept = statements.add_page(&of, "en", page(given), NOW).await;
        assert_eq!(kept.expect("kept"), page(stands));
    }
    statements
        .add_page(&of, "de", page("deutsch"), NOW)
        .await
        .expect("kept");
    let found = statements
        .page(&account, of.month, "de")
        .await
        .expect("read");
    assert_eq!(found, Some(page("deutsch")));
    assert_eq!(statements.pages(&of).await.expect("read").len(), 2);
    for text in [
        "UPDATE statement SET csv = ''",
        "DELETE FROM statement",
        "UPDATE statement_page SET html = ''",
        "DELETE FROM statement_page",
        "UPDATE statement_logo SET content = ''",
        "DELETE FROM statement_logo",
    ] {
        let error = sql(&rig.url, text).await.expect_err(text);
        assert!(error.to_string().contains("never"), "{error}");
    }
}

async fn what_has_no_statement_is_found(rig: Rig) {
    let account = spent(&rig).await;
    let statements = rig.store.ledger().statements();
    let without = async |before_ms: i64| {
        statements
            .first_without(&account, before_ms)
            .await
            .expect("read")
    };
    assert!(without(i64::MAX).await.is_some());
    assert_eq!(without(0).await, None, "nothing is older");
    let of = statement(&rig, &account, month()).await;
    assert!(add(&rig, &of).await);
    assert_eq!(without(i64::MAX).await, None);
    rig.waiting(&account, 1).await;
    assert!(without(i64::MAX).await.is_some(), "what came since");
    assert!(statements.first_account_ms().await.expect("read").is_some());
}

async fn a_month_is_closed_by_one_node_at_a_time(rig: Rig) {
    let account = spent(&rig).await;
    let other = rig.account(1, 1).await;
    let (statements, number) = (rig.store.ledger().statements(), month().number());
    assert!(
        statements
            .close(number, "root", NOW, None)
            .await
            .expect("begun")
    );
    assert!(
        !statements
            .close(number, "root", NOW, None)
            .await
            .expect("under way")
    );
    let claim = |node: &str, now_ms| CloseClaim {
        node: node.into(),
        now_ms,
        until_ms: now_ms + 1_000,
    };
    let mut close = statements
        .claim_close(claim("one", NOW))
        .await
        .expect("claimed")
        .expect("a month");
    assert_eq!(
        statements
            .claim_close(claim("two", NOW))
            .await
            .expect("claimed"),
        None
    );
    assert!(
        statements
            .claim_close(claim("one", NOW))
            .await
            .expect("claimed")
            .is_some(),
        "its own"
    );
    assert!(
        statements
            .claim_close(claim("two", NOW + 1_000))
            .await
            .expect("claimed")
            .is_some(),
        "it is over"
    );
    add(&rig, &statement(&rig, &account, month()).await).await;
    close.after_id = account.clone().max(other.clone());
    let refused = vec![(other.clone(), "it does not add up".to_owned())];
    statements
        .record_close(&close, refused, Some(NOW + 5))
        .await
        .expect("noted");
    let tally = statements.tally(month()).await.expect("counted");
    assert_eq!(
        (tally.accounts, tally.closed, tally.refused, tally.charged),
        (2, 1, 1, quota(3))
    );
    for (state, found) in [
        (None, 2),
        (Some("closed"), 1),
        (Some("refused"), 1),
        (Some("open"), 0),
    ] {
        let (rows, total) = statements.books(month(), state, 0, 10).await.expect("read");
        assert_eq!((rows.len(), total), (found, found as i64), "{state:?}");
    }
    let closes = statements.closes(number, number).await.expect("read");
    assert_eq!((closes.len(), closes[0].ended_ms), (1, Some(NOW + 5)));
    // Once more, for those that were refused.
    assert!(
        statements
            .close(number, "ada", NOW + 9, None)
            .await
            .expect("begun again")
    );
    let (rows, _) = statements
        .books(month(), Some("open"), 0, 10)
        .await
        .expect("read");
    assert_eq!(rows[0].account_id, other);
}
