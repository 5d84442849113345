//! What a service needs that strangers can reach: TLS, proxies it can believe, pages of other origins, and no way inside.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use reqwest::Method;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::gateway::{Account, Answer, Gateway, Options, send};
use crate::outside::{Outside, answer, read};

/// The text form of a certificate or a key.
fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

/// Writes a fresh certificate for localhost into a folder; the certificate in PEM.
pub(crate) fn certify(folder: &Path) -> String {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let certificate = pem("CERTIFICATE", made.cert.der());
    let key = pem("PRIVATE KEY", &made.signing_key.serialize_der());
    std::fs::write(folder.join("key.pem"), key).expect("written");
    std::fs::write(folder.join("certificate.pem"), &certificate).expect("written");
    certificate
}

/// A client that believes this certificate alone.
pub(crate) fn believing(certificate: &str) -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let root = reqwest::Certificate::from_pem(certificate.as_bytes()).expect("PEM");
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([root])
        .build()
        .expect("a client")
}

pub(crate) fn with_tls(folder: &TempDir) -> Options {
    let path = |name: &str| folder.path().join(name).display().to_string();
    Options::default()
        .set("TLS_CERTIFICATE", &path("certificate.pem"))
        .set("TLS_KEY", &path("key.pem"))
}

#[tokio::test]
async fn tls_is_spoken_and_a_new_certificate_needs_no_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = certify(folder.path());
    let gateway = with_tls(&folder).spawn().await;
    let port = gateway.addresses[0].rsplit(':').next().expect("a port");
    let url = format!("https://localhost:{port}/healthz");
    let answer = believing(&first).get(&url).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.version(),
        reqwest::Version::HTTP_2,
        "the best of both"
    );
    assert_eq!(
        answer.headers()["strict-transport-security"],
        "max-age=31536000"
    );
    let old = believing(&first)
        .get(&url)
        .version(reqwest::Version::HTTP_11);
    assert_eq!(old.send().await.expect("an answer").status(), 200);
    // Without TLS nothing is said.
    let mut plain = TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection");
    let head = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    plain.write_all(head).await.expect("written");
    let mut text = Vec::new();
    let _ = plain.read_to_end(&mut text).await;
    assert!(!String::from_utf8_lossy(&text).contains("HTTP/1.1 200"));

    let second = certify(folder.path());
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = believing(&second).get(&url).send().await;
        if answer.is_ok_and(|answer| answer.status() == 200) {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "the new certificate is not served"
        );
        sleep(Duration::from_millis(500)).await;
    }
    assert!(believing(&first).get(&url).send().await.is_err());
}

#[tokio::test]
async fn wrong_keys_are_counted_by_the_address_behind_a_known_proxy() {
    let limited = || Options::default().set("LIMITS_WRONG_KEYS_PER_MINUTE", "3");
    let guess = async |gateway: &Gateway, header: &str, from: &str| {
        let request = gateway
            .request(Method::GET, "/artgen/v1/info")
            .header("SVC-API-KEY", "at_guess")
            .header(header, from);
        send(request).await.status.as_u16()
    };
    let gateway = limited().set("PROXIES_TRUSTED", "127.0.0.1").spawn().await;
    for _ in 0..3 {
        assert_eq!(
            guess(&gateway, "X-Forwarded-For", "198.51.100.1").await,
            401
        );
    }
    assert_eq!(
        guess(&gateway, "X-Forwarded-For", "198.51.100.1").await,
        429
    );
    assert_eq!(guess(&gateway, "Forwarded", "for=198.51.100.1").await, 429);
    // Inventing hops before the real one does not help.
    assert_eq!(
        guess(&gateway, "X-Forwarded-For", "192.0.2.5, 198.51.100.1").await,
        429
    );
    assert_eq!(
        guess(&gateway, "X-Forwarded-For", "198.51.100.2").await,
        401
    );
    // Nobody believes a stranger.
    let gateway = limited().spawn().await;
    for last in 0..3 {
        let from = format!("198.51.100.{last}");
        assert_eq!(guess(&gateway, "X-Forwarded-For", &from).await, 401);
    }
    assert_eq!(
        guess(&gateway, "X-Forwarded-For", "198.51.100.9").await,
        429
    );
}

