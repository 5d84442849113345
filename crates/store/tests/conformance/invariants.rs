//! The auditor: every invariant is broken on purpose once, and found by its name.

use std::collections::BTreeSet;
use std::time::Duration;

use atelier_contract::LimitWindow;
use atelier_contract::products::ProductDefinition;
use atelier_store::{
    Asset, CheckOptions, Claim, DeliveryResult, DeliveryState, Guard, Idempotency, KeyTerms,
    Outcome, Violation, VoucherTerms, account_invariants,
};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, SqliteConnection};

use crate::rig::{NOW, Rig};
use crate::{credits, groups, imports, models, payments, plans, refunds, spending, vouchers};

each_db!(
    every_damage_is_found_by_name,
    accounts_are_looked_at_page_by_page,
    a_busy_database_raises_no_alarm,
);

/// Damage, and how it is undone. `A` is the account, `R` a running job with an attempt, `W` a waiting one, `S` one that
/// succeeded and was delivered, `F` one that failed.
const DAMAGES: &[(&str, &str, &str)] = &[
    (
        "money.sum",
        "UPDATE account SET balance = balance + 1",
        "UPDATE account SET balance = balance - 1",
    ),
    (
        "money.counted",
        "UPDATE account SET entries = entries - 1",
        "UPDATE account SET entries = entries + 1",
    ),
    (
        "money.frozen",
        "UPDATE job SET price = price + 1 WHERE id = 'W'",
        "UPDATE job SET price = price - 1 WHERE id = 'W'",
    ),
    (
        "money.negative",
        "UPDATE account SET balance = -balance",
        "UPDATE account SET balance = -balance",
    ),
    (
        "money.follows",
        "UPDATE ledger SET balance_after = balance_after + 1 WHERE number = 2",
        "UPDATE ledger SET balance_after = balance_after - 1 WHERE number = 2",
    ),
    (
        "money.follows",
        "UPDATE ledger SET number = 99 WHERE number = 3",
        "UPDATE ledger SET number = 3 WHERE number = 99",
    ),
    (
        "money.adds_up",
        "UPDATE ledger SET amount = amount + 1 WHERE number = 1",
        "UPDATE ledger SET amount = amount - 1 WHERE number = 1",
    ),
    (
        "money.once",
        "UPDATE ledger SET id = id || '~2' WHERE number = 2",
        "UPDATE ledger SET id = substr(id, 1, length(id) - 2) WHERE number = 2",
    ),
    (
        "money.archived",
        "INSERT INTO ledger_checkpoint (account_id, number, balance, frozen, before_ms, hash, time_ms) VALUES ('A', 1, 0, 0, 0, '', 0)",
        "DELETE FROM ledger_checkpoint",
    ),
    (
        "money.checkpoint",
        "INSERT INTO ledger_checkpoint (account_id, number, balance, frozen, before_ms, hash, time_ms) VALUES ('A', 1, 0, 0, 0, 'x', 0)",
        "DELETE FROM ledger_checkpoint",
    ),
    (
        "holds.price",
        "UPDATE ledger SET kind = 'grant' WHERE job_id = 'R'",
        "UPDATE ledger SET kind = 'hold' WHERE job_id = 'R'",
    ),
    (
        "holds.resolved",
        "UPDATE ledger SET kind = 'release' WHERE job_id = 'S' AND kind = 'capture'",
        "UPDATE ledger SET kind = 'capture' WHERE job_id = 'S' AND kind = 'release'",
    ),
    (
        "holds.open",
        "UPDATE ledger SET job_id = 'W' WHERE job_id = 'F' AND kind = 'release'",
        "UPDATE ledger SET job_id = 'F' WHERE job_id = 'W' AND kind = 'release'",
    ),
    (
        "holds.owner",
        "UPDATE ledger SET job_id = 'nobody' WHERE job_id = 'R'",
        "UPDATE ledger SET job_id = 'R' WHERE job_id = 'nobody'",
    ),
    (
        "fences.lease",
        "UPDATE job SET lease_owner = NULL WHERE id = 'R'",
        "UPDATE job SET lease_owner = 'node' WHERE id = 'R'",
    ),
    (
        "fences.lease",
        "UPDATE job SET handed_back = 7 WHERE id = 'W'",
        "UPDATE job SET handed_back = 0 WHERE id = 'W'",
    ),
    (
        "fences.attempt",
        "UPDATE job SET attempt_id = 'another' WHERE id = 'R'",
        "UPDATE job SET attempt_id = 'try' WHERE id = 'R'",
    ),
    (
        "fences.final",
        "UPDATE job SET quota = 1 WHERE id = 'F'",
        "UPDATE job SET quota = 0 WHERE id = 'F'",
    ),
    (
        "fences.call",
        "UPDATE idempotency SET job_id = 'nobody'",
        "UPDATE idempotency SET job_id = 'S'",
    ),
    (
        "deliveries.owed",
        "UPDATE job SET hook_url = 'https://example.com/' WHERE id = 'F'",
        "UPDATE job SET hook_url = NULL WHERE id = 'F'",
    ),
    (
        "deliveries.job",
        "UPDATE job SET hook_url = NULL WHERE id = 'S'",
        "UPDATE job SET hook_url = 'https://example.com/' WHERE id = 'S'",
    ),
    (
        "deliveries.tries",
        "UPDATE delivery SET delivered_ms = NULL",
        "UPDATE delivery SET delivered_ms = 5",
    ),
    (
        "deliveries.tries",
        "UPDATE delivery SET attempts = 0",
        "UPDATE delivery SET attempts = 1",
    ),
    (
        "counters.open",
        "UPDATE in_flight SET jobs = 7",
        "UPDATE in_flight SET jobs = 3",
    ),
    (
        "counters.words",
        "UPDATE account SET words = words + 1",
        "UPDATE account SET words = words - 1",
    ),
    (
        "counters.open_missing",
        "UPDATE in_flight SET queue = 'other'",
        "UPDATE in_flight SET queue = 'artgen'",
    ),
    (
        "counters.finished_in_all",
        "UPDATE tally_total SET jobs = jobs + 1 WHERE state = 2",
        "UPDATE tally_total SET jobs = jobs - 1 WHERE state = 2",
    ),
    (
        "counters.finished_in_all_missing",
        "UPDATE tally_total SET operation = 'other' WHERE state = 3",
        "UPDATE tally_total SET operation = 'artgen.imagine' WHERE state = 3",
    ),
    (
        "counters.finished",
        "UPDATE tally SET jobs = jobs + 1 WHERE state = 2",
        "UPDATE tally SET jobs = jobs - 1 WHERE state = 2",
    ),
    (
        "counters.finished_missing",
        "UPDATE tally SET operation = 'other' WHERE state = 3",
        "UPDATE tally SET operation = 'artgen.imagine' WHERE state = 3",
    ),
    (
        "counters.used",
        "UPDATE spent SET quota = quota - 1",
        "UPDATE spent SET quota = quota + 1",
    ),
    (
        "counters.used_missing",
        "UPDATE spent SET hour = hour + 1",
        "UPDATE spent SET hour = hour - 1",
    ),
    (
        "files.job",
        "UPDATE asset SET job_id = 'F'",
        "UPDATE asset SET job_id = 'S'",
    ),
    (
        "models.job",
        "UPDATE job SET model_revision = 3 WHERE id = 'W'",
        "UPDATE job SET model_revision = NULL WHERE id = 'W'",
    ),
    (
        "models.follows",
        "UPDATE model SET revision = 4 WHERE revision = 2",
        "UPDATE model SET revision = 2 WHERE revision = 4",
    ),
    (
        "models.beside",
        "UPDATE schema_version SET widens = 1 WHERE name = '0043_models'",
        "UPDATE schema_version SET widens = 0 WHERE name = '0043_models'",
    ),
    (
        "keys.held",
        "UPDATE key_window SET held = held + 1 WHERE span = 'day'",
        "UPDATE key_window SET held = held - 1 WHERE span = 'day'",
    ),
    (
        "keys.spent",
        "UPDATE key_window SET spent = spent + 1 WHERE span = 'day'",
        "UPDATE key_window SET spent = spent - 1 WHERE span = 'day'",
    ),
    (
        "keys.open",
        "UPDATE key_window SET open = open + 1 WHERE span LIKE 'queue:%'",
        "UPDATE key_window SET open = open - 1 WHERE span LIKE 'queue:%'",
    ),
    (
        "keys.window",
        "UPDATE api_key SET max_queue = NULL",
        "UPDATE api_key SET max_queue = 9",
    ),
    (
        "keys.held_at_most",
        "UPDATE key_window SET held = held + 1000000 WHERE span = 'day'",
        "UPDATE key_window SET held = held - 1000000 WHERE span = 'day'",
    ),
    (
        "keys.beside",
        "UPDATE schema_version SET widens = 1 WHERE name = '0044_keys'",
        "UPDATE schema_version SET widens = 0 WHERE name = '0044_keys'",
    ),
    (
        "keys.used",
        "UPDATE used SET quota = quota + 1000000",
        "UPDATE used SET quota = quota - 1000000",
    ),
    (
        "groups.account",
        "UPDATE account SET group_key = 'nobody'",
        "UPDATE account SET group_key = NULL",
    ),
    (
        "groups.follows",
        "UPDATE price_group SET revision = 4 WHERE revision = 2",
        "UPDATE price_group SET revision = 2 WHERE revision = 4",
    ),
    (
        "groups.beside",
        "UPDATE schema_version SET widens = 1 WHERE name = '0045_groups'",
        "UPDATE schema_version SET widens = 0 WHERE name = '0045_groups'",
    ),
    (
        "credits.base",
        "UPDATE credit SET remaining = remaining + 1000000, amount = amount + 1000000 WHERE id = 'C'",
        "UPDATE credit SET remaining = remaining - 1000000, amount = amount - 1000000 WHERE id = 'C'",
    ),
    (
        "credits.open",
        "UPDATE account SET credits = credits + 1",
        "UPDATE account SET credits = credits - 1",
    ),
    (
        "credits.open",
        "UPDATE account SET credits = NULL WHERE id = 'A'",
        "UPDATE account SET credits = 2 WHERE id = 'A'",
    ),
    (
        "credits.adds_up",
        "UPDATE credit SET remaining = remaining - 1 WHERE id = 'C'",
        "UPDATE credit SET remaining = remaining + 1 WHERE id = 'C'",
    ),
    (
        "credits.ended",
        "UPDATE credit SET ended_ms = 7 WHERE id = 'C'",
        "UPDATE credit SET ended_ms = NULL WHERE id = 'C'",
    ),
    (
        "credits.held",
        "UPDATE hold_part SET amount = amount - 1",
        "UPDATE hold_part SET amount = amount + 1",
    ),
    (
        "credits.granted",
        "UPDATE ledger SET id = 'other' WHERE id = 'C'",
        "UPDATE ledger SET id = 'C' WHERE id = 'other'",
    ),
    (
        "credits.lapsed",
        "UPDATE credit SET lapsed = lapsed + 1, amount = amount + 1 WHERE id = 'C'",
        "UPDATE credit SET lapsed = lapsed - 1, amount = amount - 1 WHERE id = 'C'",
    ),
    (
        "credits.beside",
        "UPDATE schema_version SET widens = 1 WHERE name = '0054_credits'",
        "UPDATE schema_version SET widens = 0 WHERE name = '0054_credits'",
    ),
    (
        "credits.part",
        "UPDATE hold_part SET job_id = 'S' WHERE job_id = 'H'",
        "UPDATE hold_part SET job_id = 'H' WHERE job_id = 'S'",
    ),
    (
        "credits.hold",
        "UPDATE hold_part SET amount = amount + 1000",
        "UPDATE hold_part SET amount = amount - 1000",
    ),
    (
        "vouchers.codes",
        "UPDATE voucher_batch SET codes = codes + 1",
        "UPDATE voucher_batch SET codes = codes - 1",
    ),
    (
        "vouchers.granted",
        "UPDATE voucher_batch SET amount = amount + 1",
        "UPDATE voucher_batch SET amount = amount - 1",
    ),
    (
        "vouchers.credit",
        "UPDATE credit SET source = 'grant' WHERE source = 'voucher'",
        "UPDATE credit SET source = 'voucher' WHERE id = 'V'",
    ),
    (
        "vouchers.once",
        "UPDATE voucher SET account_id = 'A', ledger_id = 'V', redeemed_ms = 7 WHERE account_id IS NULL",
        "UPDATE voucher SET account_id = NULL, ledger_id = NULL, redeemed_ms = NULL WHERE redeemed_ms = 7",
    ),
    (
        "vouchers.per_account",
        "UPDATE voucher_batch SET per_account = 0",
        "UPDATE voucher_batch SET per_account = 1",
    ),
    (
        "plans.granted",
        "UPDATE plan_period SET quota = quota + 1 WHERE account_id = 'P'",
        "UPDATE plan_period SET quota = quota - 1 WHERE account_id = 'P'",
    ),
    (
        "plans.given",
        "UPDATE plan_period SET ledger_id = 'other' WHERE account_id = 'P'",
        "UPDATE plan_period SET ledger_id = (SELECT id FROM credit WHERE source = 'plan' AND account_id = 'P') WHERE account_id = 'P'",
    ),
    (
        "plans.period",
        "UPDATE account_plan SET from_ms = from_ms - 1 WHERE account_id = 'P'",
        "UPDATE account_plan SET from_ms = from_ms + 1 WHERE account_id = 'P'",
    ),
    (
        "plans.stays",
        "UPDATE account_plan SET account_id = 'nobody' WHERE account_id = 'P'",
        "UPDATE account_plan SET account_id = 'P' WHERE account_id = 'nobody'",
    ),
    (
        "plans.there",
        "UPDATE account_plan SET plan_key = 'nothing'",
        "UPDATE account_plan SET plan_key = 'small'",
    ),
    (
        "plans.follows",
        "UPDATE plan SET revision = 4 WHERE revision = 2",
        "UPDATE plan SET revision = 2 WHERE revision = 4",
    ),
    (
        "plans.beside",
        "UPDATE schema_version SET widens = 1 WHERE name = '0056_plans'",
        "UPDATE schema_version SET widens = 0 WHERE name = '0056_plans'",
    ),
    (
        "payments.granted",
        "UPDATE payment SET quota = quota + 1 WHERE id = 'Y'",
        "UPDATE payment SET quota = quota - 1 WHERE id = 'Y'",
    ),
    (
        "payments.credit",
        "UPDATE credit SET source = 'grant' WHERE source = 'payment'",
        "UPDATE credit SET source = 'payment' WHERE account_id = 'B' AND id LIKE 'payment%'",
    ),
    (
        "payments.told",
        "UPDATE payment_event SET kind = 'failed' WHERE kind = 'paid'",
        "UPDATE payment_event SET kind = 'paid' WHERE kind = 'failed'",
    ),
    (
        "payments.taken",
        "UPDATE payment SET taken = taken - 1, taken_credit = taken - 1 WHERE id = 'Y'",
        "UPDATE payment SET taken = taken + 1, taken_credit = taken + 1 WHERE id = 'Y'",
    ),
    (
        "payments.taken",
        "UPDATE payment SET refunded = 200 WHERE id = 'Y'",
        "UPDATE payment SET refunded = 100 WHERE id = 'Y'",
    ),
    (
        "payments.period",
        "UPDATE payment SET quota = quota + 1 WHERE id = 'Z'",
        "UPDATE payment SET quota = quota - 1 WHERE id = 'Z'",
    ),
    (
        "payments.refund",
        "UPDATE refund SET id = 'x' || id",
        "UPDATE refund SET id = SUBSTR(id, 2)",
    ),
    (
        "payments.state",
        "UPDATE payment SET state = 'refunded' WHERE id = 'Z'",
        "UPDATE payment SET state = 'paid' WHERE id = 'Z'",
    ),
    (
        "payments.beside",
        "UPDATE schema_version SET widens = 1 WHERE name = '0057_payments'",
        "UPDATE schema_version SET widens = 0 WHERE name = '0057_payments'",
    ),
    (
        "payments.debt",
        "UPDATE account SET debt = 1 WHERE id = 'B'",
        "UPDATE account SET debt = NULL WHERE id = 'B'",
    ),
    (
        "payments.limit",
        "UPDATE account SET credit_limit = 1 WHERE id = 'B'",
        "UPDATE account SET credit_limit = NULL WHERE id = 'B'",
    ),
    (
        "payments.product",
        "UPDATE product SET revision = 4 WHERE revision = 2",
        "UPDATE product SET revision = 2 WHERE revision = 4",
    ),
    (
        "imports.granted",
        "UPDATE imported SET amount = amount + 1",
        "UPDATE imported SET amount = amount - 1",
    ),
];

