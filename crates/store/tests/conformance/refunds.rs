//! Money that goes back: quota is taken back exactly, whatever is reported first, what was spent is owed, and what was given back is where it
//! was.

use atelier_contract::Quota;
use atelier_contract::products::ProductDefinition;
use atelier_store::{
    AcceptOutcome, AuditRow, BulkItemOutcome, EventOutcome, Guard, NewRefund, PaymentEvent,
    PaymentNews, PaymentState, RefundOutcome, RefundRow,
};

use crate::credits::{credits, grant};
use crate::payments::{applied, bought, debt, free, one, pending, product, tell, told, written};
use crate::rig::{NOW, Rig, number, quota};

each_db!(
    refunds_take_back_what_they_are_worth,
    what_was_spent_is_owed_and_paid_first,
    a_refund_takes_its_own_credit_before_what_never_ends,
    a_refund_that_comes_before_its_payment_counts,
    a_dispute_takes_and_a_won_one_gives_back,
    what_a_won_dispute_gives_back_is_where_it_was,
    disputes_count_in_any_order,
    disputes_of_more_than_there_is_take_all_of_it,
    a_charge_that_gets_its_name_later_is_found,
    debts_survive_the_archive,
    a_refund_is_asked_for_once,
    a_refund_without_a_key_is_repeated_until_its_answer_is_known,
    a_refund_is_made_once_whoever_takes_it_up,
    no_more_is_refunded_than_was_paid,
    a_refund_that_failed_is_kept_for_an_operator,
    any_order_of_events_comes_to_the_same,
);

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

pub(crate) fn dispute(name: &str) -> PaymentNews {
    let dispute = name.to_owned();
    PaymentNews::Disputed { dispute }
}

pub(crate) fn closed(name: &str, won: bool) -> PaymentNews {
    let dispute = name.to_owned();
    PaymentNews::DisputeClosed { dispute, won }
}

async fn refunds_take_back_what_they_are_worth(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let steps = [
        (1, 33),
        (1, 33),
        (100, 3_333),
        (299, 9_966),
        (50, 9_966),
        (300, 10_000),
    ];
    for (refunded, taken) in steps {
        let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, refunded)).await;
        assert_eq!(row.taken.thousandths(), taken, "{refunded}");
        assert_eq!(free(&rig, &account).await.thousandths(), 10_000 - taken);
        let whole = row.refunded == 300;
        assert_eq!(row.state == PaymentState::Refunded, whole, "{refunded}");
    }
    // More than was paid is no more than all of it.
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, 400)).await;
    assert_eq!((row.refunded, row.taken), (300, quota(10)));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    let rows = rig.store.ledger().list(Some(&account), 0, 20).await;
    let (rows, _) = rows.expect("a read");
    let refunds: i64 = rows
        .iter()
        .filter(|row| row.cause.as_deref() == Some("refund") && row.kind == "adjust")
        .map(|row| row.amount.thousandths())
        .sum();
    assert_eq!(refunds, -10_000);
    let mut foreign = told(&rig, &id, PaymentNews::Refunded, 300);
    foreign.currency = Some("USD".into());
    assert!(matches!(
        tell(&rig.store, foreign).await,
        EventOutcome::Mismatch(_)
    ));
}

