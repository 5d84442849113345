//! Sign-in by link: once, by the browser that asked, or by a code in it; whoever only looks changes nothing.

use reqwest::Method;
use serde_json::json;

use super::browser::{Browser, Studio, letter, letters};
use crate::gateway::{Gateway, send};

const ADA: &str = "ada@example.com";

/// The promise: a link signs in once, and only in the browser that asked for it.
#[tokio::test]
async fn a_link_signs_in_once_and_in_the_browser_that_asked_for_it() {
    let gateway = Gateway::spawn().await;
    let mut studio = Studio::of(&gateway, ADA, 10).await;
    studio
        .owner
        .call(&gateway, Method::POST, "/auth/v1/logout", None)
        .await;
    assert!(studio.owner.who(&gateway).await.is_null());
    let mut browser = Browser::default();
    let asked = browser.ask(&gateway, ADA).await;
    assert_eq!(
        asked.json["data"],
        json!({ "sent": true, "expiresIn": 900 })
    );
    let word = letter(&gateway, ADA, 1).await;
    // Somebody who has read the mail, in a browser of their own, asked for a link or not.
    let mut thief = Browser::default();
    let refused = thief.follow(&gateway, &word).await;
    refused.assert_refused(404, "not_found");
    thief.ask(&gateway, "eve@example.com").await;
    let refused = thief.follow(&gateway, &word).await;
    refused.assert_refused(404, "not_found");
    assert!(thief.who(&gateway).await.is_null());
    let opened = browser.follow(&gateway, &word).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
    let who = browser.who(&gateway).await;
    assert_eq!(
        (&who["person"]["email"], &who["person"]["role"]),
        (&json!(ADA), &json!("owner"))
    );
    assert_eq!(who["person"]["accountId"], studio.account.as_str());
    let mut again = Browser {
        cookies: browser.cookies.clone(),
        ..Browser::default()
    };
    let refused = again.follow(&gateway, &word).await;
    refused.assert_refused(404, "not_found");
    // The session is as good as a key.
    let models = browser.get(&gateway, "/account/v1/models").await;
    assert_eq!(models.status, 200, "{}", models.json);
}

/// The promise: opened in another browser a link shows a code, which signs in where the link was asked for and nowhere else.
#[tokio::test]
async fn a_link_opened_elsewhere_shows_a_code_for_the_browser_that_asked() {
    let gateway = Gateway::spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let mut browser = Browser::default();
    browser.ask(&gateway, ADA).await;
    let word = letter(&gateway, ADA, 1).await;
    let page = Browser::default()
        .get(&gateway, &format!("/auth/v1/link/{word}"))
        .await;
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    assert!(!text.contains("<form"), "{text}");
    let code = text.split_once("class=\"code\">").expect("a code").1;
    let code = code.split('<').next().expect("digits").to_owned();
    assert_eq!(code.replace(' ', "").len(), 8, "{code}");
    let mut other = Browser::default();
    other.ask(&gateway, "eve@example.com").await;
    let refused = other.follow(&gateway, &code.replace(' ', "")).await;
    refused.assert_refused(401, "unauthorized");
    let typed = code.replace(' ', "%20");
    let opened = browser.follow(&gateway, &typed).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
    let who = browser.who(&gateway).await;
    assert_eq!(who["person"]["email"], ADA);
}

/// The promise: a code cannot be guessed: after five wrong ones the right one is none any more.
#[tokio::test]
async fn a_code_cannot_be_guessed() {
    let gateway = Gateway::spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let mut browser = Browser::default();
    browser.ask(&gateway, ADA).await;
    let word = letter(&gateway, ADA, 1).await;
    let page = Browser::default()
        .get(&gateway, &format!("/auth/v1/link/{word}"))
        .await;
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    let code = text.split_once("class=\"code\">").expect("a code").1;
    let code = code.split('<').next().expect("digits").replace(' ', "");
    for number in 0..5 {
        let wrong = format!(
            "{:08}",
            (code.parse::<u64>().expect("digits") + 1 + number) % 100_000_000
        );
        let refused = browser.follow(&gateway, &wrong).await;
        refused.assert_refused(401, "unauthorized");
    }
    let refused = browser.follow(&gateway, &code).await;
    refused.assert_refused(401, "unauthorized");
    // The link itself is not guessed, and works.
    let opened = browser.follow(&gateway, &word).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
}

