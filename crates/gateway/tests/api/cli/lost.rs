//! Connections that are lost: a call is asked again by its name and a job is followed on, and there is never a second job.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::{Person, pictures_in};
use crate::gateway::{Account, Gateway, Options};

/// Stands before a service, loses what it is told to lose, and may be pointed at another one.
struct Middle {
    address: String,
    target: Arc<Mutex<String>>,
    seen: Arc<AtomicU32>,
    _passing: JoinSet<()>,
}

impl Middle {
    /// Cuts the first connection off after so many bytes of its answer.
    async fn cutting(gateway: &Gateway, after: Option<usize>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let target = Arc::new(Mutex::new(String::new()));
        let seen = Arc::new(AtomicU32::new(0));
        let (place, count) = (Arc::clone(&target), Arc::clone(&seen));
        let mut passing = JoinSet::new();
        passing.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                let first = count.fetch_add(1, Ordering::SeqCst) == 0;
                let target = place.lock().expect("no panic under the lock").clone();
                connections.spawn(pass_on(near, target, after.filter(|_| first)));
            }
        });
        let middle = Self {
            address,
            target,
            seen,
            _passing: passing,
        };
        middle.point_at(gateway);
        middle
    }

    fn point_at(&self, gateway: &Gateway) {
        let address = gateway.base_url.trim_start_matches("http://");
        let mut target = self.target.lock().expect("no panic under the lock");
        address.clone_into(&mut target);
    }

    /// Somebody whose calls go through here.
    async fn person(&self, account: &Account) -> Person {
        let person = Person::new();
        let words = ["login", &self.address, "--unchecked"];
        let ran = person.run(&words, &account.key).await;
        assert!(ran.status.success());
        person
    }
}

async fn pass_on(mut near: TcpStream, target: String, cut: Option<usize>) {
    // While the service is away, so is this.
    let Ok(mut far) = TcpStream::connect(&target).await else {
        return;
    };
    let Some(most) = cut else {
        let _ = copy_bidirectional(&mut near, &mut far).await;
        return;
    };
    let (mut from, mut back) = near.split();
    let (mut answers, mut to) = far.split();
    let passing = tokio::io::copy(&mut from, &mut to);
    let losing = async {
        let mut answer = vec![0; most.max(1)];
        let _ = answers.read_exact(&mut answer).await;
        let _ = back.write_all(&answer[..most]).await;
    };
    let either = async {
        tokio::select! {
            _ = passing => {}
            () = losing => {}
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(10), either).await;
}

async fn one_job(gateway: &Gateway, account: &Account) {
    let jobs = gateway.get(&account.key, "/jobs/v1").await;
    assert_eq!(jobs.json["total"], 1, "{}", jobs.json);
    assert_eq!(gateway.balance(&account.key).await, (96.0, 0.0));
}

#[tokio::test]
async fn an_answer_that_is_lost_anywhere_is_asked_for_again_and_makes_no_second_job() {
    let gateway = Options::default().spawn().await;
    // Nothing of it, some of its head, all of its head and some of its body.
    for after in [0, 20] {
        let account = gateway.account(100).await;
        let middle = Middle::cutting(&gateway, Some(after)).await;
        let person = middle.person(&account).await;
        person
            .good(&["call", "artgen.imagine", "prompt=a fox"])
            .await;
        assert!(middle.seen.load(Ordering::SeqCst) >= 2, "one was lost");
        let jobs = gateway.get(&account.key, "/jobs/v1").await;
        assert_eq!(jobs.json["total"], 1, "{after}: {}", jobs.json);
    }
    let account = gateway.account(100).await;
    let whole = gateway
        .request(reqwest::Method::GET, "/jobs/v1")
        .header("SVC-API-KEY", &account.key)
        .send()
        .await
        .expect("an answer");
    let head: usize = whole
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    let middle = Middle::cutting(&gateway, Some(head + "HTTP/1.1 200 OK\r\n\r\n".len() + 20)).await;
    let person = middle.person(&account).await;
    let said = person
        .good(&["imagine", "a red fox", "--out", "made"])
        .await;
    assert!(middle.seen.load(Ordering::SeqCst) >= 2, "one was lost");
    let made = pictures_in(&person.home.path().join("made"));
    assert_eq!(made.len(), 1, "{said}");
    one_job(&gateway, &account).await;
}

#[tokio::test]
async fn a_service_that_dies_and_comes_back_while_its_job_is_awaited_is_waited_for() {
    let settings = || {
        Options::default()
            .set("JOBS_LEASE_S", "2")
            .set("JOBS_RENEW_S", "1")
    };
    let gateway = settings().spawn().await;
    let account = gateway.account(100).await;
    let middle = Middle::cutting(&gateway, None).await;
    let person = middle.person(&account).await;
    let words = ["imagine", "a red fox [[delay 1s]]", "--out", "made"];
    let waiting = person.run(&words, "");
    let killing = async {
        while gateway.balance(&account.key).await.1 == 0.0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        let gateway = gateway.restart(settings());
        middle.point_at(&gateway);
        gateway
    };
    let both = async { tokio::join!(waiting, killing) };
    let (ran, gateway) = tokio::time::timeout(Duration::from_mins(1), both)
        .await
        .expect("it ends");
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(pictures_in(&person.home.path().join("made")).len(), 1);
    one_job(&gateway, &account).await;
}
