//! Pages of others in somebody's browser: a name that was pointed at this machine, a form that signs somebody in, a link
//! that would make something. What they may not do, and whom that must not keep out.

use reqwest::{Method, RequestBuilder};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::gateway::{ADMIN_TOKEN, Answer, Gateway, Options, send};
use crate::public::{believing, certify, with_tls};

const EVIL: &str = "rebound.example.net";

fn mcp(gateway: &Gateway) -> RequestBuilder {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    gateway.request(Method::POST, "/mcp").json(&list)
}

fn sign_in(gateway: &Gateway, secret: &str) -> RequestBuilder {
    let request = gateway.request(Method::POST, "/console/session");
    request.json(&json!({ "secret": secret }))
}

/// Refused, in words that say which name and which setting.
fn is_refused(answer: &Answer, name: &str) {
    answer.assert_refused(403, "forbidden");
    let message = answer.json["message"].as_str().unwrap_or_default();
    assert!(
        message.contains(name) && message.contains("`names`"),
        "{message}"
    );
}

/// The promise: a page under a name that is not the service's reads neither counters nor the console, nor talks to agents'
/// tools; a credential of its own opens the same door under any name.
#[tokio::test]
async fn a_foreign_name_gets_nothing_without_a_credential_of_its_own() {
    let gateway = Options::default().set("STUDIO_THREADS", "1").spawn().await;
    let account = gateway.account(10).await;
    let signed_in = send(sign_in(&gateway, &account.key)).await;
    let cookie = signed_in.header("set-cookie").split(';').next();
    let (cookie, proof) = (
        cookie.expect("a cookie").to_owned(),
        signed_in.json["data"]["csrf"].as_str().expect("a proof"),
    );
    let get = |path: &str| gateway.request(Method::GET, path);
    let session = |request: RequestBuilder| {
        let request = request.header("cookie", &cookie);
        request.header("x-csrf-token", proof)
    };
    type Way<'a> = Box<dyn Fn() -> RequestBuilder + 'a>;
    let ways: [(&str, Way<'_>); 8] = [
        ("counters", Box::new(|| get("/metrics"))),
        ("the console", Box::new(|| get("/console/"))),
        ("its bare name", Box::new(|| get("/console"))),
        ("a view of it", Box::new(|| get("/console/library"))),
        ("its catalogue", Box::new(|| get("/console/catalogue.json"))),
        (
            "who is signed in",
            Box::new(|| session(get("/console/session"))),
        ),
        ("signing in", Box::new(|| sign_in(&gateway, &account.key))),
        ("agents by a session", Box::new(|| session(mcp(&gateway)))),
    ];
    let port = gateway.addresses[0].rsplit(':').next().expect("a port");
    for (way, ask) in &ways {
        for host in [
            EVIL,
            &format!("{EVIL}:{port}"),
            "127.0.0.1.evil.example",
            "localhost.evil.example",
        ] {
            let name = host.split(':').next().expect("a name");
            let answer = send(ask().header("host", host)).await;
            eprintln!("{way} at {host}: {}", answer.status);
            is_refused(&answer, name);
        }
        for origin in [format!("http://{EVIL}:{port}"), format!("https://{EVIL}")] {
            let answer = send(ask().header("origin", &origin)).await;
            answer.assert_refused(403, "forbidden");
        }
        for host in [
            "localhost",
            &format!("localhost:{port}"),
            "192.0.2.7",
            &format!("[::1]:{port}"),
            "app.localhost",
        ] {
            let answer = send(ask().header("host", host)).await;
            assert!(
                answer.status.as_u16() < 400,
                "{way} at {host}: {}",
                answer.json
            );
        }
    }
}

#[tokio::test]
async fn a_credential_of_its_own_opens_the_same_pages_under_any_name() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(10).await;
    let get = |path: &str| gateway.request(Method::GET, path);
    // Only these: everything else is for whoever has a key.
    for path in ["/healthz", "/readyz", "/openapi.json", "/docs"] {
        assert_eq!(
            send(get(path).header("host", EVIL)).await.status,
            200,
            "{path}"
        );
    }
    // A credential says enough, a wrong one says nothing.
    let far = |request: RequestBuilder| request.header("host", EVIL);
    let agents = mcp(&gateway).header("SVC-API-KEY", &account.key);
    assert_eq!(send(far(agents)).await.status, 200);
    let counters = get("/metrics").bearer_auth(ADMIN_TOKEN);
    assert_eq!(send(far(counters)).await.status, 200);
    let console = get("/console/").bearer_auth(&account.key);
    assert_eq!(send(far(console)).await.status, 200);
    for path in ["/metrics", "/console/"] {
        let guessed = send(far(get(path).bearer_auth("at_guessed"))).await;
        assert!(
            [401, 403].contains(&guessed.status.as_u16()),
            "{path}: {}",
            guessed.status
        );
    }
    // The pages of the documents are drawn by files beside the console's.
    let docs = send(far(get("/docs"))).await;
    let text = String::from_utf8_lossy(&docs.bytes).into_owned();
    let (_, rest) = text.split_once("src=\"").expect("a script");
    let script = rest.split('"').next().expect("an address");
    assert_eq!(send(far(get(script))).await.status, 200, "{script}");
}

