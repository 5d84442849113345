//! Over random tariffs, models, groups, dates and requests: a quote is what is held, and what is captured when everything was made.

use std::collections::HashMap;

use atelier_contract::groups::Bill;
use atelier_contract::time::timestamp;
use atelier_contract::{JobState, Quota};
use atelier_engine::Caller;
use serde_json::{Value, json};

use crate::groups::join;
use crate::models::fields;
use crate::rig::Rig;

const ROUNDS: usize = 50;
const JOBS: usize = 50;
const DAY_MS: i64 = 24 * 3_600_000;
const GROUPS: [&str; 4] = ["default", "vip", "resellers", "schools"];
/// What rules may match; the first few may have an amount.
const WORDS: [&str; 12] = [
    "artgen.imagine.fast",
    "artgen.imagine.turbo",
    "imgmodel.generations.image-1.low",
    "fox-1",
    "image-1",
    "owl",
    "artgen.imagine",
    "imgmodel.generations",
    "design.generations",
    "artgen",
    "imgmodel",
    "*",
];
const PRICED: usize = 4;
const KEYS: [&str; 5] = [
    "artgen.imagine.fast",
    "artgen.imagine.turbo",
    "artgen.factor.version_6",
    "imgmodel.generations.image-1.low",
    "design.generations",
];

/// Random numbers that are the same at every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn amount(&mut self, most: usize) -> Quota {
        Quota::from_thousandths(self.below(most) as i64)
    }

    fn rules(&mut self, now_ms: i64) -> Value {
        let mut rules: HashMap<(usize, usize), Value> = HashMap::new();
        for _ in 0..self.below(14) {
            let (word, day) = (self.below(WORDS.len()), self.below(5));
            let amount = self.amount(3_000).to_string();
            let mut rule = if word < PRICED && self.below(2) == 0 {
                json!({ "match": WORDS[word], "amount": amount })
            } else {
                json!({ "match": WORDS[word], "factor": amount })
            };
            if day > 0 {
                // From two days ago to two days ahead.
                let from = timestamp(now_ms + (day as i64 - 3) * DAY_MS);
                rule["from"] = from[..10].into();
            }
            rules.insert((word, day), rule);
        }
        rules.into_values().collect()
    }

    fn request(&mut self) -> (&'static str, Value) {
        let words = ["", " --v 6", " --niji 6"][self.below(3)];
        match self.below(6) {
            0 => (
                "artgen.imagine",
                json!({ "prompt": format!("plain{words}") }),
            ),
            1 => (
                "artgen.imagine",
                json!({ "prompt": format!("plain{words}"), "mode": "turbo" }),
            ),
            2 => (
                "artgen.imagine",
                json!({ "prompt": "plain", "model": "wolf" }),
            ),
            3 => {
                let size = ["1024x1024", "1536x1024"][self.below(2)];
                let n = self.below(4) + 1;
                (
                    "imgmodel.generations",
                    json!({ "prompt": "plain", "model": "image-1", "quality": "low", "size": size, "n": n }),
                )
            }
            4 => {
                let model = ["fox-1", "FOX", "owl"][self.below(3)];
                let n = self.below(4) + 1;
                (
                    "imgmodel.generations",
                    json!({ "prompt": "plain", "model": model, "quality": "low", "n": n }),
                )
            }
            _ => (
                "design.generations",
                json!({ "prompt": "plain", "n": self.below(3) + 1 }),
            ),
        }
    }
}

/// Other prices, models and rules than before.
async fn shuffle(rig: &Rig, dice: &mut Dice) {
    let admin = rig.engine.admin();
    let prices = KEYS.map(|key| (key.to_owned(), dice.amount(5_000)));
    admin
        .prices()
        .set("root", prices.into())
        .await
        .expect("prices");
    for model in ["fox-1", "wolf"] {
        let unit = ["call", "item", "megapixel"][dice.below(3)];
        let price = json!({ "unit": unit, "amount": dice.amount(900).to_string() });
        let change = fields(&json!({ "price": price }));
        admin
            .models()
            .change("root", model, change)
            .await
            .expect("a model");
    }
    for group in GROUPS {
        let rules = dice.rules(rig.clock.now_ms());
        let change = fields(&json!({ "rules": rules }));
        admin
            .groups()
            .change("root", group, change)
            .await
            .expect("rules");
    }
}

/// Submits a request and says what it was quoted; what is held is the same.
async fn submitted(
    rig: &Rig,
    caller: &Caller,
    (operation, request): (&str, Value),
) -> (atelier_contract::JobId, Bill) {
    let before = rig.purse(caller).await.1;
    let intake = rig.engine.intake();
    let bill = intake.quote_bill(caller, operation, fields(&request), false);
    let bill = bill
        .await
        .unwrap_or_else(|refusal| panic!("{operation} {request}: {}", refusal.message));
    let mut kept = request;
    kept["timeout"] = 300.into();
    let id = rig
        .call(caller, operation, kept, false)
        .await
        .expect("accepted");
    let row = rig.store.jobs().find(&caller.account_id, id.as_str()).await;
    let held = row.expect("a read").expect("a job").price;
    assert_eq!(held, bill.total, "{operation}, {before} held before");
    (id, bill)
}

#[tokio::test]
async fn a_quote_is_what_is_held_and_what_is_captured() {
    let rig = Rig::new().await;
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let admin = rig.engine.admin();
    for model in [
        json!({ "name": "fox-1", "like": "imgmodel/image-1", "aliases": ["fox"] }),
        json!({ "name": "owl", "like": "imgmodel/image-1" }),
        json!({ "name": "wolf", "like": "artgen.imagine", "price": { "unit": "call", "amount": 1 } }),
    ] {
        admin
            .models()
            .create("root", fields(&model))
            .await
            .expect("a model");
    }
    let price = json!({ "price": { "unit": "item", "amount": 1 } });
    admin
        .models()
        .change("root", "fox-1", fields(&price))
        .await
        .expect("a price");
    for group in &GROUPS[1..] {
        let group = fields(&json!({ "name": group }));
        admin.groups().create("root", group).await.expect("a group");
    }
    let mut callers = Vec::new();
    for group in GROUPS {
        let account = rig.account(1_000_000).await;
        let group = Some(group).filter(|group| *group != "default");
        callers.push(join(&rig, &account, group).await);
    }
    let (mut cases, mut ruled, mut lines) = (0, 0, 0);
    shuffle(&rig, &mut dice).await;
    for _ in 0..ROUNDS {
        let mut asked = Vec::new();
        for _ in 0..JOBS {
            let caller = &callers[dice.below(callers.len())];
            let (id, bill) = submitted(&rig, caller, dice.request()).await;
            ruled += usize::from(bill.rule.is_some());
            lines += usize::from(!bill.lines.is_empty());
            asked.push((caller, id, bill));
        }
        // Other prices from now on: what was accepted stays.
        shuffle(&rig, &mut dice).await;
        rig.settle_down().await;
        for (caller, id, bill) in asked {
            let job = rig.job(caller, &id).await;
            assert_eq!(job.state, JobState::Succeeded, "{:?}", job.message);
            assert_eq!(job.quota, bill.total);
            assert_eq!(job.price_lines, bill.lines);
            cases += 1;
        }
        rig.clock.advance(dice.below(20) as i64 * 3_600_000);
    }
    assert!(
        ruled > cases / 3 && lines > ruled,
        "{ruled} of {cases} had a rule, {lines} lines"
    );
    rig.check_books().await;
}