/// What is wrong only while a service should be at work.
const LATE: &[(&str, &str, &str)] = &[
    (
        "fences.overdue",
        "UPDATE job SET deadline_ms = deadline_ms - 900000 WHERE id = 'W'",
        "UPDATE job SET deadline_ms = deadline_ms + 900000 WHERE id = 'W'",
    ),
    (
        "fences.stale",
        "UPDATE job SET lease_until_ms = 0 WHERE id = 'R'",
        "UPDATE job SET lease_until_ms = 1790000030000 WHERE id = 'R'",
    ),
    (
        "deliveries.stuck",
        "UPDATE delivery SET state = 'sending', delivered_ms = NULL, next_ms = 0",
        "UPDATE delivery SET state = 'delivered', delivered_ms = 5, next_ms = 0",
    ),
];

/// A connection past every guard of the schema.
enum Vandal {
    Sqlite(SqliteConnection, Vec<String>),
    Postgres(PgConnection),
}

impl Vandal {
    async fn at(url: &str) -> Self {
        let Some(path) = url.strip_prefix("sqlite:") else {
            let mut conn = PgConnection::connect(url).await.expect("connected");
            let open = "SET session_replication_role = replica; \
                 DO $$ DECLARE c record; BEGIN FOR c IN SELECT conname, conrelid::regclass AS t FROM pg_constraint \
                   WHERE contype = 'c' AND connamespace = 'public'::regnamespace LOOP \
                   EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname); END LOOP; END $$";
            sqlx::raw_sql(open).execute(&mut conn).await.expect("open");
            return Self::Postgres(conn);
        };
        let mut conn = SqliteConnection::connect(&format!("sqlite://{path}"))
            .await
            .expect("connected");
        let triggers = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
        let triggers = sqlx::query(triggers).fetch_all(&mut conn).await;
        let mut texts = Vec::new();
        let mut open =
            "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;".to_owned();
        for row in triggers.expect("triggers") {
            texts.push(row.get::<String, _>(1));
            open.push_str("DROP TRIGGER ");
            open.push_str(&row.get::<String, _>(0));
            open.push(';');
        }
        let open = AssertSqlSafe(open);
        sqlx::raw_sql(open).execute(&mut conn).await.expect("open");
        Self::Sqlite(conn, texts)
    }

