//! Credit that ends, vouchers and plans from outside: what operators give, what callers have of it, and every refusal.

use std::time::{Duration, SystemTime};

use atelier_contract::time::timestamp;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{Account, Answer, Gateway};

const PICTURES: &str = "/v1/images/generations";
const REDEEM: &str = "/account/v1/vouchers";

/// Something that costs 1 and is there with its answer.
fn picture() -> Value {
    json!({ "prompt": "a fox", "model": "image-1", "quality": "low" })
}

async fn operate(gateway: &Gateway, method: Method, path: &str, body: Value) -> Answer {
    let path = format!("/admin/v1/{path}");
    gateway.operate(method, &path, Some(body)).await
}

async fn credit(gateway: &Gateway, caller: &Account, body: Value) -> Answer {
    let path = format!("accounts/{}/credit", caller.id);
    operate(gateway, Method::POST, &path, body).await
}

async fn credits(gateway: &Gateway, caller: &Account) -> Value {
    let found = gateway.get(&caller.key, "/account/v1/credits").await;
    assert_eq!(found.status, 200, "{}", found.json);
    let path = format!("/admin/v1/accounts/{}/credits", caller.id);
    let seen = gateway.operate(Method::GET, &path, None).await;
    assert_eq!(
        seen.json["data"], found.json["data"],
        "an operator sees the same"
    );
    found.json["data"].clone()
}

/// Makes a batch of vouchers; the batch, and its codes.
async fn vouchers(gateway: &Gateway, body: Value) -> (Value, Vec<String>) {
    let made = operate(gateway, Method::POST, "vouchers", body).await;
    assert_eq!(made.status, 200, "{}", made.json);
    let csv = made.json["data"]["csv"].as_str().expect("a table");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("code"));
    (
        made.json["data"].clone(),
        lines.map(str::to_owned).collect(),
    )
}

async fn redeem(gateway: &Gateway, caller: &Account, code: &str) -> Answer {
    gateway
        .post(&caller.key, REDEEM, json!({ "code": code }))
        .await
}

/// A moment so many seconds from now, as operators write it.
#[expect(
    clippy::disallowed_methods,
    reason = "the service goes by the machine's clock"
)]
fn in_seconds(seconds: u64) -> String {
    let at = SystemTime::now() + Duration::from_secs(seconds);
    let at = at.duration_since(SystemTime::UNIX_EPOCH).expect("later");
    format!("{}Z", timestamp(at.as_millis() as i64).replace(' ', "T"))
}