/// The promise: every name that the settings give the service is its own, in any spelling.
#[tokio::test]
async fn the_names_of_the_settings_are_the_services_own() {
    let listeners = r#"[{ host = "own.example.com", role = "custody" }]"#;
    let gateway = Options::default()
        .set("BASE_URL", "https://media.example.com")
        .set("CDN_URL", "https://cdn.example.com:8443/files")
        .set("ORIGIN_URL", "https://origin.example.com")
        .set("LEGACY_CDN_URL", "https://old.example.com")
        .set("LISTENERS", listeners)
        .set("NAMES", "nas.lan, Other.Example.org")
        .spawn()
        .await;
    let ask = async |host: &str| {
        let request = gateway.request(Method::GET, "/console/");
        send(request.header("host", host)).await
    };
    for host in [
        "media.example.com",
        "MEDIA.example.com.",
        "cdn.example.com",
        "origin.example.com:81",
        "old.example.com",
        "own.example.com",
        "nas.lan:8080",
        "other.example.org",
    ] {
        assert_eq!(ask(host).await.status, 200, "{host}");
    }
    for host in [
        "example.com",
        "x.media.example.com",
        "media.example.com.evil.net",
        "nas",
    ] {
        is_refused(&ask(host).await, host);
    }
}

/// The promise: behind a known proxy the name that the caller used is judged, whoever wrote it down.
#[tokio::test]
async fn behind_a_known_proxy_the_name_that_was_asked_for_is_judged() {
    let gateway = Options::default()
        .set("BASE_URL", "https://media.example.com")
        .set("PROXIES_TRUSTED", "127.0.0.1")
        .spawn()
        .await;
    let ask = async |lines: &[(&str, &str)]| {
        let mut request = gateway.request(Method::GET, "/console/");
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        send(request).await.status.as_u16()
    };
    let own = "media.example.com";
    assert_eq!(
        ask(&[("host", "127.0.0.1:8080"), ("x-forwarded-host", own)]).await,
        200
    );
    assert_eq!(
        ask(&[
            ("host", own),
            ("forwarded", "for=192.0.2.1;host=media.example.com")
        ])
        .await,
        200
    );
    assert_eq!(ask(&[("host", own), ("x-forwarded-host", EVIL)]).await, 403);
    assert_eq!(
        ask(&[
            ("host", own),
            ("forwarded", &format!("for=192.0.2.1;host=\"{EVIL}:80\""))
        ])
        .await,
        403
    );
    // A page can write this line, so that it opens nothing.
    assert_eq!(ask(&[("host", EVIL), ("x-forwarded-host", own)]).await, 403);
}

/// The promise: no page of another origin signs somebody in, in whatever form it posts.
#[tokio::test]
async fn a_page_of_another_origin_signs_nobody_in() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(10).await;
    let body = json!({ "secret": account.key }).to_string();
    let post = async |lines: &[(&str, &str)]| {
        let mut request = gateway.request(Method::POST, "/console/session");
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        send(request.body(body.clone())).await
    };
    let json = ("content-type", "application/json");
    let own = gateway.base_url.clone();
    for lines in [
        vec![json],
        vec![
            ("content-type", "application/json; charset=utf-8"),
            ("origin", &own),
        ],
        vec![
            json,
            ("origin", own.as_str()),
            ("sec-fetch-site", "same-origin"),
        ],
    ] {
        let answer = post(&lines).await;
        assert_eq!(answer.status, 200, "{lines:?}: {}", answer.json);
        assert!(
            answer
                .header("set-cookie")
                .starts_with("atelier_session=se_")
        );
    }
    let port = gateway.addresses[0].rsplit(':').next().expect("a port");
    let other_port = if port == "3000" { "3001" } else { "3000" };
    let neighbour = format!("http://127.0.0.1:{other_port}");
    for lines in [
        vec![("content-type", "text/plain")],
        vec![("content-type", "application/x-www-form-urlencoded")],
        vec![],
        vec![json, ("origin", "https://evil.example")],
        vec![json, ("origin", "null")],
        vec![json, ("origin", neighbour.as_str())],
        vec![json, ("sec-fetch-site", "cross-site")],
        vec![json, ("sec-fetch-site", "same-site")],
        vec![
            ("content-type", "text/plain"),
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
        ],
    ] {
        let answer = post(&lines).await;
        assert!(
            [403, 415].contains(&answer.status.as_u16()),
            "{lines:?}: {}",
            answer.json
        );
        assert_eq!(answer.header("set-cookie"), "", "{lines:?}");
    }
    // Not even one that may read answers.
    let gateway = Options::default().set("CORS_ORIGINS", "*").spawn().await;
    let account = gateway.account(10).await;
    let request = sign_in(&gateway, &account.key).header("origin", "https://app.example.com");
    send(request).await.assert_refused(403, "forbidden");
}

