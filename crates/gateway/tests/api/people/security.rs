//! What strangers try: pages of others, sessions that they know, addresses with more in them, and the time that answers take.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use super::browser::{Browser, Studio, letter};
use crate::gateway::{Gateway, Options, send};

const ADA: &str = "ada@example.com";
/// People whose addresses are asked for, each four times: five are within the rate.
const PEOPLE: usize = 50;

/// The promise: a page of another origin neither asks for links nor follows them in somebody's browser.
#[tokio::test]
async fn no_page_of_another_origin_signs_anybody_in() {
    let gateway = Gateway::spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let mut browser = Browser::default();
    browser.ask(&gateway, ADA).await;
    let word = letter(&gateway, ADA, 1).await;
    let path = format!("/auth/v1/link/{word}");
    let cookies: Vec<String> = browser
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    for (header, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let foreign = gateway
            .request(Method::POST, &path)
            .header("cookie", cookies.join("; "))
            .header(header, value);
        send(foreign).await.assert_refused(403, "forbidden");
        let foreign = gateway
            .request(Method::POST, "/auth/v1/link")
            .header(header, value)
            .json(&json!({ "email": ADA }));
        send(foreign).await.assert_refused(403, "forbidden");
    }
    let plain = gateway
        .request(Method::POST, "/auth/v1/link")
        .header("content-type", "text/plain")
        .body(json!({ "email": ADA }).to_string());
    send(plain).await.assert_refused(415, "unsupported_media");
    let opened = browser.follow(&gateway, &word).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
}

/// The promise: whoever signs in leads nowhere but to the console, whatever the address of the request says.
#[tokio::test]
async fn no_sign_in_leads_elsewhere() {
    let gateway = Gateway::spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    for (number, query) in [
        "?next=https://evil.example",
        "?redirect_uri=//evil.example&to=%2F%2Fevil.example",
    ]
    .into_iter()
    .enumerate()
    {
        let mut browser = Browser::default();
        browser.ask(&gateway, ADA).await;
        let word = letter(&gateway, ADA, 1 + number).await;
        let path = format!("/auth/v1/link/{word}{query}");
        let request = browser.request(&gateway, Method::POST, &path);
        let led = send(request.header("accept", "text/html")).await;
        assert_eq!(
            (led.status.as_u16(), led.header("location")),
            (303, "/console/")
        );
    }
    // The link itself is the service's own, under whatever name it was asked for.
    let mut browser = Browser::default();
    let asked = browser
        .request(&gateway, Method::POST, "/auth/v1/link")
        .header("x-forwarded-host", "evil.example")
        .json(&json!({ "email": ADA }));
    let asked = send(asked).await;
    browser.keep(&asked);
    letter(&gateway, ADA, 3).await;
    assert!(!gateway.printed().contains("evil.example/auth"));
}

/// The promise: a session that somebody else put into a browser is worth nothing once its user signs in.
#[tokio::test]
async fn a_session_that_was_there_before_is_worth_nothing_after_signing_in() {
    let gateway = Gateway::spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let eve = Studio::of(&gateway, "eve@example.com", 10).await;
    // Eve's own session, or one that she made up, is in Ada's browser.
    let made_up = "se_00000000000000000000000000000000000000";
    for planted in [eve.owner.cookies["atelier_session"].as_str(), made_up] {
        let mut browser = Browser::default();
        browser
            .cookies
            .insert("atelier_session".into(), planted.to_owned());
        let before = super::browser::letters(&gateway, ADA).len();
        browser.ask(&gateway, ADA).await;
        let word = letter(&gateway, ADA, before).await;
        let opened = browser.follow(&gateway, &word).await;
        assert_eq!(opened.status, 200, "{}", opened.json);
        assert_ne!(browser.cookies["atelier_session"], planted);
        let mut thief = Browser::default();
        thief
            .cookies
            .insert("atelier_session".into(), planted.to_owned());
        assert!(thief.who(&gateway).await.is_null(), "{planted}");
    }
    // Choosing another account gives the session another word, too.
    let mut ada = Browser::sign_in(&gateway, ADA).await;
    let before = ada.cookies["atelier_session"].clone();
    let account = ada.who(&gateway).await["person"]["accountId"].clone();
    let chosen = ada
        .post(&gateway, "/auth/v1/account", json!({ "id": account }))
        .await;
    assert_eq!(chosen.status, 200, "{}", chosen.json);
    assert_ne!(ada.cookies["atelier_session"], before);
}