/// The promise: what was taken back and is spent is owed; nothing is submitted meanwhile, and whatever comes in pays it first.
async fn what_was_spent_is_owed_and_paid_first(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let (spent, held) = (
        rig.running(&account, 4).await,
        rig.running(&account, 5).await,
    );
    rig.settle(rig.success(&spent, Guard::Fence(1), 4)).await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    // One was free, five are held and four are gone.
    assert_eq!(rig.purse(&account).await, (Quota::ZERO, quota(5)));
    assert_eq!(debt(&rig, &account).await, quota(9));
    let refused = rig.take(rig.accept(&account, 0)).await;
    assert_eq!(refused, AcceptOutcome::Debt { debt: quota(9) });
    let asked = rig.accept(&account, 1).job;
    let asked = rig.store.jobs().precheck_refusal(&asked, 1_000_000).await;
    let refused = Some(AcceptOutcome::Debt { debt: quota(9) });
    assert_eq!(asked.expect("a read"), refused);
    // The job that was at work goes on; what it gives back pays.
    rig.settle(rig.success(&held, Guard::Fence(1), 3)).await;
    assert_eq!(rig.purse(&account).await, (Quota::ZERO, Quota::ZERO));
    assert_eq!(debt(&rig, &account).await, quota(7));
    grant(&rig, &account, 3, NOW + HOUR_MS).await;
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
    assert_eq!(debt(&rig, &account).await, quota(4));
    bought(&rig, &account, "ten").await;
    assert_eq!(free(&rig, &account).await, quota(6));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    rig.waiting(&account, 6).await;
    let bulk = BulkItemOutcome::Debt { debt: 1 };
    let text = serde_json::to_string(&bulk).expect("JSON");
    assert_eq!(text, r#"{"debt":{"debt":1}}"#, "as batches remember it");
}

async fn a_refund_takes_its_own_credit_before_what_never_ends(rig: Rig) {
    let account = rig.account(4, 10).await;
    let ending = ProductDefinition {
        credit_days: Some(7),
        ..product("week")
    };
    written(&rig, &ending, None).await;
    let id = bought(&rig, &account, "week").await;
    grant(&rig, &account, 2, NOW + HOUR_MS).await;
    let parts = async || {
        let found = credits(&rig, &account, NOW).await;
        let left = found
            .credits
            .iter()
            .map(|one| one.left.thousandths() / 1_000);
        (left.collect::<Vec<_>>(), found.base)
    };
    assert_eq!(parts().await, (vec![2, 10], quota(4)));
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 150)).await;
    assert_eq!(parts().await, (vec![2, 5], quota(4)));
    // Six are held: two of what ends first, four of what was bought. One is left of that, and the rest of a refund is of the base.
    rig.waiting(&account, 6).await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 240)).await;
    assert_eq!(credits(&rig, &account, NOW).await.base, quota(2));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!(credits(&rig, &account, NOW).await.base, Quota::ZERO);
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    let again = bought(&rig, &account, "week").await;
    let end_ms = NOW + 7 * DAY_MS;
    rig.store
        .ledger()
        .credits()
        .end_due(end_ms, 10)
        .await
        .expect("ended");
    // What has ended unused is not there to be taken.
    applied(&rig, told(&rig, &again, PaymentNews::Refunded, 300)).await;
    assert_eq!(debt(&rig, &account).await, quota(10));
}

async fn a_refund_that_comes_before_its_payment_counts(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "ten").await;
    let mut early = told(&rig, &id, PaymentNews::Refunded, 150);
    early.payment_id = None;
    let waits = tell(&rig.store, early.clone()).await;
    assert_eq!(waits, EventOutcome::Unmatched);
    assert_eq!(tell(&rig.store, early).await, EventOutcome::Known);
    let row = applied(&rig, told(&rig, &id, PaymentNews::Paid, 300)).await;
    assert_eq!((row.refunded, row.taken), (150, quota(5)));
    assert_eq!(free(&rig, &account).await, quota(5));
    // One that is known to be of it takes nothing before anything was given.
    let id = pending(&rig, &account, "ten").await;
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!((row.state, row.taken), (PaymentState::Pending, Quota::ZERO));
    let row = applied(&rig, told(&rig, &id, PaymentNews::Paid, 300)).await;
    assert_eq!(row.state, PaymentState::Refunded);
    assert_eq!(free(&rig, &account).await, quota(5));
}

async fn a_dispute_takes_and_a_won_one_gives_back(rig: Rig) {
    let account = rig.account(0, 10).await;
    let ending = ProductDefinition {
        credit_days: Some(7),
        ..product("week")
    };
    for product in [product("ten"), ending] {
        written(&rig, &product, None).await;
        let id = bought(&rig, &account, &product.name).await;
        let row = applied(&rig, told(&rig, &id, dispute("d"), 300)).await;
        assert_eq!(row.state, PaymentState::Disputed);
        assert_eq!(free(&rig, &account).await, Quota::ZERO);
        let row = applied(&rig, told(&rig, &id, closed("d", true), 300)).await;
        assert_eq!((row.state, row.taken), (PaymentState::Paid, Quota::ZERO));
        assert_eq!(free(&rig, &account).await, quota(10));
        let found = credits(&rig, &account, NOW).await;
        let ends = found.credits.first().map(|one| one.expires_ms);
        assert_eq!(ends, product.credit_days.map(|days| NOW + days * DAY_MS));
        let row = applied(&rig, told(&rig, &id, dispute("e"), 300)).await;
        assert_eq!(row.state, PaymentState::Disputed);
        let row = applied(&rig, told(&rig, &id, closed("e", false), 300)).await;
        assert_eq!(row.state, PaymentState::Refunded);
        // What was given back is taken again from where it is.
        assert_eq!(free(&rig, &account).await, Quota::ZERO, "{product:?}");
        assert_eq!(debt(&rig, &account).await, Quota::ZERO, "{product:?}");
    }
}

