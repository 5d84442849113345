//! Signing in at a provider of OpenID Connect: whom it may vouch for, and what nobody gets in with.

use serde_json::{Value, json};

use super::browser::{Browser, Studio, letter};
use super::provider::{Authorization, CLIENT, SECRET, Signature, TestProvider};
use crate::gateway::{Answer, Gateway, Options};

const ADA: &str = "ada@example.com";

/// Settings of a provider called `company`, with whatever else.
fn settings(provider: &TestProvider, more: &str) -> String {
    let issuer = provider.issuer();
    format!(
        r#"{{ name = "company", issuer = "{issuer}", client_id = "{CLIENT}", client_secret = "{SECRET}"{more} }}"#
    )
}

fn options(providers: &[String]) -> Options {
    Options::default()
        .set("PEOPLE_OIDC", &format!("[{}]", providers.join(", ")))
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "1000")
}

/// Has a browser be led to the provider.
async fn start(gateway: &Gateway, browser: &mut Browser) -> Authorization {
    let led = browser.visit(gateway, "/auth/v1/oidc/company/start").await;
    assert_eq!(led.status, 303, "{}", led.json);
    Authorization::read(led.header("location"))
}

fn callback(state: &str, code: &str) -> String {
    format!("/auth/v1/oidc/company/callback?state={state}&code={code}")
}

/// Signs somebody in whom the provider says so much of; the last answer.
async fn sign_in(
    gateway: &Gateway,
    provider: &TestProvider,
    (subject, more): (&str, Value),
) -> (Browser, Answer) {
    let mut browser = Browser::default();
    let way = start(gateway, &mut browser).await;
    let claims = provider.claims(&way, subject, &more);
    provider.grant(&way, "code", &claims, Signature::Own);
    let led = browser.visit(gateway, &callback(&way.state, "code")).await;
    (browser, led)
}

fn assert_in(led: &Answer) {
    let said = String::from_utf8_lossy(&led.bytes);
    assert_eq!(led.status, 303, "{said}");
    assert_eq!(led.header("location"), "/console/");
}

fn assert_out(browser: &Browser, led: &Answer, status: u16, why: &str) {
    assert_eq!(led.status, status, "{why}");
    assert!(!browser.cookies.contains_key("atelier_session"), "{why}");
}

/// The promise: only a token of the provider that was asked, for this client and this sign-in, signed by a key pair that the provider
/// publishes, says who somebody is; and only to the browser that was led there, once.
#[tokio::test]
async fn nobody_gets_in_with_a_token_that_proves_nothing() {
    let provider = TestProvider::start();
    let other = TestProvider::start();
    let mut second = settings(&other, "");
    second = second.replace("company", "other");
    let gateway = options(&[settings(&provider, ""), second]).spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let proved = json!({ "email": ADA, "email_verified": true });
    let with = |name: &str, value: Value| {
        let mut claims = proved.clone();
        claims[name] = value;
        claims
    };
    for (why, claims, by) in [
        ("no signature", proved.clone(), Signature::Nothing),
        ("signed by the secret", proved.clone(), Signature::Secret),
        ("key confusion", proved.clone(), Signature::PublicKey),
        ("another key", proved.clone(), Signature::Stranger),
        (
            "another issuer",
            with("iss", json!(other.issuer())),
            Signature::Own,
        ),
        (
            "another client",
            with("aud", json!("somebody-else")),
            Signature::Own,
        ),
        (
            "another sign-in",
            with("nonce", json!("replayed")),
            Signature::Own,
        ),
        ("no sign-in", with("nonce", Value::Null), Signature::Own),
        ("over", with("exp", json!(1_700_000_100)), Signature::Own),
    ] {
        let mut browser = Browser::default();
        let way = start(&gateway, &mut browser).await;
        provider.grant(&way, "code", &provider.claims(&way, "1", &claims), by);
        let led = browser.visit(&gateway, &callback(&way.state, "code")).await;
        assert_out(&browser, &led, 401, why);
    }
    let mut browser = Browser::default();
    let way = start(&gateway, &mut browser).await;
    let claims = provider.claims(&way, "1", &proved);
    provider.grant(&way, "code", &claims, Signature::Own);
    // Another browser does not finish it, nor does the state of another provider, nor a state that was made up.
    let mut stranger = Browser::default();
    let led = stranger
        .visit(&gateway, &callback(&way.state, "code"))
        .await;
    assert_out(&stranger, &led, 401, "another browser");
    start(&gateway, &mut stranger).await;
    let led = stranger
        .visit(&gateway, &callback(&way.state, "code"))
        .await;
    assert_out(&stranger, &led, 401, "another browser that signs in, too");
    let led = browser.visit(&gateway, &callback("made-up", "code")).await;
    assert_out(&browser, &led, 401, "a state that was made up");
    let led = browser.visit(&gateway, &callback(&way.state, "code")).await;
    assert_in(&led);
    let who = browser.who(&gateway).await;
    assert_eq!(who["person"]["email"], ADA, "{who}");
    browser.cookies.remove("atelier_session");
    provider.grant(&way, "code", &claims, Signature::Own);
    let led = browser.visit(&gateway, &callback(&way.state, "code")).await;
    assert_out(&browser, &led, 401, "a second time");
}