/// The promise: a cookie that was given over TLS is sent over TLS alone, whoever speaks it; and without TLS one can sign in.
#[tokio::test]
async fn a_cookie_is_secure_whenever_its_caller_came_by_tls() {
    let secure = |answer: &Answer| {
        assert_eq!(answer.status, 200, "{}", answer.json);
        answer.header("set-cookie").contains("; Secure")
    };
    let gateway = Gateway::spawn().await;
    let account = gateway.account(10).await;
    let plain = || sign_in(&gateway, &account.key);
    assert!(!secure(&send(plain()).await));
    // A proxy that nobody knows is not believed; where the page itself came from is.
    assert!(!secure(
        &send(plain().header("x-forwarded-proto", "https")).await
    ));
    let origin = gateway.base_url.replace("http://", "https://");
    assert!(secure(&send(plain().header("origin", origin)).await));

    let gateway = Options::default()
        .set("PROXIES_TRUSTED", "127.0.0.1")
        .spawn()
        .await;
    let account = gateway.account(10).await;
    for (name, value, expected) in [
        ("x-forwarded-proto", "https", true),
        ("x-forwarded-proto", "HTTPS, http", true),
        ("forwarded", "for=192.0.2.1;proto=https", true),
        (
            "forwarded",
            "for=192.0.2.1;Proto=\"https\", for=10.0.0.1",
            true,
        ),
        ("x-forwarded-proto", "http", false),
        ("forwarded", "for=192.0.2.1;proto=http", false),
    ] {
        let request = sign_in(&gateway, &account.key).header(name, value);
        assert_eq!(secure(&send(request).await), expected, "{name}: {value}");
    }
    // Also the one that takes the session away, and the one of a look at an account.
    let opened = send(sign_in(&gateway, ADMIN_TOKEN)).await;
    let by_tls = |method: Method, path: &str, answer: &Answer| {
        let cookie = answer.header("set-cookie").split(';').next();
        gateway
            .request(method, path)
            .header("cookie", cookie.expect("a cookie"))
            .header(
                "x-csrf-token",
                answer.json["data"]["csrf"].as_str().expect("a proof"),
            )
            .header("x-forwarded-proto", "https")
    };
    let visit = format!("/admin/v1/accounts/{}/visit", account.id);
    let visit = send(by_tls(Method::POST, &visit, &opened)).await;
    assert!(secure(&visit));
    let left = by_tls(Method::DELETE, "/console/session", &visit);
    assert!(secure(&send(left).await));
}

#[tokio::test]
async fn a_cookie_is_secure_on_a_listener_that_speaks_tls() {
    let folder: TempDir = tempfile::tempdir().expect("a folder");
    let certificate = certify(folder.path());
    let gateway = with_tls(&folder).spawn().await;
    let printed = gateway.printed();
    let key = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("API key"));
    let port = gateway.addresses[0].rsplit(':').next().expect("a port");
    let url = format!("https://localhost:{port}/console/session");
    let body = json!({ "secret": key.expect("a key").trim() });
    let answer = send(believing(&certificate).post(url).json(&body)).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let cookie = answer.header("set-cookie");
    assert!(cookie.contains("; Secure"), "{cookie}");
}

/// The promise: a proxy that says by the PROXY protocol that it speaks TLS is believed.
#[tokio::test]
async fn a_cookie_is_secure_behind_a_proxy_that_tells_of_tls_before_http() {
    let gateway = Options::default()
        .set("PROXIES_TRUSTED", "127.0.0.1")
        .set("PROXIES_PROTOCOL", "true")
        .spawn()
        .await;
    let printed = gateway.printed();
    let key = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("API key"));
    let body = json!({ "secret": key.expect("a key").trim() }).to_string();
    let request = format!(
        "POST /console/session HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    for (client, expected) in [(1, true), (0, false)] {
        // Addresses, an extension that says nothing here, and the one for TLS with its bits and an unverified peer.
        let mut rest = vec![198, 51, 100, 1, 10, 0, 0, 1, 0x12, 0x67, 1, 187];
        rest.extend([0x04, 0, 2, 0, 0]);
        rest.extend([0x20, 0, 5, client, 0, 0, 0, 1]);
        let mut greeting = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0".to_vec();
        greeting.push(u8::try_from(rest.len()).expect("short"));
        greeting.extend(rest);
        let mut stream = TcpStream::connect(&gateway.addresses[0])
            .await
            .expect("a connection");
        stream.write_all(&greeting).await.expect("written");
        stream.write_all(request.as_bytes()).await.expect("written");
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert_eq!(text.contains("; Secure"), expected, "{text}");
    }
}