    async fn run(&mut self, text: &str) {
        let text = AssertSqlSafe(text.to_owned());
        match self {
            Self::Sqlite(conn, _) => sqlx::raw_sql(text).execute(conn).await.map(|_| ()),
            Self::Postgres(conn) => sqlx::raw_sql(text).execute(conn).await.map(|_| ()),
        }
        .expect("done");
    }

    /// Puts the guards back.
    async fn leave(mut self) {
        if let Self::Sqlite(_, texts) = &self {
            let texts = texts.join(";");
            self.run(&texts).await;
        }
    }
}

/// Who has bought something, a payment that was refunded in part, and one for a plan.
async fn purchases(rig: &Rig) -> [String; 3] {
    let ending = ProductDefinition {
        credit_days: Some(9),
        ..payments::product("nine.days")
    };
    for expected in [None, Some(1)] {
        payments::written(rig, &ending, expected).await;
    }
    let buyer = rig.account(0, 10).await;
    let paid = payments::bought(rig, &buyer, "nine.days").await;
    refunds::refunded(rig, &paid, 100).await;
    let month = ProductDefinition {
        quota: None,
        plan: Some("small".into()),
        ..payments::product("month")
    };
    payments::written(rig, &month, None).await;
    let period = payments::bought(rig, &buyer, "month").await;
    [buyer, paid, period]
}

