//! One shape of a worker account and of a back end: what is left out stays, nothing takes a limit away where it says so,
//! and what is not allowed is refused by the name of its field.

use atelier_contract::pages::backends::{BackendSpec, DeclaredBackend};
use atelier_contract::pages::credential::Credential;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::workers::{WorkerPatch, WorkerSpec, WorkerState};
use atelier_contract::{Code, Quota};
use serde_json::{Value, json};

fn worker(said: Value) -> WorkerSpec {
    Patch::<WorkerSpec>::from(said).made().expect("a worker")
}

#[test]
fn what_is_left_out_stays_as_it_is() {
    let old = worker(json!({
        "name": " first ", "concurrency": "5", "per_minute": 30, "modes": ["fast"],
        "hours": "08:00-20:00", "spend_cap": 0.5, "state": "paused", "models": ["a"],
    }));
    assert_eq!(&*old.name, "first");
    assert_eq!(old.polls_per_minute.get(), 600, "as everywhere");
    assert_eq!(old.spend_cap, Some(Quota::from_thousandths(500)));
    for nothing in [
        json!({}),
        json!({ "name": "", "hours": null, "weight": null }),
    ] {
        let same = Patch::from(nothing).over(&old).expect("the same");
        assert_eq!(same, old);
    }
    let changed = Patch::from(json!({ "state": "active", "unknown": 1 }));
    let changed = changed.over(&old).expect("changed");
    assert_eq!(changed.state, WorkerState::Active);
    let back = WorkerSpec {
        state: WorkerState::Paused,
        ..changed
    };
    assert_eq!(back, old);
}

#[test]
fn nothing_takes_hours_and_the_cap_away() {
    let old = worker(json!({ "hours": "08:00-20:00", "spend_cap": 5 }));
    let free = Patch::from(json!({ "hours": "", "spend_cap": null }));
    assert_eq!(free.over(&old).expect("changed"), worker(json!({})));
}

#[test]
fn a_credential_is_taken_and_never_shown() {
    let made = worker(json!({ "name": "a", "credential": " hush " }));
    assert_eq!(
        made.credential.as_ref().map(Credential::reveal),
        Some("hush")
    );
    assert!(!format!("{made:?}").contains("hush"));
    assert!(!json!(made).to_string().contains("hush"));
    let patch = Patch::<WorkerSpec>::from(json!({ "credential": "hush" }));
    assert!(!format!("{patch:?}").contains("hush"));
}

#[test]
fn what_is_not_allowed_is_refused_by_name() {
    let name = "x".repeat(101);
    for (said, field) in [
        (json!({ "weight": 0 }), "weight"),
        (json!({ "concurrency": 100_001 }), "concurrency"),
        (json!({ "per_hour": "many" }), "per_hour"),
        (json!({ "modes": ["slow"] }), "modes[0]"),
        (json!({ "hours": "8-20" }), "hours"),
        (json!({ "spend_cap": -1 }), "spend_cap"),
        (json!({ "state": "asleep" }), "state"),
        (json!({ "name": name }), "name"),
        (json!({ "credential": "x".repeat(8_193) }), "credential"),
    ] {
        let refused = Patch::<WorkerSpec>::from(said.clone()).made();
        let refused = refused.expect_err(field);
        assert_eq!(refused.field.as_deref(), Some(field), "{said}: {refused}");
    }
    let whole = json!({ "name": "up", "vendor": "relay", "base_url": "http://h" });
    for (name, value, field) in [
        ("operations", json!(["no.such"]), "operations"),
        ("settings", json!([1]), "settings"),
        ("rank", json!(2_000_000), "rank"),
        ("enabled", json!("maybe"), "enabled"),
    ] {
        let mut said = whole.clone();
        said[name] = value;
        let refused = Patch::<BackendSpec>::from(said).made();
        assert_eq!(refused.expect_err(field).field.as_deref(), Some(field));
    }
    for field in ["name", "vendor", "base_url"] {
        let mut said = whole.clone();
        said[field] = Value::Null;
        let refused = Patch::<BackendSpec>::from(said).made().expect_err(field);
        assert_eq!(refused.code, Code::MissingParameter, "{refused}");
        assert_eq!(refused.field.as_deref(), Some(field));
    }
}

#[test]
fn what_begins_anew_is_said_beside_what_an_account_shall_be() {
    let fields = json!({ "clear_spent": "true", "clear_health": null, "weight": 2 });
    let patch = WorkerPatch::read(fields.as_object().cloned().unwrap_or_default());
    let patch = patch.expect("read");
    assert!(patch.resets.clear_spent.on() && !patch.resets.clear_health.on());
    assert_eq!(patch.spec.made().expect("a worker").weight.get(), 2);
    let wrong = json!({ "clear_spent": "perhaps" });
    let wrong = WorkerPatch::read(wrong.as_object().cloned().unwrap_or_default());
    assert_eq!(
        wrong.expect_err("a word").field.as_deref(),
        Some("clear_spent")
    );
}

#[test]
fn settings_of_a_vendor_keep_what_is_empty_in_them() {
    let said = json!({ "name": "up", "vendor": "relay", "base_url": "http://h", "settings": { "format": "", "none": null } });
    let made = Patch::<BackendSpec>::from(said).made().expect("a back end");
    assert_eq!(json!(made.settings), json!({ "format": "", "none": null }));
    let whole: DeclaredBackend = serde_json::from_value(json!({
        "name": "up", "vendor": "relay", "base_url": "http://h", "accounts": [{ "name": "a" }],
    }))
    .expect("declared");
    assert_eq!((whole.spec.rank.get(), whole.accounts.len()), (100, 1));
}