#[tokio::test]
async fn the_proxy_protocol_names_the_caller() {
    let gateway = Options::default()
        .set("PROXIES_TRUSTED", "127.0.0.1")
        .set("PROXIES_PROTOCOL", "true")
        .set("LOG_REQUESTS", "true")
        .spawn()
        .await;
    let ask = async |greeting: &str| {
        let mut stream = TcpStream::connect(&gateway.addresses[0])
            .await
            .expect("a connection");
        let head = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let text = format!("{greeting}{head}");
        stream.write_all(text.as_bytes()).await.expect("written");
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        String::from_utf8_lossy(&text).into_owned()
    };
    let text = ask("PROXY TCP4 198.51.100.77 127.0.0.1 4711 80\r\n").await;
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !gateway.printed().contains("198.51.100.77") {
        assert!(Instant::now() < deadline, "{}", gateway.printed());
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(
        ask("").await,
        "",
        "without the greeting nothing is answered"
    );
}

#[tokio::test]
async fn pages_of_allowed_origins_may_read_answers_and_others_may_not() {
    let gateway = Options::default()
        .set("CORS_ORIGINS", "https://app.example.com")
        .spawn()
        .await;
    let caller = gateway.account(1).await;
    let ask = async |method: Method, origin: &str| {
        let request = gateway
            .request(method, "/artgen/v1/info")
            .header("SVC-API-KEY", &caller.key)
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "GET");
        send(request).await
    };
    let known = ask(Method::GET, "https://app.example.com").await;
    assert_eq!(
        known.header("access-control-allow-origin"),
        "https://app.example.com"
    );
    assert_eq!(known.header("vary"), "Origin");
    let first = ask(Method::OPTIONS, "https://app.example.com").await;
    assert_eq!(first.status, 204);
    assert!(
        first
            .header("access-control-allow-headers")
            .contains("SVC-API-KEY")
    );
    for origin in [
        "https://evil.example.com",
        "https://app.example.com.evil.example",
    ] {
        let other = ask(Method::GET, origin).await;
        assert_eq!(
            (
                other.status.as_u16(),
                other.header("access-control-allow-origin")
            ),
            (200, "")
        );
        assert_eq!(ask(Method::OPTIONS, origin).await.status, 405);
    }
    let usual = Gateway::spawn().await;
    let request = usual.request(Method::GET, "/healthz");
    let answer = send(request.header("Origin", "https://app.example.com")).await;
    assert_eq!(answer.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn a_service_with_a_public_name_reaches_nothing_on_its_own_machine() {
    let body = json!({ "prompt": "a lake", "hookUrl": "http://127.0.0.1:9/" });
    let gateway = Options::default()
        .set("BASE_URL", "https://media.example.com")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let answer = gateway
        .post(&caller.key, "/artgen/v1/imagine", body.clone())
        .await;
    answer.assert_refused(400, "address_not_allowed");
    let private = Gateway::spawn().await;
    let caller = private.account(10).await;
    let answer = private.post(&caller.key, "/artgen/v1/imagine", body).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
}

/// A name and a value.
type HeaderLine<'a> = (&'a str, &'a str);

/// Asks for something that names an address, with one more header line.
async fn named(
    gateway: &Gateway,
    caller: &Account,
    wish: Wish<'_>,
    line: HeaderLine<'_>,
) -> Answer {
    let (path, body) = match wish {
        Wish::Sample(url) => ("/account/v1/callbacks/sample", json!({ "url": url })),
        Wish::Hook(url) => (
            "/artgen/v1/imagine",
            json!({ "prompt": "[[stall]] a lake", "hookUrl": url }),
        ),
        Wish::Picture(url) => ("/artgen/v1/describe", json!({ "url": url })),
    };
    let request = gateway
        .request(Method::POST, path)
        .header("SVC-API-KEY", &caller.key)
        .header(line.0, line.1);
    send(request.json(&body)).await
}

#[derive(Clone, Copy)]
enum Wish<'a> {
    Sample(&'a str),
    Hook(&'a str),
    Picture(&'a str),
}

/// The promise: whoever comes through a proxy that nobody told the service of reaches nothing on its machine.
#[tokio::test]
async fn a_caller_behind_an_unknown_proxy_reaches_nothing_on_this_machine() {
    let inside = Outside::start(|mut stream| {
        let _ = read(&mut stream);
        answer(&mut stream, "200 OK", "", b"a secret");
    });
    let url = inside.url("/");
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let port = gateway.addresses[0].rsplit(':').next().expect("a port");
    let local = format!("localhost:{port}");
    let localhost = url.replace("127.0.0.1", "localhost");
    let forwarded = [
        ("X-Forwarded-For", "198.51.100.1"),
        ("Forwarded", "for=198.51.100.1"),
        ("X-Real-IP", "198.51.100.1"),
        ("X-Forwarded-Host", "media.example.com"),
        ("Via", "1.1 proxy"),
        ("Host", "media.example.com"),
    ];
    for line in forwarded {
        for url in [&url, &localhost] {
            for wish in [Wish::Sample(url), Wish::Hook(url), Wish::Picture(url)] {
                let refused = named(&gateway, &caller, wish, line).await;
                refused.assert_refused(400, "address_not_allowed");
            }
        }
    }
    assert_eq!(inside.connections(), 0, "something inside was reached");
    // Somebody on the machine itself reaches its receivers as before.
    for line in [("Host", &*local), ("X-Other", "x")] {
        let reached = named(&gateway, &caller, Wish::Sample(&url), line).await;
        assert_eq!(reached.json["data"]["status"], 200, "{}", reached.json);
    }
    let taken = named(&gateway, &caller, Wish::Hook(&url), ("X-Other", "x")).await;
    assert_eq!(taken.status, 200, "{}", taken.json);
    // What the operator allows is allowed to everybody.
    let options = Options::default().set("OUTBOUND_ALLOW", &inside.address.to_string());
    let gateway = options.spawn().await;
    let caller = gateway.account(100).await;
    let reached = named(&gateway, &caller, Wish::Sample(&url), forwarded[0]).await;
    assert_eq!(reached.json["data"]["status"], 200, "{}", reached.json);
}

/// The promise: a name from elsewhere, of a listener or in `names`, ends what is for callers on the machine alone.
#[tokio::test]
async fn a_service_that_has_a_name_elsewhere_reaches_nothing_on_its_own_machine() {
    let inside = Outside::start(|mut stream| {
        let _ = read(&mut stream);
        answer(&mut stream, "200 OK", "", b"a secret");
    });
    let url = inside.url("/");
    for (name, value, host) in [
        (
            "LISTENERS",
            r#"[{ host = "own.example.com", role = "main" }]"#,
            "own.example.com",
        ),
        ("NAMES", "nas.lan", "nas.lan"),
    ] {
        let gateway = Options::default().set(name, value).spawn().await;
        let caller = gateway.account(100).await;
        for line in [("Host", host), ("X-Other", "x")] {
            for wish in [Wish::Sample(&url), Wish::Hook(&url)] {
                let refused = named(&gateway, &caller, wish, line).await;
                refused.assert_refused(400, "address_not_allowed");
            }
        }
    }
    assert_eq!(inside.connections(), 0, "something inside was reached");
}

/// The promise: callers use any port but those that speak to something else, unless the operator names some.
#[tokio::test]
async fn callers_may_name_every_port_but_the_bad_ones_unless_some_are_listed() {
    let asked = async |gateway: &Gateway, url: &str| {
        let caller = gateway.account(100).await;
        let answer = named(gateway, &caller, Wish::Hook(url), ("X-Other", "x")).await;
        let message = answer.json["message"].as_str().unwrap_or_default();
        (answer.status.as_u16(), message.to_owned())
    };
    let usual = Gateway::spawn().await;
    for url in [
        "https://example.com:8443/",
        "http://example.com:3000/",
        "https://example.com/",
    ] {
        assert_eq!(asked(&usual, url).await.0, 200, "{url}");
    }
    for url in [
        "http://example.com:25/",
        "http://example.com:6667/",
        "http://example.com:0/",
    ] {
        let (status, message) = asked(&usual, url).await;
        assert_eq!(status, 400, "{url}");
        assert!(
            message.starts_with("hookUrl: must") && message.contains("port"),
            "{message}"
        );
    }
    let listed = Options::default()
        .set("OUTBOUND_PORTS", "443, 8443")
        .spawn()
        .await;
    assert_eq!(asked(&listed, "https://example.com:8443/").await.0, 200);
    assert_eq!(asked(&listed, "https://example.com/").await.0, 200);
    for url in ["http://example.com/", "http://example.com:3000/"] {
        let (status, message) = asked(&listed, url).await;
        assert_eq!(status, 400, "{url}");
        assert!(message.contains("443, 8443"), "{message}");
    }
}