/// Who has a plan of two revisions.
async fn planned(rig: &Rig) -> String {
    for expected in [None, Some(1)] {
        plans::written(rig, &plans::plan("small", 3), expected).await;
    }
    let account = rig.account(1, 10).await;
    plans::assign(rig, &account, "small", (NOW, None)).await;
    account
}

/// One job in each state, one of them of a model with two revisions, and a group with two; the names that stand for them.
async fn world(rig: &Rig) -> Vec<(&'static str, String)> {
    let account = rig.account(100, 10).await;
    for expected in [None, Some(1)] {
        models::written(rig, "Fox-1", expected).await;
        groups::written(rig, "vip", expected).await;
    }
    let terms = KeyTerms {
        max_queue: Some(9),
        ..spending::limits(&[(LimitWindow::Day, 50)])
    };
    let key = spending::key(rig, &account, &[], terms).await;
    let running = rig.running(&account, 4).await;
    assert!(rig.begin(&running, 1, "try").await, "begun");
    let queued = spending::by(rig, &account, &[&key], 3);
    let waiting = queued.job.id.clone();
    rig.take(queued).await;
    let failed = rig.running(&account, 2).await;
    rig.settle(rig.failure(&failed, Guard::Fence(1))).await;
    let mut hooked = spending::by(rig, &account, &[&key], 5);
    (hooked.job.model, hooked.job.model_revision) = (Some("Fox-1".into()), Some(2));
    hooked.job.hook_url = Some("https://example.com/".into());
    hooked.idempotency = Some(Idempotency {
        key: "once".into(),
        fingerprint: "same".into(),
        keep_after_ms: 0,
    });
    let succeeded = hooked.job.id.clone();
    rig.take(hooked).await;
    let mut success = rig.success(&succeeded, Guard::Unfinished, 5);
    if let Outcome::Succeeded { assets, .. } = &mut success.outcome {
        assets.push(Asset {
            key: "out/one/1.png".into(),
            job_id: succeeded.clone(),
            account_id: account.clone(),
            media_type: "image/png".into(),
            bytes: 1,
            expires_ms: NOW + 1_000_000,
            created_ms: NOW,
        });
    }
    rig.settle(success).await;
    deliver(rig).await;
    let credit = credits::grant(rig, &account, 9, NOW + 1_000_000).await;
    let held = rig.waiting(&account, 2).await;
    let ending = VoucherTerms {
        credit_days: Some(9),
        ..vouchers::terms(1)
    };
    let (_, codes) = vouchers::batch(rig, 2, ending).await;
    let redeemed = vouchers::done(vouchers::redeem(rig, &account, &codes[0], NOW).await);
    let planned = planned(rig).await;
    let [buyer, paid, period] = purchases(rig).await;
    take_over(rig).await;
    vec![
        ("'Z'", period),
        ("'B'", buyer),
        ("'Y'", paid),
        ("'P'", planned),
        ("'V'", redeemed.ledger_id),
        ("'C'", credit),
        ("'H'", held),
        ("'A'", account),
        ("'R'", running),
        ("'W'", waiting),
        ("'F'", failed),
        ("'S'", succeeded),
    ]
}

