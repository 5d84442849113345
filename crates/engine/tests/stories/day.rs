//! A day of mixed jobs at several vendors: some tell what they took, for some the operator says it, some fail, some are stopped and
//! paid for all the same. What the margins say is held against a sum of the test's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::stats::Margin;
use atelier_contract::{JobId, JobState};
use atelier_engine::Caller;
use serde_json::{Value, json};

use crate::models::{create as create_model, draw};
use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::stand::Stand;
use crate::vendors::cast;
use crate::verified::{painter, runway};

const HOUR_MS: i64 = 3_600_000;
/// What the operator sells one unit of quota for.
const QUOTA_USD: f64 = 0.05;

/// Vendor, back end, model and currency.
type Line = (&'static str, &'static str, &'static str, &'static str);
/// Jobs with a result, thousandths of quota, millionths of the currency.
type Sum = (i64, i64, i64);

const TELLS: &str = "stage a day unknown one";
const FOX: Line = ("stage", TELLS, "fox-1", "USD");
const FOX_UNTOLD: Line = ("stage", TELLS, "fox-1", "");
const SEVEN: Line = ("stage", TELLS, "7", "USD");
const OWL: Line = ("stage", "counted", "owl-1", "USD");
const PAINTED: Line = ("openai", "painter", "art-2", "USD");
const CHATTED: Line = ("runway", "runway", "", "USD");

/// Everything that happened, with its hour.
#[derive(Default)]
struct Ledger(Vec<(i64, Line, Sum)>);

impl Ledger {
    fn sums(&self, since_hour: i64) -> BTreeMap<Line, Sum> {
        let mut sums: BTreeMap<Line, Sum> = BTreeMap::new();
        for (_, line, (jobs, quota, cost)) in self.0.iter().filter(|one| one.0 >= since_hour) {
            let sum = sums.entry(*line).or_default();
            *sum = (sum.0 + jobs, sum.1 + quota, sum.2 + cost);
        }
        sums
    }

    /// What is left of a line, in millionths of a dollar.
    fn left((_, quota, cost): Sum) -> i64 {
        (quota as f64 * QUOTA_USD * 1e3).round() as i64 - cost
    }
}

struct Day {
    rig: Rig,
    caller: Caller,
    stage: Arc<Stage>,
    ledger: Ledger,
    jobs: usize,
}

async fn connect(
    rig: &Rig,
    name: &str,
    vendor: &str,
    stand: &Stand,
    settings: Value,
    operation: &str,
) {
    let change = json!({ "name": name, "vendor": vendor, "base_url": stand.url("/v1"), "settings": settings,
        "operations": [operation] });
    let backends = rig.engine.admin().backends();
    let made = backends.create("root", change.into()).await;
    let id = made.expect("a back end").id;
    let change =
        worker(&json!({ "name": "main", "credential": "sk-very-secret", "concurrency": 4 }));
    let made = backends.create_worker("root", &id, change).await;
    made.expect("a worker account");
}

impl Day {
    async fn dawn(painter: &Stand, runway: &Stand) -> Self {
        let (stage, rig) = (Stage::named("a day"), Rig::with_vendors().await);
        cast(&rig, "a day", "unknown", &["one"]).await;
        let nowhere = Stand::always(crate::stand::Reply::Cut);
        let costs = json!({ "artgen": { "unit": "item", "usd": 0.01 } });
        let counted = json!({ "stage": "a day", "lost": "unknown", "costs": costs });
        connect(&rig, "counted", "stage", &nowhere, counted, "artgen").await;
        let item = json!({ "imgmodel": { "unit": "item", "usd": 0.03 } });
        let painting = json!({ "image_model": "painter", "images_per_call": 1, "costs": item });
        connect(
            &rig,
            "painter",
            "openai",
            painter,
            painting,
            "imgmodel.generations",
        )
        .await;
        let polled = json!({ "poll_seconds": 1 });
        connect(&rig, "runway", "runway", runway, polled, "imgmodel.chat").await;
        for (name, backend, amount) in [("fox-1", TELLS, 2.5), ("owl-1", "counted", 4.0)] {
            let model = json!({ "name": name, "like": "artgen.imagine", "price": { "unit": "call", "amount": amount },
                "routes": [{ "backend": backend, "model": name }] });
            create_model(&rig, &model).await;
        }
        let caller = rig.account(1_000_000).await;
        Self {
            rig,
            caller,
            stage,
            ledger: Ledger::default(),
            jobs: 0,
        }
    }

