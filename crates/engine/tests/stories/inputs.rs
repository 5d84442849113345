//! Input pictures: whoever works on them learns nothing about where and when they were taken, what is only away for a
//! moment fails no job, and their memory is bounded.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::backend::LostSubmit;
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient};
use atelier_contract::{Code, JobState};
use atelier_engine::BulkCall;
use base64::Engine as _;
use serde_json::json;

use crate::rig::Rig;

const SECRET: &[u8] = b"Comment\0at home";

/// A small picture with a comment.
pub(crate) fn picture() -> Vec<u8> {
    let chunk = |kind: &[u8], content: &[u8]| {
        let length = (content.len() as u32).to_be_bytes();
        [&length, kind, content, b"crc."].concat()
    };
    let header = chunk(b"IHDR", b"\0\0\0\x40\0\0\0\x40\x08\x06\0\0\0");
    let end = chunk(b"IEND", b"");
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        header,
        chunk(b"tEXt", SECRET),
        end,
    ]
    .concat()
}

#[tokio::test]
async fn metadata_of_an_input_goes_no_further_than_the_asset_store() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let body = json!({ "imgBase64Array": [encoded, encoded] });
    let id = rig
        .call(&caller, "artgen.blend", body, false)
        .await
        .expect("accepted");
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    let sources = rig.backend.sources.lock().expect("no panic under the lock");
    assert_eq!(sources.len(), 2);
    for source in sources.iter() {
        let hidden = !source.windows(SECRET.len()).any(|part| part == SECRET);
        assert!(hidden && source.starts_with(b"\x89PNG"), "{source:?}");
    }
}

#[tokio::test]
async fn an_image_sent_again_while_its_expired_copy_is_deleted_is_not_lost() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let send = async || {
        let body = json!({ "imgBase64Array": [encoded, encoded] });
        rig.call(&caller, "artgen.blend", body, false).await
    };
    send().await.expect("accepted");
    rig.settle_down().await;
    let stored = rig.stored().await;
    let key = stored.iter().find(|key| key.starts_with("in/"));
    let key = key.expect("an input").clone();

    // Another node has condemned the file and is about to delete it.
    rig.clock.advance(32 * 24 * 3_600_000);
    let now_ms = rig.clock.now_ms();
    let condemned = rig.store.assets().condemn(now_ms, 0, 10).await;
    assert!(condemned.expect("condemned").contains(&key));
    let refused = send().await.expect_err("not accepted now");
    assert_eq!(refused.code, Code::Overloaded);
    rig.files.delete(&key).await.expect("deleted");
    let gone = [key.clone()];
    rig.store
        .assets()
        .forget(&gone, now_ms)
        .await
        .expect("forgotten");

    let id = send().await.expect("accepted again");
    assert!(rig.stored().await.contains(&key));
    rig.engine.assets().expire_step().await.expect("deleted");
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
}

/// Two calls of one batch send the same picture, and there is quota for one of them.
#[tokio::test]
async fn a_picture_of_a_refused_call_stays_when_another_call_needs_it() {
    let rig = Rig::new().await;
    let caller = rig.account(4).await;
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let request = || {
        let body = json!({ "imgBase64Array": [encoded, encoded] });
        let fields = body.as_object().expect("an object").clone();
        ("artgen.blend".to_owned(), fields)
    };
    let send = async |requests| {
        let call = BulkCall {
            within_rate: usize::MAX,
            caller: caller.clone(),
            requests,
            idempotency: None,
            custody: false,
            begun: tokio::time::Instant::now(),
        };
        let told = rig.engine.intake().submit_bulk(call).await.expect("told");
        let accepted = told.answers.into_iter().filter_map(|one| one.answer.ok());
        accepted.collect::<Vec<_>>()
    };
    let accepted = send(vec![request(), request()]).await;
    assert_eq!(accepted.len(), 1);
    rig.engine.assets().expire_step().await.expect("swept");
    let inputs = async || {
        let stored = rig.stored().await.into_iter();
        stored.filter(|key| key.starts_with("in/")).count()
    };
    assert_eq!(inputs().await, 1, "the accepted call has its picture");
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &accepted[0]).await, JobState::Succeeded);
    // Refused calls alone leave nothing.
    let poor = rig.account(0).await;
    let call = BulkCall {
        within_rate: usize::MAX,
        caller: poor,
        requests: vec![request(), request()],
        idempotency: None,
        custody: false,
        begun: tokio::time::Instant::now(),
    };
    rig.engine.intake().submit_bulk(call).await.expect("told");
    rig.clock.advance(1);
    rig.engine.assets().expire_step().await.expect("swept");
    assert_eq!(inputs().await, 1);
}