/// Takes over an account of another program.
async fn take_over(rig: &Rig) {
    let page = imports::page(vec![imports::account(rig, "1", 5)]);
    let act = imports::act(rig);
    let taken = rig.store.imports().add_accounts(page, act).await;
    taken.expect("taken over");
}

/// Delivers what is owed.
async fn deliver(rig: &Rig) {
    let claim = Claim {
        now_ms: NOW + 10_000,
        for_ms: 30_000,
        limit: 10,
        per_route: 10,
        routes: Vec::new(),
        per_account: 10,
        accounts: Vec::new(),
    };
    let claimed = rig.store.deliveries().claim(&claim, || claim.now_ms).await;
    for one in claimed.expect("claims") {
        let tried = DeliveryResult {
            id: one.id,
            attempts: one.attempts,
            state: DeliveryState::Delivered,
            failures: 0,
            status: Some(200),
            error: None,
            duration_ms: 1,
            answer_start: String::new(),
            now_ms: 5,
        };
        assert!(rig.store.deliveries().finish(tried).await.expect("noted"));
    }
}

fn named(text: &str, names: &[(&str, String)]) -> String {
    let mut text = text.to_owned();
    for (word, name) in names {
        text = text.replace(word, &format!("'{name}'"));
    }
    text
}

async fn faults(rig: &Rig, at_work: bool) -> Vec<Violation> {
    let mut found = Vec::new();
    let look = CheckOptions {
        second_look: Duration::from_millis(10),
        ..CheckOptions::new(NOW, NOW, at_work)
    };
    let mut note = |fault| found.push(fault);
    let looked = rig
        .store
        .invariants()
        .check(look, &mut note)
        .await
        .expect("asked");
    assert!(looked > 10, "only {looked} rows");
    found
}