/// The promise: what was begun at one provider is not finished with the answer of another.
#[tokio::test]
async fn one_provider_does_not_speak_for_another() {
    let provider = TestProvider::start();
    let other = TestProvider::start();
    let second = settings(&other, "").replace("company", "other");
    let gateway = options(&[settings(&provider, ""), second]).spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let proved = json!({ "email": ADA, "email_verified": true });
    let mut browser = Browser::default();
    let way = start(&gateway, &mut browser).await;
    other.grant(
        &way,
        "code",
        &other.claims(&way, "1", &proved),
        Signature::Own,
    );
    let path = callback(&way.state, "code").replace("company", "other");
    let led = browser.visit(&gateway, &path).await;
    assert_out(&browser, &led, 401, "the way back of another provider");
    let way = start(&gateway, &mut browser).await;
    provider.grant(
        &way,
        "code",
        &provider.claims(&way, "1", &proved),
        Signature::Own,
    );
    let issuer: String = url::form_urlencoded::byte_serialize(other.issuer().as_bytes()).collect();
    let path = format!("{}&iss={issuer}", callback(&way.state, "code"));
    let led = browser.visit(&gateway, &path).await;
    assert_out(&browser, &led, 401, "the issuer of another provider");
    let refused = "/auth/v1/oidc/company/callback?error=access_denied&state=";
    let way = start(&gateway, &mut browser).await;
    let led = browser
        .visit(&gateway, &format!("{refused}{}", way.state))
        .await;
    assert_out(&browser, &led, 403, "the provider let nobody in");
}

/// The promise: an address that the provider has not proved takes over nobody, and whoever is known by a subject stays who they are.
#[tokio::test]
async fn nobody_is_taken_over_by_an_address() {
    let provider = TestProvider::start();
    let gateway = options(&[settings(&provider, "")]).spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    Studio::of(&gateway, "eve@example.com", 10).await;
    for unproved in [
        json!({ "email": ADA }),
        json!({ "email": ADA, "email_verified": false }),
        json!({ "email": ADA, "email_verified": null }),
        json!({}),
    ] {
        let (browser, led) = sign_in(&gateway, &provider, ("1", unproved.clone())).await;
        assert_out(&browser, &led, 403, &unproved.to_string());
    }
    let proved = |email: &str| json!({ "email": email, "email_verified": true });
    let (mut ada, led) = sign_in(&gateway, &provider, ("1", proved(ADA))).await;
    assert_in(&led);
    assert_eq!(ada.who(&gateway).await["person"]["email"], ADA);
    // The same subject is the same person, with whichever address or none.
    for again in [json!({}), proved("eve@example.com")] {
        let (mut ada, led) = sign_in(&gateway, &provider, ("1", again)).await;
        assert_in(&led);
        assert_eq!(ada.who(&gateway).await["person"]["email"], ADA);
    }
    // Nobody signs up where nobody may.
    let (zoe, led) = sign_in(&gateway, &provider, ("2", proved("zoe@example.com"))).await;
    assert_out(&zoe, &led, 403, "a stranger");
}