/// A host of pictures that fails so many times first; its address, and how often it was asked.
fn host(failures: usize, status: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("http://{}/a.png", listener.local_addr().expect("bound"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let picture = picture();
            let (status, body) = match count.fetch_add(1, Ordering::SeqCst) {
                number if number < failures => (status, &b"not now"[..]),
                _ => ("200 OK", &picture[..]),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(body);
        }
    });
    (url, asked)
}

#[tokio::test]
async fn a_host_that_is_away_for_a_moment_fails_no_job_and_one_that_stays_away_does() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let ending = async |failures, status| {
        let (url, asked) = host(failures, status);
        let prompt = format!("{url} a fox");
        let id = rig.imagine(&caller, &prompt).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        let job = rig.job(&caller, &id).await;
        (job.state, job.message, asked.load(Ordering::SeqCst))
    };
    let unreadable = Some("[Invalid link] prompt: the image could not be read".to_owned());
    let passing = ending(2, "503 Busy").await;
    assert_eq!(passing, (JobState::Succeeded, None, 3));
    let away = ending(99, "502 Away").await;
    assert_eq!(away, (JobState::Failed, unreadable.clone(), 3));
    let never = ending(99, "404 Nothing").await;
    assert_eq!(never, (JobState::Failed, unreadable, 1), "it will not come");
}

#[tokio::test]
async fn an_asset_store_that_is_away_for_a_moment_fails_no_job() {
    let rig = Rig::with(1, atelier_backends::backend::LostSubmit::Repeat).await;
    let caller = rig.account(100).await;
    let busy = rig.imagine(&caller, "hang a fox").await.expect("accepted");
    let encoded = base64::engine::general_purpose::STANDARD.encode(picture());
    let body = json!({ "imgBase64Array": [encoded, encoded] });
    let id = rig.call(&caller, "artgen.blend", body, false).await;
    let id = id.expect("accepted");
    // A name that leads to itself cannot be read, but is there.
    let stored = rig.stored().await;
    let path = rig.files_folder().join(&stored[0]);
    std::fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink(&path, &path).expect("a loop");
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &busy)
        .await
        .expect("a place is free");
    rig.rest().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Waiting, "again");
    std::fs::remove_file(&path).expect("removed");
    std::fs::write(&path, picture()).expect("back again");
    rig.until_final(&caller, &id).await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Succeeded, "{:?}", job.message);
}

#[tokio::test]
async fn inputs_hold_their_memory_until_the_work_on_them_has_begun() {
    let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
    let limits = Limits {
        // Room for one.
        input_memory: 64 * 1024,
        ..Limits::default()
    };
    let rig = Rig::reaching(OutboundClient::new(policy, limits).expect("a client")).await;
    let caller = rig.account(100).await;
    let (url, _) = host(0, "");
    let first = format!("{url} hang one");
    let first = rig.imagine(&caller, &first).await.expect("accepted");
    rig.rest().await;
    let second = format!("{url} two");
    let second = rig.imagine(&caller, &second).await.expect("accepted");
    let without = rig.imagine(&caller, "three").await.expect("accepted");
    rig.rest().await;
    assert_eq!(rig.backend.starts().len(), 2, "{:?}", rig.backend.starts());
    assert_eq!(rig.state(&caller, &without).await, JobState::Succeeded);
    // It waits for memory: nobody works on it yet.
    assert_eq!(rig.state(&caller, &second).await, JobState::Waiting);
    rig.backend.sources.lock().expect("no panic").clear();
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &first)
        .await
        .expect("cancelled");
    rig.until_final(&caller, &second).await;
    assert_eq!(rig.state(&caller, &second).await, JobState::Succeeded);
}

/// The promise: a mask takes as much of the memory of inputs as any picture does.
#[tokio::test]
async fn masks_are_counted_in_the_memory_of_inputs() {
    for (masked, room_left) in [(false, true), (true, false)] {
        let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
        let limits = Limits {
            // Room for two.
            input_memory: 128 * 1024,
            ..Limits::default()
        };
        let rig = Rig::reaching(OutboundClient::new(policy, limits).expect("a client")).await;
        let caller = rig.account(100).await;
        let (url, _) = host(0, "");
        let (operation, body) = if masked {
            let body = json!({ "image": url, "mask": url, "prompt": "hang one" });
            ("design.inpaint", body)
        } else {
            let body = json!({ "image": url, "strength": 0.5, "prompt": "hang one" });
            ("design.image_to_image", body)
        };
        let first = rig.call(&caller, operation, body, false).await;
        let first = first.unwrap_or_else(|refusal| panic!("{operation}: {refusal}"));
        rig.rest().await;
        assert_eq!(rig.backend.starts().len(), 1, "{operation}");
        let second = rig.imagine(&caller, &format!("{url} two")).await;
        let second = second.expect("accepted");
        rig.rest().await;
        let begun = rig.backend.starts().len() == 2;
        assert_eq!(begun, room_left, "{operation}: {:?}", rig.backend.starts());
        rig.backend.sources.lock().expect("no panic").clear();
        let cancelled = rig.engine.jobs().cancel(&caller.account_id, &first).await;
        cancelled.expect("cancelled");
        rig.until_final(&caller, &second).await;
        assert_eq!(rig.state(&caller, &second).await, JobState::Succeeded);
    }
}