async fn every_damage_is_found_by_name(rig: Rig) {
    let names = world(&rig).await;
    assert_eq!(faults(&rig, true).await, Vec::new(), "all is well");
    let pages = rig.store.invariants().check_pages().await;
    assert_eq!(pages.expect("asked"), Vec::<String>::new());
    let mut vandal = Vandal::at(&rig.url).await;
    let guarded = !rig.store.is_postgres();
    if guarded {
        let found = faults(&rig, false).await;
        let guards: BTreeSet<&str> = found.iter().map(|one| one.invariant).collect();
        assert_eq!(guards, BTreeSet::from(["schema.guard"]), "{found:?}");
        assert_eq!(found.len(), 38, "the triggers are gone: {found:?}");
    }
    for (invariant, damage, mend) in DAMAGES {
        vandal.run(&named(damage, &names)).await;
        let found = faults(&rig, false).await;
        let seen = found.iter().any(|one| one.invariant == *invariant);
        assert!(seen, "{invariant} after {damage}: {found:?}");
        vandal.run(&named(mend, &names)).await;
        let left = faults(&rig, false).await;
        let left = left.iter().filter(|one| one.invariant != "schema.guard");
        assert_eq!(left.count(), 0, "after {mend}");
    }
    for (_, damage, _) in LATE {
        vandal.run(&named(damage, &names)).await;
    }
    let still = faults(&rig, false).await;
    let still = still.iter().filter(|one| one.invariant != "schema.guard");
    assert_eq!(still.count(), 0, "a stopped service promises no times");
    let found = faults(&rig, true).await;
    for (invariant, damage, mend) in LATE {
        let seen = found.iter().any(|one| one.invariant == *invariant);
        assert!(seen, "{invariant} after {damage}: {found:?}");
        vandal.run(&named(mend, &names)).await;
    }
    vandal.leave().await;
}