/// The promise: groups of the provider are roles of the account, at every sign-in; who has none is out, and who was invited stays.
#[tokio::test]
async fn groups_are_roles_at_every_sign_in() {
    let provider = TestProvider::start();
    let gateway = Gateway::spawn().await;
    let studio = Studio::of(&gateway, "boss@example.com", 10).await;
    let more = format!(
        r#", groups_claim = "groups", account = "{}", roles = {{ designers = "member", leads = "owner" }}"#,
        studio.account
    );
    let gateway = gateway.restart(options(&[settings(&provider, &more)]));
    let of = |groups: &[&str]| json!({ "email": ADA, "email_verified": true, "groups": groups });
    let (zoe, led) = sign_in(&gateway, &provider, ("2", of(&["guests"]))).await;
    assert_out(&zoe, &led, 403, "no group");
    for (groups, role) in [
        (&["designers"][..], "member"),
        (&["designers", "leads"], "owner"),
        (&["designers"], "member"),
    ] {
        let (mut ada, led) = sign_in(&gateway, &provider, ("1", of(groups))).await;
        assert_in(&led);
        let who = ada.who(&gateway).await;
        assert_eq!(who["person"]["role"], role, "{who}");
        assert_eq!(who["person"]["accountId"], studio.account.as_str(), "{who}");
    }
    let (mut before, led) = sign_in(&gateway, &provider, ("1", of(&["designers"]))).await;
    assert_in(&led);
    let (ada, led) = sign_in(&gateway, &provider, ("1", of(&[]))).await;
    assert_out(&ada, &led, 403, "no group any more");
    let gone = before.get(&gateway, "/account/v1/info").await;
    assert_eq!(gone.status, 401, "a session of before: {}", gone.json);
    let (mut ada, led) = sign_in(&gateway, &provider, ("1", of(&["designers"]))).await;
    assert_in(&led);
    assert_eq!(ada.who(&gateway).await["person"]["role"], "member");
    // The owner was invited, and stays one whatever their groups are.
    let mut boss = Browser::sign_in(&gateway, "boss@example.com").await;
    assert_eq!(boss.who(&gateway).await["person"]["role"], "owner");
    let claims =
        json!({ "email": "boss@example.com", "email_verified": true, "groups": ["designers"] });
    let (mut boss, led) = sign_in(&gateway, &provider, ("3", claims)).await;
    assert_in(&led);
    assert_eq!(boss.who(&gateway).await["person"]["role"], "owner");
}

/// The promise: a provider that does not answer is said so of, and keeps nobody from signing in another way.
#[tokio::test]
async fn a_provider_that_is_away_stops_nobody_else() {
    let provider = TestProvider::start();
    let away = settings(&provider, "").replace(&provider.issuer(), "http://127.0.0.1:9");
    let gateway = options(&[away]).spawn().await;
    Studio::of(&gateway, ADA, 10).await;
    let mut browser = Browser::default();
    let led = browser.visit(&gateway, "/auth/v1/oidc/company/start").await;
    assert_out(&browser, &led, 503, "away");
    let unknown = browser.visit(&gateway, "/auth/v1/oidc/nobody/start").await;
    assert_eq!(unknown.status, 404);
    browser.ask(&gateway, ADA).await;
    let word = letter(&gateway, ADA, 1).await;
    assert_eq!(browser.follow(&gateway, &word).await.status, 200);
}