#[tokio::test]
async fn credit_that_ends_is_spent_first_and_booked_when_it_is_over() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    for (wrong, field) in [
        (json!({ "amount": 5, "expires": "2020-01-01" }), "expires"),
        (json!({ "amount": 5, "expires": "soon" }), "expires"),
        (json!({ "amount": -5, "expires": "2099-01-01" }), "expires"),
        (json!({ "amount": 0, "expires": "2099-01-01" }), "amount"),
    ] {
        let refused = credit(&gateway, &caller, wrong.clone()).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field, "{wrong}");
    }
    let late = json!({ "amount": 3, "reason": "trial", "expires": "2099-01-31" });
    assert_eq!(credit(&gateway, &caller, late).await.status, 200);
    let soon = json!({ "amount": 2.5, "reason": "sorry", "expires": in_seconds(6) });
    assert_eq!(credit(&gateway, &caller, soon).await.status, 200);
    let has = credits(&gateway, &caller).await;
    let shown: Vec<Value> = has["credits"]
        .as_array()
        .expect("credits")
        .iter()
        .map(|one| json!([one["note"], one["source"], one["left"]]))
        .collect();
    assert_eq!(
        shown,
        [json!(["sorry", "grant", 2.5]), json!(["trial", "grant", 3])]
    );
    assert_eq!(
        (&has["base"], &has["credits"][1]["expires"]),
        (&json!(10), &json!("2099-01-31 00:00:00"))
    );
    let answer = gateway.post(&caller.key, PICTURES, picture()).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let has = credits(&gateway, &caller).await;
    assert_eq!(
        (&has["credits"][0]["left"], &has["base"]),
        (&json!(1.5), &json!(10))
    );
    // Nobody asks for anything, and it is booked all the same.
    let ended = async {
        loop {
            let ledger = gateway.get(&caller.key, "/account/v1/ledger?limit=1").await;
            let row = ledger.json["data"][0].clone();
            if row["kind"] == "expire" {
                break row;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let row = tokio::time::timeout(Duration::from_mins(1), ended).await;
    let row = row.expect("booked within a minute");
    assert_eq!(
        (&row["amount"], &row["reason"], &row["balance"]),
        (&json!(-1.5), &json!("sorry"), &json!(13))
    );
    let has = credits(&gateway, &caller).await;
    assert_eq!(
        (&has["credits"][1]["lapsed"], &has["credits"][1]["spent"]),
        (&json!(1.5), &json!(1)),
        "{has}"
    );
}

#[tokio::test]
async fn vouchers_are_made_within_bounds_and_end_at_their_instant() {
    let gateway = Gateway::spawn().await;
    let other = gateway.account(0).await;
    for (wrong, field) in [
        (json!({ "count": 10_001, "amount": 1 }), "count"),
        (json!({ "count": 0, "amount": 1 }), "count"),
        (json!({ "count": 1, "amount": 0 }), "amount"),
        (
            json!({ "count": 1, "amount": 1, "expires": "2020-01-01" }),
            "expires",
        ),
        (
            json!({ "count": 1, "amount": 1, "credit_expires": "2020-01-01" }),
            "credit_expires",
        ),
        (
            json!({ "count": 1, "amount": 1, "credit_days": 0 }),
            "credit_days",
        ),
    ] {
        let refused = operate(&gateway, Method::POST, "vouchers", wrong.clone()).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field, "{wrong}");
    }
    let (_, ending) = vouchers(
        &gateway,
        json!({ "count": 1, "amount": 1, "expires": in_seconds(1) }),
    )
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    redeem(&gateway, &other, &ending[0])
        .await
        .assert_refused(400, "voucher_expired");
}

#[tokio::test]
async fn a_voucher_is_redeemed_once_and_refused_with_its_reason() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(0).await, gateway.account(0).await);
    let (batch, codes) = vouchers(
        &gateway,
        json!({ "count": 3, "amount": 5, "note": "fair", "credit_days": 30 }),
    )
    .await;
    assert_eq!(codes.len(), 3);
    assert!(
        codes
            .iter()
            .all(|code| code.len() == 19 && code.matches('-').count() == 3),
        "{codes:?}"
    );
    let first = redeem(&gateway, &caller, &codes[0]).await;
    assert_eq!(first.status, 200, "{}", first.json);
    let data = &first.json["data"];
    assert_eq!((&data["amount"], &data["batch"]), (&json!(5), &batch["id"]));
    // The same answer again, however it is written.
    let written = codes[0]
        .to_lowercase()
        .replace('-', " ")
        .replace('0', "o")
        .replace('1', "l");
    let again = redeem(&gateway, &caller, &written).await;
    assert_eq!(again.json["data"], *data);
    redeem(&gateway, &other, &codes[0])
        .await
        .assert_refused(400, "voucher_used");
    redeem(&gateway, &caller, &codes[1])
        .await
        .assert_refused(400, "voucher_limit");
    let has = credits(&gateway, &caller).await;
    assert_eq!(
        (&has["credits"][0]["source"], &has["credits"][0]["note"]),
        (&json!("voucher"), &json!("fair"))
    );
    let path = format!("vouchers/{}", batch["id"].as_str().expect("an id"));
    let revoked = gateway
        .operate(Method::DELETE, &format!("/admin/v1/{path}"), None)
        .await;
    assert!(
        revoked.json["data"]["revoked_at"].is_string(),
        "{}",
        revoked.json
    );
    redeem(&gateway, &other, &codes[2])
        .await
        .assert_refused(400, "voucher_revoked");
    let listed = gateway
        .operate(Method::GET, "/admin/v1/vouchers", None)
        .await;
    let row = &listed.json["data"][0];
    assert_eq!(
        (&row["count"], &row["redeemed"], row.get("csv")),
        (&json!(3), &json!(1), None)
    );
    assert_eq!(gateway.balance(&caller.key).await, (5.0, 0.0));
    assert_eq!(gateway.balance(&other.key).await, (0.0, 0.0));
    // Codes are kept as digests and written nowhere.
    assert!(!gateway.printed().contains(&codes[0]), "in the log");
}

/// The promise: whoever guesses is told 20 times that it was wrong, however many guesses come at once; those who are right lose
/// nothing by it.
#[tokio::test]
async fn wrong_codes_are_counted_and_right_ones_are_not() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(0).await, gateway.account(0).await);
    let (_, codes) = vouchers(
        &gateway,
        json!({ "count": 30, "amount": 1, "per_account": 30 }),
    )
    .await;
    for code in &codes {
        assert_eq!(redeem(&gateway, &caller, code).await.status, 200);
    }
    let wrong = "0000-0000-0000-0000";
    redeem(&gateway, &caller, wrong)
        .await
        .assert_refused(400, "voucher_unknown");
    // A slip of the pen counts as well.
    redeem(&gateway, &caller, "0000-0000-0000-0001")
        .await
        .assert_refused(400, "voucher_unknown");
    let guesses = join_all((0..40).map(|_| redeem(&gateway, &caller, wrong))).await;
    let told = guesses.iter().filter(|one| one.status == 400).count();
    assert_eq!(told, 18);
    let refused = redeem(&gateway, &caller, &codes[0]).await;
    refused.assert_refused(429, "rate_limited");
    assert!(
        refused
            .header("retry-after")
            .parse::<u64>()
            .expect("seconds")
            > 60
    );
    // All of them came from one network.
    redeem(&gateway, &other, wrong)
        .await
        .assert_refused(429, "rate_limited");
}