/// The promise: the word that binds a sign-in to a browser is no session, and neither leaves the service's own pages by itself.
#[tokio::test]
async fn cookies_say_where_they_may_go() {
    let gateway = Options::default()
        .set("BASE_URL", "https://media.example.com")
        .spawn()
        .await;
    let mut browser = Browser::default();
    let asked = browser.ask(&gateway, ADA).await;
    let cookie = asked.header("set-cookie");
    for part in [
        "Path=/auth/v1",
        "HttpOnly",
        "SameSite=Lax",
        "Max-Age=900",
        "Secure",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let word = browser.cookies["atelier_browser"].clone();
    let mut thief = Browser::default();
    thief.cookies.insert("atelier_session".into(), word);
    assert!(thief.who(&gateway).await.is_null());
}

/// The promise: an address that could become a header, or another recipient, is none.
#[tokio::test]
async fn an_address_with_more_in_it_is_refused() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, ADA, 10).await;
    for hostile in [
        "eve@example.com\r\nBcc: all@example.com",
        "eve@example.com\nSubject: hello",
        "eve@example.com,all@example.com",
        "eve@example.com;all@example.com",
        "<eve@example.com>",
        "\"eve\" <eve@example.com>",
        "eve@[127.0.0.1]",
        "eve@example.com\u{0}",
        "eve@@example.com",
        "e v e@example.com",
    ] {
        let wish = json!({ "email": hostile });
        let refused = Browser::default()
            .post(&gateway, "/auth/v1/link", wish.clone())
            .await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], "email", "{hostile:?}");
        let refused = studio
            .owner
            .post(&gateway, "/account/v1/invitations", wish)
            .await;
        refused.assert_refused(400, "invalid_parameter");
    }
}

/// The promise: whoever asks for a link learns neither from the answer nor from the time it takes whether there is such a person.
#[tokio::test]
async fn nobody_learns_from_an_answer_or_its_time_who_is_a_person() {
    // Every call comes from a network of its own, as a proxy says that is trusted.
    let gateway = Options::default()
        .set("PROXIES_TRUSTED", "127.0.0.1")
        .set("BASE_URL", "http://127.0.0.1:8080")
        .spawn()
        .await;
    for number in 0..PEOPLE {
        let email = format!("known{number}@example.com");
        let wish = json!({ "name": format!("known-{number}"), "role": "viewer", "email": email });
        let made = gateway
            .operate(Method::POST, "/admin/v1/operators", Some(wish))
            .await;
        assert_eq!(made.status, 200, "{}", made.json);
    }
    let mut calls = 0_u32;
    let mut ask = async |email: String| {
        calls += 1;
        let network = format!("10.{}.{}.1", calls / 250, calls % 250);
        let request = gateway
            .request(Method::POST, "/auth/v1/link")
            .header("x-forwarded-for", network)
            .json(&json!({ "email": email }));
        let begun = Instant::now();
        let answer = send(request).await;
        let took = begun.elapsed();
        assert_eq!(answer.status, 200, "{}", answer.json);
        let mut headers: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
        headers.sort();
        (took, (answer.bytes, headers))
    };
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    let mut shapes = Vec::new();
    for round in 0..4 {
        for number in 0..PEOPLE {
            // In turns, and either first, so that what the machine does meanwhile falls on both.
            let both = [
                format!("known{number}@example.com"),
                format!("nobody{number}@example.com"),
            ];
            let order = if (round + number) % 2 == 0 {
                [0, 1]
            } else {
                [1, 0]
            };
            for place in order {
                let (took, shape) = ask(both[place].clone()).await;
                if place == 0 { &mut known } else { &mut unknown }.push(took);
                shapes.push(shape);
            }
        }
    }
    shapes.dedup();
    assert_eq!(shapes.len(), 1, "answers differ: {shapes:?}");
    // How often a call with a person took longer than one without: half the time if time says nothing.
    let mut longer = 0;
    for one in &known {
        longer += unknown.iter().filter(|other| one > *other).count();
    }
    let share = longer as f64 / (known.len() * unknown.len()) as f64;
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let (known, unknown) = (median(&mut known), median(&mut unknown));
    eprintln!(
        "asking for a link: median {known:?} with a person, {unknown:?} without; longer with one in {share:.3} of all pairs"
    );
    assert!(
        (0.40..0.60).contains(&share),
        "{share}: {known:?} and {unknown:?}"
    );
}

/// The promise: nobody who reads the access log can sign in by it: neither words nor codes of links are in it, whoever says them.
#[tokio::test]
async fn the_access_log_has_no_words_of_links() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("access.log");
    let gateway = Options::default()
        .set("LOG_ACCESS", &log.to_string_lossy())
        .spawn()
        .await;
    Studio::of(&gateway, ADA, 10).await;
    let mut browser = Browser::default();
    browser.ask(&gateway, ADA).await;
    let word = letter(&gateway, ADA, 1).await;
    let path = format!("/auth/v1/link/{word}");
    browser.visit(&gateway, &path).await;
    browser.follow(&gateway, "12345678").await;
    let request = browser.request(&gateway, Method::GET, "/console/");
    let referer = format!("{}{path}", gateway.base_url);
    send(request.header("referer", referer)).await;
    assert_eq!(browser.follow(&gateway, &word).await.status, 200);
    let last = gateway.request(Method::GET, "/the-last-line");
    send(last).await;
    let written = async {
        loop {
            let written = std::fs::read_to_string(&log).unwrap_or_default();
            if written.contains("/the-last-line") {
                return written;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let written = tokio::time::timeout(Duration::from_secs(30), written).await;
    let written = written.expect("the log is written");
    assert!(written.contains("/auth/v1/link/[hidden]"), "{written}");
    assert!(
        !written.contains("se_") && !written.contains("12345678"),
        "{written}"
    );
}