#[tokio::test]
async fn a_video_is_read_from_its_address_or_from_the_asset_store_and_too_large_ones_are_not() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    let (url, _) = host(1, "503 Busy");
    let ending = async |url: &str| {
        let body = json!({ "url": url, "timestamps": "0,2" });
        let id = rig.call(&caller, "vidgen.characters", body, false).await;
        let id = id.expect("accepted");
        rig.until_final(&caller, &id).await;
        rig.job(&caller, &id).await
    };
    let job = ending(&url).await;
    assert_eq!(job.state, JobState::Succeeded, "{:?}", job.message);
    let file = job.output.expect("a result").files.remove(0);
    let own = ending(&file.origin_url).await;
    assert_eq!(own.state, JobState::Succeeded, "{:?}", own.message);
    let given = rig.backend.sources.lock().expect("no panic").clone();
    assert_eq!(given.len(), 2);
    assert_eq!(given[0], picture(), "a video is handed on as it is");

    // A file that has grown beyond every limit is refused by its size alone.
    let path = rig.files_folder().join(&file.key);
    let sparse = std::fs::File::create(path).expect("a file");
    sparse.set_len(300 * 1024 * 1024).expect("a large file");
    let large = ending(&file.origin_url).await;
    assert_eq!(
        large.message.as_deref(),
        Some("[Invalid link] url: the file is too large")
    );
}

/// A host whose file hardly comes.
fn dripping() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("http://{}/a.mp4", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let head = "HTTP/1.1 200 OK\r\ncontent-length: 190000000\r\n\r\n";
                let mut open = stream.write_all(head.as_bytes()).is_ok();
                while open {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    open = stream.write_all(b"x").is_ok();
                }
            });
        }
    });
    url
}

/// The promise: a vendor's place is nobody's while an input only comes, and the vendor never has more than it may.
#[tokio::test]
async fn an_input_that_drips_keeps_no_vendor_from_others() {
    let rig = Rig::with(1, LostSubmit::Unknown).await;
    let (slow, other) = (rig.account(100).await, rig.account(100).await);
    let video = dripping();
    for _ in 0..3 {
        let body = json!({ "url": video, "timestamps": "0,2" });
        let accepted = rig.call(&slow, "vidgen.characters", body, false).await;
        accepted.expect("accepted");
    }
    rig.rest().await;
    let (picture, _) = host(0, "");
    for prompt in [format!("{picture} a fox"), "a bear".to_owned()] {
        let id = rig.imagine(&other, &prompt).await.expect("accepted");
        for _ in 0..50 {
            rig.rest().await;
            if rig.state(&other, &id).await.is_final() {
                break;
            }
        }
        assert_eq!(
            rig.state(&other, &id).await,
            JobState::Succeeded,
            "{prompt}"
        );
    }
}

#[tokio::test]
async fn inputs_that_drip_take_neither_memory_nor_places_from_others() {
    let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
    let limits = Limits {
        // Room for one video.
        input_memory: 200 * 1024 * 1024,
        ..Limits::default()
    };
    let rig = Rig::reaching(OutboundClient::new(policy, limits).expect("a client")).await;
    let (slow, other) = (rig.account(100).await, rig.account(100).await);
    let video = dripping();
    // More than there are places.
    for _ in 0..6 {
        let body = json!({ "url": video, "timestamps": "0,2" });
        let accepted = rig.call(&slow, "vidgen.characters", body, false).await;
        accepted.expect("accepted");
    }
    rig.rest().await;
    let (picture, _) = host(0, "");
    let id = rig.imagine(&other, &format!("{picture} a fox")).await;
    let id = id.expect("accepted");
    for _ in 0..50 {
        rig.rest().await;
        if rig.state(&other, &id).await.is_final() {
            break;
        }
    }
    assert_eq!(rig.state(&other, &id).await, JobState::Succeeded);
}