#[tokio::test]
async fn a_plan_is_refused_with_its_field() {
    let gateway = Gateway::spawn().await;
    for (wrong, field) in [
        (json!({ "name": "a", "every": "week", "quota": 1 }), "every"),
        (
            json!({ "name": "a", "every": "month", "quota": 0 }),
            "quota",
        ),
        (
            json!({ "name": "a", "every": "month", "quota": 1, "rollover_cap": -1 }),
            "rollover_cap",
        ),
        (
            json!({ "name": "a", "every": "month", "quota": 1, "group": "nobody" }),
            "group",
        ),
        (
            json!({ "name": "a", "every": "month", "quota": 1, "then": "go" }),
            "then",
        ),
    ] {
        let refused = operate(&gateway, Method::POST, "plans", wrong.clone()).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field, "{wrong}");
    }
}

#[tokio::test]
async fn a_plan_is_made_given_and_ended() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(50).await;
    let group = json!({ "name": "vip", "rules": [{ "match": "*", "factor": 0.5 }] });
    operate(&gateway, Method::POST, "groups", group).await;
    let small =
        json!({ "name": "Small", "every": "month", "quota": 1.5, "group": "vip", "then": "stop" });
    let made = operate(&gateway, Method::POST, "plans", small.clone()).await;
    assert_eq!(
        (&made.json["data"]["name"], &made.json["data"]["revision"]),
        (&json!("small"), &json!(1))
    );
    operate(&gateway, Method::POST, "plans", small)
        .await
        .assert_refused(409, "conflict");
    let big = json!({ "name": "big", "every": { "days": 30 }, "quota": 300 });
    operate(&gateway, Method::POST, "plans", big).await;
    let path = format!("accounts/{}/plan", caller.id);
    let none = gateway.get(&caller.key, "/account/v1/plan").await;
    assert_eq!(none.json["data"]["plan"], Value::Null);
    operate(&gateway, Method::PUT, &path, json!({ "plan": "nothing" }))
        .await
        .assert_refused(400, "invalid_parameter");
    let past = json!({ "plan": "small", "from": "2020-01-01" });
    operate(&gateway, Method::PUT, &path, past)
        .await
        .assert_refused(400, "invalid_parameter");
    let given = operate(&gateway, Method::PUT, &path, json!({ "plan": "small" })).await;
    assert_eq!(given.status, 200, "{}", given.json);
    let own = gateway.get(&caller.key, "/account/v1/plan").await;
    assert_eq!(own.json["data"], given.json["data"]);
    assert_eq!(
        (&own.json["data"]["plan"], &own.json["data"]["then"]),
        (&json!("small"), &json!("stop"))
    );
    assert_eq!(gateway.balance(&caller.key).await, (51.5, 0.0));
    // Its group's price is half of it, and nothing but its quota is spent.
    for _ in 0..3 {
        assert_eq!(
            gateway.post(&caller.key, PICTURES, picture()).await.status,
            200
        );
    }
    let refused = gateway.post(&caller.key, PICTURES, picture()).await;
    refused.assert_refused(400, "insufficient_quota");
    change_and_end(&gateway, &caller, &path).await;
    let acts = gateway
        .operate(Method::GET, "/admin/v1/audit?limit=100", None)
        .await;
    let acts: Vec<&str> = acts.json["data"]
        .as_array()
        .expect("acts")
        .iter()
        .filter_map(|act| act["action"].as_str())
        .filter(|action| action.contains("plan"))
        .collect();
    assert_eq!(
        acts,
        [
            "account.plan.end",
            "account.plan",
            "account.plan",
            "account.plan",
            "plan.create",
            "plan.create"
        ]
    );
}

/// More at once, less with the next renewal, then the end.
async fn change_and_end(gateway: &Gateway, caller: &Account, path: &str) {
    let upgraded = operate(gateway, Method::PUT, path, json!({ "plan": "big" })).await;
    assert_eq!(upgraded.json["data"]["plan"], "big", "{}", upgraded.json);
    assert_eq!(
        gateway.post(&caller.key, PICTURES, picture()).await.status,
        200
    );
    let down = operate(gateway, Method::PUT, path, json!({ "plan": "small" })).await;
    assert_eq!(
        (&down.json["data"]["plan"], &down.json["data"]["next"]),
        (&json!("big"), &json!("small"))
    );
    let used = gateway
        .operate(Method::DELETE, "/admin/v1/plans/small", None)
        .await;
    used.assert_refused(409, "conflict");
    let ended = gateway
        .operate(Method::DELETE, &format!("/admin/v1/{path}"), None)
        .await;
    assert_eq!(
        (&ended.json["data"]["ends"], &ended.json["data"]["next"]),
        (&json!(true), &Value::Null)
    );
}
