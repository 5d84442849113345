//! Names that lead inside, change their mind or give mixed answers, through the whole service: a callback's try is recorded
//! as blocked and made again later, a picture fails its job with one fixed sentence, and nobody inside is reached.

use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient, Resolver};
use atelier_contract::JobState;
use serde_json::json;

use crate::rig::Rig;

/// Counts the connections to a listener on an address of loopback.
fn canary(address: &str, port: u16) -> Option<(u16, Arc<AtomicUsize>)> {
    let ip: IpAddr = address.parse().expect("an address");
    let listener = TcpListener::bind((ip, port)).ok()?;
    let port = listener.local_addr().ok()?.port();
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            seen.fetch_add(1, Ordering::SeqCst);
        }
    });
    Some((port, count))
}

/// Every look-up gives the next of these answers, whatever the name; the last one for good.
fn answering(turns: &'static [&'static [&'static str]]) -> Resolver {
    let turn = AtomicUsize::new(0);
    Resolver::scripted(Arc::new(move |_| {
        let number = turn.fetch_add(1, Ordering::SeqCst);
        let answer = turns.get(number).or(turns.last()).copied().unwrap_or(&[]);
        let found = answer.iter().map(|ip| ip.parse().expect("an address"));
        let found: Vec<IpAddr> = found.collect();
        Box::pin(async move { Ok(found) })
    }))
}

async fn story(turns: &'static [&'static [&'static str]]) {
    let (port, inside) = canary("127.0.0.1", 0).expect("a port");
    let canaries: Vec<_> = ["127.0.0.53", "::1"]
        .into_iter()
        .filter_map(|address| canary(address, port))
        .map(|(_, count)| count)
        .chain([inside])
        .collect();
    // The port is one of the allowed ones, so that only the rule for addresses stands before the canaries.
    let policy = Policy::from_settings(&[port], Some(&[]), true, &[], &[]).expect("a policy");
    let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
    let outbound = outbound.with_resolver(answering(turns)).expect("a client");
    let rig = Rig::reaching(outbound).await;
    let caller = rig.account(100).await;

    let url = format!("http://innocent.org:{port}/");
    let body = json!({ "prompt": format!("{url}a.png a fox"), "hookUrl": url });
    let id = rig
        .submit(&caller, body, None)
        .await
        .expect("a name is not judged at submit");
    rig.settle_down().await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Failed);
    assert_eq!(
        job.message.as_deref(),
        Some("[Invalid link] prompt: the image could not be read")
    );
    assert_eq!(rig.purse(&caller).await, ("100".into(), "0".into()));

    rig.engine.callbacks().step().await.expect("a step");
    let callback = format!("cb_{id}");
    let log = loop {
        let shown = rig
            .engine
            .callbacks()
            .callback(&caller.account_id, &callback)
            .await;
        let (callback, log) = shown.expect("shown");
        if callback.state != "sending" {
            assert_eq!(callback.state, "due", "it is tried again");
            break log;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!((log.len(), log[0].status), (1, None));
    let error = log[0].error.as_deref().unwrap_or_default();
    assert!(error.contains("not allowed"), "{error}");
    for count in canaries {
        assert_eq!(
            count.load(Ordering::SeqCst),
            0,
            "somebody inside was reached"
        );
    }
}

#[tokio::test]
async fn a_name_that_leads_inside_reaches_nobody() {
    story(&[&["127.0.0.1"]]).await;
    story(&[&["::1"]]).await;
}

#[tokio::test]
async fn one_forbidden_answer_among_public_ones_spoils_them_all() {
    story(&[&["8.8.8.8", "127.0.0.1"]]).await;
    story(&[&["127.0.0.53", "8.8.8.8"]]).await;
}

#[tokio::test]
async fn a_name_that_is_public_at_first_and_inside_later_reaches_nobody() {
    story(&[&["127.0.0.1"], &["10.0.0.1", "8.8.8.8"], &["::1"]]).await;
}
