//! Certificates are checked against name, time and authority; nothing falls back to plain HTTP, and a forbidden
//! address is refused before any handshake.

use std::io::Write as _;
use std::sync::Arc;

use crate::servers::{Server, answer, ip, names, png, read_request};
use atelier_backends::guard::Policy;
use atelier_backends::http::{CallbackOutcome, Limits, OutboundClient, OutboundError};
use bytes::Bytes;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// An authority of the test's own.
struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Self {
            certificate: certificate.der().clone(),
            issuer: Issuer::new(params, key),
        }
    }

    /// A server's certificate for a name, valid until a year.
    fn issue(&self, name: &str, until: i32) -> ServerIdentity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        ServerIdentity {
            certificate: certificate.der().clone(),
            key,
        }
    }
}

/// What a server proves its name with.
struct ServerIdentity {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

/// A TLS server on 127.0.0.2 that gives everyone this answer.
fn serve(identity: ServerIdentity, reply: Vec<u8>) -> Server {
    let key = identity.key.serialize_der();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate], key)
        .expect("a server");
    let config = Arc::new(config);
    Server::allowed(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
        let mut stream = StreamOwned::new(connection, stream);
        read_request(&mut stream);
        let _ = stream.write_all(&reply);
        stream.conn.send_close_notify();
        let _ = stream.flush();
    })
}

/// A client for which `hooks.org` is 127.0.0.2 and `inside.org` is 127.0.0.1.
fn client(server: &Server, roots: Vec<CertificateDer<'static>>) -> OutboundClient {
    let port = server.address.port();
    let allow = [format!("127.0.0.2/32:{port}")];
    let policy = Policy::from_settings(&[], Some(&allow), true, &[], &[]).expect("a policy");
    let (resolver, _) = names(&[
        ("hooks.org", &[&["127.0.0.2"]]),
        ("inside.org", &[&["127.0.0.1"]]),
    ]);
    OutboundClient::new(policy, Limits::default())
        .and_then(|client| client.with_resolver(resolver))
        .and_then(|client| client.with_roots(roots))
        .expect("a client")
}

async fn post(client: &OutboundClient, server: &Server, host: &str) -> CallbackOutcome {
    let url = format!("https://{host}:{}/hook", server.address.port());
    client
        .post_callback(&url, &[], Bytes::from_static(b"{}"))
        .await
}

#[tokio::test]
async fn a_good_certificate_is_accepted_and_every_other_refused() {
    let authority = Authority::new();
    let root = authority.certificate.clone();
    let ok = || answer("200 OK", "", b"ok");
    let good = serve(authority.issue("hooks.org", 2090), ok());
    let outcome = post(&client(&good, vec![root.clone()]), &good, "hooks.org").await;
    assert!(outcome.delivered(), "{outcome:?}");

    let self_signed = {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["hooks.org".to_owned()]).expect("parameters");
        let certificate = params.self_signed(&key).expect("a certificate");
        ServerIdentity {
            certificate: certificate.der().clone(),
            key,
        }
    };
    for (what, certificate) in [
        ("self-signed", self_signed),
        (
            "another authority",
            Authority::new().issue("hooks.org", 2090),
        ),
        ("another name", authority.issue("other.org", 2090)),
        ("expired", authority.issue("hooks.org", 2020)),
    ] {
        let server = serve(certificate, ok());
        let outcome = post(&client(&server, vec![root.clone()]), &server, "hooks.org").await;
        assert_eq!(
            outcome.error.as_deref(),
            Some(OutboundError::Insecure.words()),
            "{what}"
        );
        assert_eq!(outcome.status, None, "{what}");
    }
    let stranger = post(&client(&good, Vec::new()), &good, "hooks.org").await;
    assert_eq!(
        stranger.error.as_deref(),
        Some(OutboundError::Insecure.words())
    );
}

#[tokio::test]
async fn a_receiver_without_tls_gets_no_plain_request_instead() {
    let plain = Server::saying(answer("200 OK", "", b"ok"));
    let outcome = post(&client(&plain, Vec::new()), &plain, "hooks.org").await;
    assert_eq!(outcome.status, None);
    assert!(outcome.error.is_some());
    assert_eq!(plain.connections(), 1, "one try and no fallback");
}

#[tokio::test]
async fn a_forbidden_address_is_refused_before_the_handshake() {
    let authority = Authority::new();
    let server = serve(
        authority.issue("inside.org", 2090),
        answer("200 OK", "", b"ok"),
    );
    let canary = Server::start((ip("127.0.0.1"), server.address.port()), drop);
    let outcome = post(
        &client(&server, vec![authority.certificate.clone()]),
        &server,
        "inside.org",
    )
    .await;
    assert!(outcome.blocked);
    if let Some(canary) = canary {
        assert_eq!(canary.connections(), 0);
    }
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let authority = Authority::new();
    let plain = Server::saying(answer("200 OK", "", &png(3, 3)));
    let location = format!("location: {}\r\n", plain.url("/a.png"));
    let server = serve(
        authority.issue("hooks.org", 2090),
        answer("302 Found", &location, b""),
    );
    let allow = [
        "127.0.0.2/32".to_owned(),
        format!("hooks.org:{}", server.address.port()),
    ];
    let policy = Policy::from_settings(&[], Some(&allow), true, &[], &[]).expect("a policy");
    let (resolver, _) = names(&[("hooks.org", &[&["127.0.0.2"]])]);
    let client = OutboundClient::new(policy, Limits::default())
        .and_then(|client| client.with_resolver(resolver))
        .and_then(|client| client.with_roots(vec![authority.certificate.clone()]))
        .expect("a client");
    let direct = client.fetch_image(&plain.url("/a.png")).await;
    assert!(direct.is_ok(), "{direct:?}");
    let url = format!("https://hooks.org:{}/", server.address.port());
    let fault = client.fetch_image(&url).await.expect_err("a downgrade");
    assert_eq!(fault.trouble, OutboundError::Redirect);
    assert_eq!(plain.connections(), 1);
}