async fn disputes_count_in_any_order(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let row = applied(&rig, told(&rig, &id, closed("d", true), 300)).await;
    assert_eq!(row.state, PaymentState::Paid);
    let row = applied(&rig, told(&rig, &id, dispute("d"), 300)).await;
    assert_eq!((row.state, row.disputed), (PaymentState::Paid, 0));
    let row = applied(&rig, told(&rig, &id, closed("e", false), 100)).await;
    assert_eq!((row.state, row.disputed), (PaymentState::Paid, 100));
    let row = applied(&rig, told(&rig, &id, dispute("e"), 100)).await;
    assert_eq!((row.state, row.disputed), (PaymentState::Paid, 100));
    // What the bank has taken cannot be refunded as well.
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!((row.state, row.taken), (PaymentState::Refunded, quota(10)));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
}

async fn debts_survive_the_archive(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let spent = rig.running(&account, 10).await;
    rig.settle(rig.success(&spent, Guard::Fence(1), 10)).await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    let cut = rig.store.archive().cut("", NOW + DAY_MS).await;
    let cut = cut.expect("a read").expect("an account");
    assert!(cut.to > cut.from, "{cut:?}");
    let file = atelier_store::ArchiveFile {
        name: "archive-1".into(),
        hash: "hash".into(),
        before_ms: NOW + DAY_MS,
        jobs: 1,
        entries: cut.to - cut.from,
        time_ms: NOW + DAY_MS,
    };
    let removed = rig.store.archive().remove(vec![cut], file).await;
    removed.expect("archived");
    let found = rig.store.invariants().check_books().await;
    assert_eq!(found.expect("an audit"), Vec::<String>::new());
    bought(&rig, &account, "ten").await;
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
}

/// What a dispute took of a credit comes back to that credit, until the same moment; what is over by then comes back without an end.
async fn what_a_won_dispute_gives_back_is_where_it_was(rig: Rig) {
    let account = rig.account(3, 10).await;
    let week = ProductDefinition {
        credit_days: Some(7),
        ..product("week")
    };
    written(&rig, &week, None).await;
    let id = bought(&rig, &account, "week").await;
    let credit = one(&rig, &id).await.ledger_id.expect("a credit");
    let spent = rig.running(&account, 4).await;
    rig.settle(rig.success(&spent, Guard::Fence(1), 4)).await;
    let parts = async || {
        let found = credits(&rig, &account, NOW).await;
        let own = found.credits.iter().find(|one| one.id == credit);
        let own = own.expect("the credit of the payment");
        (own.left, own.lapsed, found.base)
    };
    // Four are spent: six are taken of the credit, three of the base, one is owed.
    let row = applied(&rig, told(&rig, &id, dispute("d"), 300)).await;
    assert_eq!((row.taken, row.taken_credit), (quota(10), quota(6)));
    assert_eq!(parts().await, (Quota::ZERO, quota(6), Quota::ZERO));
    assert_eq!(debt(&rig, &account).await, quota(1));
    let row = applied(&rig, told(&rig, &id, closed("d", true), 300)).await;
    assert_eq!((row.taken, row.taken_credit), (Quota::ZERO, Quota::ZERO));
    assert_eq!(parts().await, (quota(6), Quota::ZERO, quota(3)));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    // The same again takes it from there again, and nothing is owed but what is spent.
    applied(&rig, told(&rig, &id, dispute("e"), 300)).await;
    assert_eq!(parts().await, (Quota::ZERO, quota(6), Quota::ZERO));
    let mut late = told(&rig, &id, closed("e", true), 300);
    late.now_ms = NOW + 8 * DAY_MS;
    applied(&rig, late).await;
    let found = credits(&rig, &account, NOW + 8 * DAY_MS).await;
    assert_eq!(found.base, quota(9), "its week is over");
}

async fn disputes_of_more_than_there_is_take_all_of_it(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    for name in ["d", "e"] {
        applied(&rig, told(&rig, &id, dispute(name), i64::MAX)).await;
    }
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, i64::MAX)).await;
    assert_eq!((row.refunded, row.disputed), (300, 300));
    assert_eq!((row.state, row.taken), (PaymentState::Disputed, quota(10)));
}