/// The promise: as soon as anything says that strangers may come by, counters and the names of back ends are an operator's.
#[tokio::test]
async fn whatever_is_public_asks_for_a_token() {
    let cases: [(&str, &str, usize); 8] = [
        ("PROXIES_TRUSTED", "192.0.2.1", 0),
        ("CDN_URL", "https://cdn.example.com", 0),
        ("ORIGIN_URL", "https://origin.example.com", 0),
        ("LEGACY_CDN_URL", "https://old.example.com", 0),
        (
            "LISTENERS",
            r#"[{ address = "127.0.0.1:0", role = "cdn" }]"#,
            1,
        ),
        (
            "LISTENERS",
            r#"[{ host = "own.example.com", role = "custody" }]"#,
            0,
        ),
        ("NAMES", "media.example.com", 0),
        ("BASE_URL", "https://media.example.com", 0),
    ];
    for (name, value, listeners) in cases {
        let options = Options::default()
            .set(name, value)
            .more_listeners(listeners);
        let gateway = options.spawn().await;
        let get = |path: &str| gateway.request(Method::GET, path);
        let metrics = send(get("/metrics")).await;
        eprintln!("{name} = {value}: {}", metrics.status);
        metrics.assert_refused(401, "unauthorized");
        assert_eq!(
            send(get("/metrics").bearer_auth(ADMIN_TOKEN)).await.status,
            200
        );
        let names = async |request: RequestBuilder| {
            let ready = send(request).await;
            assert_eq!(ready.status, 200, "{}", ready.json);
            ready.json["data"]["backends"].as_array().map(Vec::len)
        };
        assert_eq!(names(get("/readyz")).await, Some(0), "{name}");
        assert_eq!(
            names(get("/readyz").bearer_auth(ADMIN_TOKEN)).await,
            Some(1),
            "{name}"
        );
        assert_eq!(
            names(get("/readyz").bearer_auth("wrong")).await,
            Some(0),
            "{name}"
        );
    }
    let private = Gateway::spawn().await;
    assert_eq!(
        send(private.request(Method::GET, "/metrics")).await.status,
        200
    );
    let ready = send(private.request(Method::GET, "/readyz")).await;
    assert_eq!(
        ready.json["data"]["backends"].as_array().map(Vec::len),
        Some(1)
    );
}

/// The promise: a page whose name was pointed at this machine learns from a private service that it is well, and no more.
#[tokio::test]
async fn a_foreign_name_is_told_no_back_ends() {
    let private = Gateway::spawn().await;
    let ready = || private.request(Method::GET, "/readyz");
    let named = async |request: RequestBuilder| {
        let ready = send(request).await;
        assert_eq!(ready.status, 200, "{}", ready.json);
        ready.json["data"]["backends"].as_array().map(Vec::len)
    };
    assert_eq!(named(ready()).await, Some(1));
    assert_eq!(named(ready().header("host", "localhost")).await, Some(1));
    assert_eq!(named(ready().header("host", EVIL)).await, Some(0));
    let page = ready().header("origin", format!("http://{EVIL}"));
    assert_eq!(named(page).await, Some(0));
    let token = ready().header("host", EVIL).bearer_auth(ADMIN_TOKEN);
    assert_eq!(named(token).await, Some(1));
}

#[tokio::test]
async fn the_bare_name_of_the_console_leads_to_it() {
    let gateway = Gateway::spawn().await;
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client");
    // What stands behind a `?` goes along.
    for (asked, to) in [
        ("/console", "/console/"),
        ("/console?a=1", "/console/?a=1"),
        ("/console?q=%20a&x", "/console/?q=%20a&x"),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let url = format!("{}{asked}", gateway.base_url);
            let answer = send(client.request(method, url)).await;
            assert!(answer.status.is_redirection(), "{}", answer.status);
            assert_eq!(answer.header("location"), to);
        }
    }
    let followed = send(gateway.request(Method::GET, "/console")).await;
    assert_eq!(followed.status, 200);
    assert_eq!(followed.header("content-type"), "text/html; charset=utf-8");
}