/// The promise: codes that are typed at once are no more tries than codes that are typed one after the other.
#[tokio::test]
async fn codes_that_are_tried_at_once_are_counted_like_others() {
    let gateway = Gateway::spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let mut browser = Browser::default();
    browser.ask(&gateway, ADA).await;
    letter(&gateway, ADA, 1).await;
    let tries = (0..20).map(|number| {
        let (gateway, mut browser) = (&gateway, browser.clone());
        async move { browser.follow(gateway, &format!("{number:08}")).await }
    });
    let answers = futures_util::future::join_all(tries).await;
    let compared = answers.iter().filter(|answer| {
        let text = answer.json.to_string();
        text.contains("is not the code of a link")
    });
    let compared = compared.count();
    assert!(compared < 5, "{compared} of them could have been right");
}

/// The promise: programs that check mail follow links, with any method that only reads and without cookies; the link works afterwards.
#[tokio::test]
async fn whoever_only_looks_at_a_link_uses_nothing_up() {
    let gateway = Gateway::spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let mut browser = Browser::default();
    browser.ask(&gateway, ADA).await;
    let word = letter(&gateway, ADA, 1).await;
    let path = format!("/auth/v1/link/{word}");
    for _ in 0..5 {
        for method in [Method::GET, Method::HEAD] {
            let looked = send(gateway.request(method, &path)).await;
            assert_eq!(looked.status, 200);
            assert!(looked.headers.get("set-cookie").is_none());
        }
        // Some press every button that they see.
        let pressed = send(gateway.request(Method::POST, &path)).await;
        pressed.assert_refused(404, "not_found");
    }
    let mut own = browser.clone();
    let page = own.get(&gateway, &path).await;
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    assert!(
        text.contains("<form method=\"post\"") && text.contains(ADA),
        "{text}"
    );
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("referrer-policy"), "same-origin");
    assert!(!text.contains("<script"), "{text}");
    // The button of the page leads to the console.
    let request = browser.request(&gateway, Method::POST, &path);
    let form = request
        .header("accept", "text/html")
        .header("content-type", "application/x-www-form-urlencoded");
    let opened = send(form).await;
    assert_eq!(
        (opened.status.as_u16(), opened.header("location")),
        (303, "/console/")
    );
    browser.keep(&opened);
    assert_eq!(browser.who(&gateway).await["person"]["email"], ADA);
    let over = own.get(&gateway, &path).await;
    assert!(
        !String::from_utf8_lossy(&over.bytes).contains("<form"),
        "it was used"
    );
}

/// The promise: an address gets five links in an hour, whatever it is made to look like, and a network thirty.
#[tokio::test]
async fn links_are_few_by_address_and_by_network() {
    let gateway = Gateway::spawn().await;
    let mut browser = Browser::default();
    for number in 0..5 {
        let asked = browser
            .ask(&gateway, &format!("ada+{number}@example.com"))
            .await;
        assert_eq!(asked.status, 200, "{}", asked.json);
    }
    let refused = browser.ask(&gateway, ADA).await;
    refused.assert_refused(429, "rate_limited");
    assert!(!refused.header("retry-after").is_empty());
    // What was refused counts for the network all the same.
    for number in 0..24 {
        let asked = browser
            .ask(&gateway, &format!("other{number}@example.com"))
            .await;
        assert_eq!(asked.status, 200, "{number}: {}", asked.json);
    }
    let refused = browser.ask(&gateway, "one-more@example.com").await;
    refused.assert_refused(429, "rate_limited");
    assert!(
        letters(&gateway, ADA).is_empty(),
        "nobody with these addresses may sign in"
    );
}