/// Where the provider names the charge of an invoice in an event of its own, refunds of that charge are found, whatever comes first.
async fn a_charge_that_gets_its_name_later_is_found(rig: Rig) {
    written(&rig, &product("ten"), None).await;
    for first in 0..3 {
        let account = rig.account(0, 10).await;
        let id = pending(&rig, &account, "ten").await;
        let unnamed = |news, reference: String| {
            let mut event = told(&rig, &id, news, 150);
            (event.payment_id, event.references) = (None, vec![reference]);
            event
        };
        let mut paid = told(&rig, &id, PaymentNews::Paid, 300);
        paid.references = vec![format!("in_{id}")];
        let name = format!("pi_{id}");
        let mut linked = unnamed(
            PaymentNews::Linked { name: name.clone() },
            format!("in_{id}"),
        );
        (linked.money, linked.currency) = (None, None);
        let refunded = unnamed(PaymentNews::Refunded, name);
        let mut events = [paid, linked, refunded];
        events.rotate_left(first);
        for event in events {
            tell(&rig.store, event).await;
        }
        let row = one(&rig, &id).await;
        assert_eq!((row.refunded, row.taken), (150, quota(5)), "{first}");
    }
}

fn wish(rig: &Rig, payment: &str, money: Option<i64>, key: Option<&str>) -> NewRefund {
    NewRefund {
        id: rig.id("refund"),
        payment_id: payment.to_owned(),
        money,
        idempotency_key: key.map(str::to_owned),
        now_ms: NOW,
    }
}

async fn ask(rig: &Rig, wish: NewRefund) -> RefundOutcome {
    let act = AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: "payment.refund".into(),
        target: wish.payment_id.clone(),
        detail: String::new(),
        account_id: None,
    };
    let asked = rig
        .store
        .ledger()
        .payments()
        .ask_refund(wish, Some(act))
        .await;
    asked.expect("an answer")
}

async fn asked(rig: &Rig, wish: NewRefund) -> RefundRow {
    match ask(rig, wish).await {
        RefundOutcome::Asked(row) => row,
        other => panic!("{other:?}"),
    }
}

fn made(rig: &Rig, refund: &RefundRow, total: Option<i64>) -> PaymentEvent {
    let news = PaymentNews::RefundMade {
        refund: refund.id.clone(),
        total,
    };
    PaymentEvent {
        event_id: refund.id.clone(),
        references: Vec::new(),
        answered: true,
        ..told(rig, &refund.payment_id, news, total.unwrap_or(refund.money))
    }
}

/// Refunds so much of a payment, as an operator does.
pub(crate) async fn refunded(rig: &Rig, payment: &str, money: i64) {
    let refund = asked(rig, wish(rig, payment, Some(money), None)).await;
    applied(rig, made(rig, &refund, Some(money))).await;
}

async fn refund(rig: &Rig, id: &str) -> RefundRow {
    let found = rig.store.ledger().payments().refunds(id).await;
    let found = found.expect("a read");
    found.into_iter().next().expect("a refund")
}

async fn a_refund_is_asked_for_once(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let first = asked(&rig, wish(&rig, &id, Some(100), Some("k"))).await;
    let again = ask(&rig, wish(&rig, &id, Some(100), Some("k"))).await;
    assert_eq!(again, RefundOutcome::Repeated(first.clone()));
    let other = ask(&rig, wish(&rig, &id, Some(101), Some("k"))).await;
    assert_eq!(other, RefundOutcome::Mismatch);
    let another = ask(&rig, wish(&rig, &id, Some(100), Some("another"))).await;
    assert_eq!(another, RefundOutcome::Open(first.clone()));
    let acts = "SELECT COUNT(*) FROM audit WHERE action = 'payment.refund'";
    assert_eq!(number(&rig.url, acts).await, 1);
    let row = applied(&rig, made(&rig, &first, Some(100))).await;
    assert_eq!((row.refunded, row.taken.thousandths()), (100, 3_333));
    let again = ask(&rig, wish(&rig, &id, Some(100), Some("k"))).await;
    assert!(
        matches!(&again, RefundOutcome::Repeated(row) if row.state == "done"),
        "{again:?}"
    );
    asked(&rig, wish(&rig, &id, Some(100), Some("another"))).await;
}

/// While no one knows what became of a refund, asking again without a key means that one; afterwards it means another.
async fn a_refund_without_a_key_is_repeated_until_its_answer_is_known(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let first = asked(&rig, wish(&rig, &id, Some(100), None)).await;
    // The provider has made it, and its event comes before the answer.
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 100)).await;
    let again = ask(&rig, wish(&rig, &id, Some(100), None)).await;
    assert_eq!(again, RefundOutcome::Repeated(first.clone()));
    let other = ask(&rig, wish(&rig, &id, Some(50), None)).await;
    assert_eq!(other, RefundOutcome::Open(first.clone()));
    let row = applied(&rig, made(&rig, &first, Some(100))).await;
    assert_eq!(row.refunded, 100, "once");
    let second = asked(&rig, wish(&rig, &id, None, None)).await;
    assert_eq!(second.money, 200, "all that is left");
    rig.store
        .ledger()
        .payments()
        .refuse_refund(&second.id, "the card is gone")
        .await
        .expect("noted");
    assert_eq!(
        refund(&rig, &id).await.why.as_deref(),
        Some("the card is gone")
    );
    asked(&rig, wish(&rig, &id, None, None)).await;
}

