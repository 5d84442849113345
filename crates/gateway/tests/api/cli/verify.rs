//! `atelier backends verify`, as cron runs it: three vendors, one of which has changed its answers.

use std::process::{Command, Output};

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{ADMIN_TOKEN, Gateway, Options};
use crate::stand::Stand;
use crate::verified::{painter, runway, runway_of};

async fn run(gateway: &Gateway, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
    command
        .args(["backends", "verify", "--json"])
        .args(words)
        .env("ATELIER_CLIENT_CONFIG", "/nonexistent/profiles.toml")
        .env("ATELIER_CLIENT_URL", &gateway.base_url)
        .env("ATELIER_CLIENT_TOKEN", ADMIN_TOKEN);
    let run = move || command.output().expect("the binary starts");
    tokio::task::spawn_blocking(run).await.expect("it ran")
}

/// The rows of a report: back end, route and outcome.
fn rows(ran: &Output) -> Vec<(String, String, String)> {
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = report["data"].as_array().cloned().unwrap_or_default();
    let rows = rows.iter();
    rows.map(|row| {
        (
            text(&row["backend"]),
            text(&row["route"]),
            text(&row["outcome"]),
        )
    })
    .collect()
}

async fn connect(gateway: &Gateway, name: &str, vendor: &str, stand: &Stand) {
    let made = json!({ "name": name, "vendor": vendor, "base_url": stand.url("/v1"), "operations": ["imgmodel.generations"],
        "settings": { "image_model": if vendor == "openai" { "painter" } else { "gpt_image_2" },
            "poll_seconds": 1, "costs": { "imgmodel": { "unit": "item", "usd": 0.05 } } } });
    let made = gateway
        .operate(Method::POST, "/admin/v1/backends", Some(made))
        .await;
    let id = made.json["data"]["id"]
        .as_str()
        .expect("a back end")
        .to_owned();
    let path = format!("/admin/v1/backends/{id}/accounts");
    let account = json!({ "name": "main", "credential": "sk-very-secret" });
    gateway.operate(Method::POST, &path, Some(account)).await;
}

/// The promise: the exit code tells cron, the report tells people, and no more is spent than was given.
#[tokio::test]
async fn cron_is_told_which_of_three_vendors_changed_its_answers() {
    let gateway = Options::default().spawn().await;
    let (first, second, third) = (painter(), runway("status"), runway("state"));
    connect(&gateway, "painter", "openai", &first).await;
    connect(&gateway, "runway", "runway", &second).await;
    let good = run(&gateway, &[]).await;
    assert_eq!(
        good.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&good.stderr)
    );
    let row = |backend: &str, route: &str, outcome: &str| {
        (backend.to_owned(), route.to_owned(), outcome.to_owned())
    };
    let route = "imgmodel.generations";
    let well = [
        row("painter", "probe", "good"),
        row("painter", route, "good"),
        row("runway", "probe", "good"),
        row("runway", route, "good"),
    ];
    assert_eq!(rows(&good), well);

    connect(&gateway, "changed", "runway", &third).await;
    let changed = run(&gateway, &["--seconds", "4"]).await;
    assert_eq!(changed.status.code(), Some(6));
    let found = rows(&changed);
    assert!(
        found.contains(&row("changed", route, "changed")),
        "{found:?}"
    );
    assert_eq!(
        found.iter().filter(|row| row.2 == "good").count(),
        5,
        "{found:?}"
    );

    let gateway_of_two = Options::default().spawn().await;
    let smaller = runway_of("status", (256, 256));
    connect(&gateway_of_two, "painter", "openai", &first).await;
    connect(&gateway_of_two, "smaller", "runway", &smaller).await;
    let found = run(&gateway_of_two, &[]).await;
    assert_eq!(found.status.code(), Some(6));
    assert!(rows(&found).contains(&row("smaller", route, "changed")));
    let told = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(told.contains("256x256 came"), "{told}");

    // What one job takes is given, so the others are left out.
    let before = [&first, &second, &third].map(|stand| stand.asked("POST").len());
    let poor = run(&gateway, &["--spend", "0.05", "--seconds", "4"]).await;
    let after = [&first, &second, &third].map(|stand| stand.asked("POST").len());
    let ordered: usize = after.iter().sum::<usize>() - before.iter().sum::<usize>();
    assert_eq!(ordered, 1, "{:?}", rows(&poor));
    let one = run(&gateway, &["--backend", "painter"]).await;
    assert_eq!((one.status.code(), rows(&one).len()), (Some(0), 2));
    // A run that tried nothing has shown nothing.
    let nothing = run(&gateway, &["--backend", "painter", "--spend", "0.01"]).await;
    assert_eq!(nothing.status.code(), Some(6));
    assert_eq!(rows(&nothing)[1], row("painter", route, "skipped"));
    assert_eq!(
        run(&gateway, &["--backend", "nobody"]).await.status.code(),
        Some(3)
    );
}