async fn accounts_are_looked_at_page_by_page(rig: Rig) {
    for _ in 0..120 {
        rig.account(1, 1).await;
    }
    let (mut place, mut looked, mut pages) = (None, 0, 0);
    loop {
        let page = rig
            .store
            .invariants()
            .check_accounts(place.as_ref())
            .await
            .expect("a look");
        assert_eq!(page.faults, Vec::new());
        (looked, pages) = (looked + page.accounts, pages + 1);
        place = page.next;
        if place.is_none() {
            break;
        }
    }
    assert!(looked == 120 && pages > 2, "{looked} in {pages}");
    assert!(account_invariants().any(|name| name == "money.sum"));
}

/// The promise: the auditor looks while others write, and sees no trouble where there is none.
async fn a_busy_database_raises_no_alarm(rig: Rig) {
    let account = rig.account(1_000_000, 1_000).await;
    let busy = {
        let (rig, account) = (rig.clone(), account.clone());
        crate::rig::spawn(async move {
            for _ in 0..15 {
                let jobs = futures_util::future::join_all((0..5).map(|_| rig.running(&account, 2)));
                for job in jobs.await {
                    rig.settle(rig.success(&job, Guard::Fence(1), 1)).await;
                }
            }
        })
    };
    let mut looks = 0;
    while !busy.is_finished() {
        let found = rig.store.invariants().check_books().await.expect("asked");
        assert_eq!(found, Vec::<String>::new());
        looks += 1;
    }
    busy.await.expect("done");
    assert!(looks > 0);
}