async fn a_refund_is_made_once_whoever_takes_it_up(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let first = asked(&rig, wish(&rig, &id, Some(100), None)).await;
    let payments = rig.store.ledger().payments();
    let early = payments.claim_refund(NOW, NOW + 1).await.expect("a read");
    assert_eq!(early, None, "it was asked for a moment ago");
    let claimed = payments.claim_refund(NOW + 1, NOW + 2).await;
    assert_eq!(claimed.expect("a read"), Some(first.clone()));
    let claimed = payments.claim_refund(NOW + 1, NOW + 2).await;
    assert_eq!(
        claimed.expect("a read"),
        None,
        "someone else has it in hand"
    );
    // It adds up where the provider does not say how much went back together.
    applied(&rig, made(&rig, &first, None)).await;
    assert_eq!(
        tell(&rig.store, made(&rig, &first, None)).await,
        EventOutcome::Known
    );
    assert_eq!(one(&rig, &id).await.refunded, 100);
    let claimed = payments.claim_refund(NOW + 9, NOW + 9).await;
    assert_eq!(claimed.expect("a read"), None, "it is done");
}

async fn no_more_is_refunded_than_was_paid(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "ten").await;
    let early = ask(&rig, wish(&rig, &id, Some(1), None)).await;
    assert_eq!(early, RefundOutcome::TooMuch { left: 0 });
    applied(&rig, told(&rig, &id, PaymentNews::Paid, 300)).await;
    let stray = ask(&rig, wish(&rig, "stray", Some(1), None)).await;
    assert_eq!(stray, RefundOutcome::NoPayment);
    for (more, taken) in [(100, 3_333), (100, 6_666)] {
        let next = asked(&rig, wish(&rig, &id, Some(more), None)).await;
        let row = applied(&rig, made(&rig, &next, None)).await;
        assert_eq!(row.taken.thousandths(), taken);
    }
    let beyond = ask(&rig, wish(&rig, &id, Some(101), None)).await;
    assert_eq!(beyond, RefundOutcome::TooMuch { left: 100 });
    applied(&rig, told(&rig, &id, dispute("d"), 60)).await;
    let beyond = ask(&rig, wish(&rig, &id, Some(41), None)).await;
    assert_eq!(beyond, RefundOutcome::TooMuch { left: 40 });
    let last = asked(&rig, wish(&rig, &id, None, None)).await;
    let row = applied(&rig, made(&rig, &last, None)).await;
    assert_eq!((row.state, row.taken), (PaymentState::Disputed, quota(10)));
}

async fn a_refund_that_failed_is_kept_for_an_operator(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    let failed = tell(&rig.store, told(&rig, &id, PaymentNews::RefundFailed, 300)).await;
    assert!(matches!(failed, EventOutcome::Mismatch(_)), "{failed:?}");
    assert_eq!(one(&rig, &id).await.state, PaymentState::Refunded);
    let payments = rig.store.ledger().payments();
    let (rows, _) = payments.mismatches(0, 10).await.expect("a read");
    assert_eq!(rows[0].payment_id.as_deref(), Some(&*id));
}

/// The promise: refunds and disputes come to the same whatever is told first.
async fn any_order_of_events_comes_to_the_same(rig: Rig) {
    written(&rig, &product("ten"), None).await;
    let all = [
        (PaymentNews::Paid, 300),
        (PaymentNews::Refunded, 40),
        (PaymentNews::Refunded, 90),
        (dispute("d"), 120),
        (closed("d", true), 120),
        (dispute("e"), 60),
    ];
    let mut seed = 7_usize;
    for _ in 0..12 {
        let account = rig.account(0, 10).await;
        let id = pending(&rig, &account, "ten").await;
        let mut left: Vec<usize> = (0..all.len()).collect();
        while !left.is_empty() {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (news, money) = all[left.swap_remove((seed >> 33) % left.len())].clone();
            let mut event = told(&rig, &id, news, money);
            if !matches!(event.news, PaymentNews::Paid) {
                event.payment_id = None;
            }
            tell(&rig.store, event).await;
        }
        let row = one(&rig, &id).await;
        assert_eq!((row.refunded, row.disputed), (90, 60));
        assert_eq!((row.state, row.taken), (PaymentState::Disputed, quota(5)));
        assert_eq!(free(&rig, &account).await, quota(5));
        assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    }
}