    /// Has a job end, and writes down what it should come to: what the vendor took, in millionths.
    async fn ends(&mut self, id: &JobId, line: Line, micros: i64, state: JobState) {
        self.rig.until_final(&self.caller, id).await;
        let job = self.rig.job(&self.caller, id).await;
        assert_eq!(job.state, state, "{line:?}: {:?}", job.message);
        let hour = job.finished_ms.expect("an end").div_euclid(HOUR_MS);
        let made = i64::from(state == JobState::Succeeded);
        if made > 0 || micros > 0 {
            self.ledger
                .0
                .push((hour, line, (made, job.quota.thousandths(), micros)));
        }
    }

    async fn drawn(&mut self, model: &str, script: &str) -> JobId {
        self.jobs += 1;
        // Words of a story of its own for each job.
        let prompt = format!("{script} {}", self.jobs);
        draw(&self.rig, &self.caller, model, &prompt).await
    }

    async fn called(&self, operation: &str, body: Value) -> JobId {
        let id = self.rig.call(&self.caller, operation, body, false).await;
        id.expect("accepted")
    }

    /// One job of a kind.
    async fn job(&mut self, kind: usize) {
        use JobState::{Failed, Succeeded};
        match kind {
            0 => {
                let id = self.drawn("fox-1", "costly 5").await;
                self.ends(&id, FOX, 50_000, Succeeded).await;
            }
            1 => {
                let id = self.drawn("fox-1", "plain").await;
                self.ends(&id, FOX_UNTOLD, 0, Succeeded).await;
            }
            2 => {
                let id = self.drawn("owl-1", "plain").await;
                self.ends(&id, OWL, 40_000, Succeeded).await;
            }
            3 => {
                let id = self.drawn("owl-1", "fails").await;
                self.ends(&id, OWL, 0, Failed).await;
            }
            4 => {
                let id = self.drawn("fox-1", "refused").await;
                self.ends(&id, FOX, 0, Failed).await;
            }
            5 => self.stopped().await,
            6 => {
                let id = self.drawn("fox-1", "paid-refused").await;
                self.ends(&id, FOX, 200_000, Failed).await;
            }
            7 => {
                let body = json!({ "prompt": "a door", "n": 2 });
                let id = self.called("imgmodel.generations", body).await;
                self.ends(&id, PAINTED, 60_000, Succeeded).await;
            }
            8 => {
                let id = self
                    .called("imgmodel.chat", json!({ "prompt": "a door" }))
                    .await;
                self.ends(&id, CHATTED, 40_000, Succeeded).await;
            }
            9 => {
                let prompt = format!("costly 15 {}", self.jobs);
                self.jobs += 1;
                let id = self
                    .rig
                    .imagine(&self.caller, &prompt)
                    .await
                    .expect("accepted");
                self.ends(&id, SEVEN, 150_000, Succeeded).await;
            }
            _ => unreachable!("no such kind"),
        }
    }

    /// A job that its caller cancels while the vendor is at it, and that is paid for in part.
    async fn stopped(&mut self) {
        let before = self.stage.books().cancelled.len();
        let id = self.drawn("fox-1", "limbo-paid").await;
        self.rig.rest().await;
        let jobs = self.rig.engine.jobs();
        let cancelled = jobs.cancel(&self.caller.account_id, &id).await;
        cancelled.expect("cancelled");
        while self.stage.books().cancelled.len() == before {
            self.rig.rest().await;
        }
        self.rig.rest().await;
        self.ends(&id, FOX, 300_000, JobState::Failed).await;
    }

    /// What is made at a loss, or at a cost that nobody knows, is on the first page within its hour, and nothing else is.
    async fn check_first_page(&self) {
        let page = self.rig.engine.admin().reports().overview().await;
        let page = page.expect("the first page");
        let hour = self.rig.clock.now_ms().div_euclid(HOUR_MS);
        let sums = self.ledger.sums(hour - 1);
        let lost = sums
            .iter()
            .filter(|(line, sum)| line.3 == "USD" && Ledger::left(**sum) < 0);
        assert_eq!(
            told(&page.losses),
            lost.map(|(line, sum)| row(*line, *sum))
                .collect::<BTreeMap<_, _>>()
        );
        let untold = sums.iter().filter(|(line, _)| line.3.is_empty());
        assert_eq!(
            told(&page.unknown_costs),
            untold
                .map(|(line, sum)| row(*line, *sum))
                .collect::<BTreeMap<_, _>>()
        );
    }
}

type Row = ((String, String, String, String), Sum);

fn row((vendor, backend, model, currency): Line, sum: Sum) -> Row {
    let key = (
        vendor.to_owned(),
        backend.to_owned(),
        model.to_owned(),
        currency.to_owned(),
    );
    (key, sum)
}

/// What margins say, in the shape of the test's own sum.
fn told(margins: &[Margin]) -> BTreeMap<(String, String, String, String), Sum> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let rows = margins.iter().map(|one| {
        let key = (
            one.vendor.clone(),
            text(&one.backend),
            text(&one.model).to_lowercase(),
            text(&one.currency),
        );
        let cost = one.cost.map_or(0, Amount::micros);
        let sum = (one.jobs, one.quota.thousandths(), cost);
        let left = one.margin_usd.map(|left| (left * 1e6).round() as i64);
        let own = (key.3 == "USD").then(|| Ledger::left(sum));
        assert_eq!(left, own, "{key:?}");
        (key, sum)
    });
    rows.collect()
}

#[tokio::test]
async fn the_margins_of_a_day_are_what_callers_paid_and_vendors_took() {
    let (painter, runway) = (painter(), runway("status"));
    let mut day = Day::dawn(&painter, &runway).await;
    let mut chance: u64 = 7;
    for hour in 0..24 {
        // Every hour begins at its first minute.
        let now_ms = day.rig.clock.now_ms();
        day.rig
            .clock
            .advance(HOUR_MS - now_ms.rem_euclid(HOUR_MS) + 60_000);
        day.rig.engine.renew_step().await.expect("renewed");
        for place in 0..4 {
            chance = chance
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Every kind has its turn, whatever else chance brings.
            let kind = if place == 0 {
                hour % 10
            } else {
                (chance >> 33) as usize % 10
            };
            day.job(kind).await;
        }
        if hour == 13 {
            // A vendor that has become dearer than what it makes is sold for.
            let id = day.drawn("fox-1", "costly 900").await;
            day.ends(&id, FOX, 9_000_000, JobState::Succeeded).await;
            let page = day.rig.engine.admin().reports().overview().await;
            let page = page.expect("the first page");
            assert_eq!(
                page.losses[0]
                    .model
                    .as_deref()
                    .map(str::to_lowercase)
                    .as_deref(),
                Some("fox-1")
            );
        }
        day.check_first_page().await;
    }
    let sums = day.ledger.sums(i64::MIN);
    assert_eq!(sums.len(), 6, "every kind of line is there: {sums:?}");
    let stats = day
        .rig
        .engine
        .admin()
        .reports()
        .stats()
        .await
        .expect("stats");
    let expected: BTreeMap<_, _> = sums.iter().map(|(line, sum)| row(*line, *sum)).collect();
    assert_eq!(told(&stats.margins), expected);
    for vendor in ["stage", "openai", "runway"] {
        let whole = |rows: &BTreeMap<(String, String, String, String), Sum>| {
            let rows = rows.iter().filter(|(key, _)| key.0 == vendor);
            rows.fold((0, 0), |sum, (_, row)| (sum.0 + row.1, sum.1 + row.2))
        };
        assert_eq!(whole(&told(&stats.margins)), whole(&expected), "{vendor}");
    }
    let paid: i64 = sums.values().map(|sum| sum.1).sum();
    let (balance, held) = day.rig.purse(&day.caller).await;
    let left: f64 = balance.parse().expect("a number");
    assert!(
        ((1_000_000.0 - left) * 1e3 - paid as f64).abs() < 0.5,
        "{left} {paid}"
    );
    assert_eq!(held, "0");
    day.rig.check_books().await;
}
