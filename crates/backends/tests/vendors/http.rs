//! The vendor that is described: what a description cannot say is refused where it stands, and whatever a vendor answers, a
//! description is not led astray by it.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_backends::{Class, PollOutcome, StartOutcome};
use atelier_media::Picture;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::described::described;
use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, png, polled, status, ticket, worker,
};
use crate::story::clip;
use crate::studio::Studio;

const NOWHERE: &str = "http://127.0.0.1:9/v1";

/// A description of one call that is answered with addresses.
fn simple(body: &Value) -> Value {
    json!({
        "calls": {"draw": {"submit": {"path": "images", "json": body}, "result": {"files": [{"at": "/urls"}]}}},
        "models": {"imgmodel.chat": {"call": "draw", "model": "m"}, "design.generations": {"call": "draw", "model": "m"}},
        "probe": {"request": {"path": "me"}},
        "recorded": [{"call": "draw", "to": "submit", "body": {"urls": ["https://a.example/1.png"]},
            "means": {"state": "done", "files": 1}}],
    })
}

/// The same with something else at a place.
fn with(mut settings: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let name = name.replace("~1", "/");
    let parent = settings.pointer_mut(parent).expect(pointer);
    match parent {
        Value::Array(all) => all.push(value),
        parent => parent[name] = value,
    }
    settings
}

/// A server that draws as many pictures as it is asked for.
fn drawing() -> Stand {
    Stand::new(|seen| {
        if seen.line == "GET /a.png" {
            return bytes("image/png", png(64, 64, [9, 9, 9, 255]));
        }
        let count = seen.json()["n"].as_u64().unwrap_or(1) as usize;
        answer(&json!({"urls": vec![seen.here("/a.png"); count]}))
    })
}

fn refused(settings: Value) -> String {
    let built = worker("http", NOWHERE, settings);
    built.err().expect("refused").to_string()
}

/// A description with a mistake in it, the place that is blamed and a word of the reason.
#[derive(Deserialize)]
struct Mistake {
    of: String,
    at: String,
    put: Value,
    place: String,
    word: String,
}

#[test]
fn what_a_description_cannot_say_is_refused_with_its_place() {
    let good = || simple(&json!({"prompt": "{{prompt}}"}));
    worker("http", NOWHERE, good()).expect("a good description");
    let mistakes = include_str!("described/refused.json");
    let mistakes: Vec<Mistake> = serde_json::from_str(mistakes).expect("a list");
    let mut wrong = Vec::new();
    for Mistake {
        of,
        at,
        put,
        place,
        word,
    } in mistakes
    {
        let settings = match &*of {
            "" => good(),
            vendor => described(vendor),
        };
        let said = refused(with(settings, &at, put));
        if !said.starts_with(&format!("{place}:")) || !said.contains(&word) {
            wrong.push(format!("{place} ({word}): {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let long = with(
        good(),
        "/calls/draw/submit/json",
        json!("x".repeat(600_000)),
    );
    let said = refused(long);
    assert!(said.starts_with("settings: have"), "{said}");
    let said = refused(json!({"models": {}}));
    assert!(said.contains("calls"), "{said}");
}

#[tokio::test]
async fn words_of_a_caller_stay_words() {
    let body =
        json!({"text": "{{prompt}}", "in": "say \"{{prompt}}\"!", "deep": [{"x": "{{prompt}}"}]});
    let settings = with(
        simple(&body),
        "/calls/draw/submit/query",
        json!({"q": "{{prompt}}"}),
    );
    let settings = with(
        settings,
        "/calls/draw/submit/headers",
        json!({"x-words": "{{prompt}}"}),
    );
    let stand = drawing();
    let worker = stand.worker("http", settings);
    for prompt in [
        "a \"quoted\" cat",
        "back\\slash and \\u0022 and \\\"",
        "{{seed}} {{task.id}} }} {{",
        "\", \"model\": \"other\", \"x\": \"",
        "line\nbreak\tand\u{1}control",
        "\u{2028}emoji \u{1F98A} &amp; <b> ?a=b&c#d",
    ] {
        let (work, _) = Studio::new().work("design.generations", &json!({"prompt": prompt}), None);
        made(&worker, work.clone()).await.expect("a picture");
        let seen = stand.seen();
        let asked = seen
            .iter()
            .rev()
            .find(|one| one.line.starts_with("POST"))
            .expect("an order");
        let words = &work.brief.prompt;
        assert_eq!(
            asked.json(),
            json!({"text": words, "in": format!("say \"{words}\"!"), "deep": [{"x": words}]})
        );
        assert!(
            asked.line.starts_with("POST /v1/images?q="),
            "{}",
            asked.line
        );
        assert!(!asked.line.contains(' ') || asked.line.matches(' ').count() == 1);
    }
}

#[tokio::test]
async fn a_state_never_seen_goes_on_and_places_without_anything_bring_nothing() {
    let studio = Studio::new();
    let body = json!({"prompt": "a wave", "video_length": "10"});
    let (work, _) = studio.work("clipgen.generations", &body, None);
    let paper = json!({"tasks": [{"call": "video", "id": "t1"}]});
    for (reply, class) in [
        (json!({"state": "dreaming"}), None),
        (
            json!({"state": "COMPLETED", "output": []}),
            Some(Class::Gone),
        ),
        (json!({"state": "completed"}), Some(Class::Gone)),
        (
            json!({"state": "completed", "output": [{"url": 7}]}),
            Some(Class::Gone),
        ),
    ] {
        let stand = Stand::always(answer(&reply));
        let asked = stand.worker("http", described("luma"));
        match (asked.poll(&work, &paper).await, class) {
            (Ok(PollOutcome::Running(_)), None) => {}
            (Ok(PollOutcome::Failed(fault)), Some(class)) => assert_eq!(fault.class, class),
            _ => panic!("{reply}"),
        }
    }
    for reply in [json!({}), json!({"state": null}), json!([1]), json!("x")] {
        let stand = Stand::always(answer(&reply));
        let polled = stand
            .worker("http", described("luma"))
            .poll(&work, &paper)
            .await;
        let fault = polled.err().unwrap_or_else(|| panic!("{reply}"));
        assert_eq!(fault.class, Class::Retry, "{reply}");
    }
}

/// A task whose call was taken out of the settings is over; it cannot be asked about.
#[tokio::test]
async fn a_task_of_a_call_that_is_gone_is_over() {
    let stand = Stand::always(answer(&json!({"state": "completed"})));
    let (work, _) = Studio::new().work("clipgen.generations", &json!({"prompt": "x"}), None);
    let paper = json!({"tasks": [{"call": "older", "id": "t1"}]});
    let polled = stand
        .worker("http", described("luma"))
        .poll(&work, &paper)
        .await;
    assert!(
        matches!(polled, Ok(PollOutcome::Failed(fault)) if fault.class == Class::Gone && fault.detail.contains("older"))
    );
}

#[tokio::test]
async fn answers_of_a_hundred_megabytes_cost_bounded_memory() {
    let huge = || vec![b'x'; 100 * 1024 * 1024];
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw a fox"}), None);
    for (files, reply) in [
        (
            json!([{"at": "/urls"}]),
            [br#"{"urls":[""#.to_vec(), huge(), br#""]}"#.to_vec()].concat(),
        ),
        (json!([{"as": "body"}]), huge()),
        (
            json!([{"at": "/b64", "as": "any"}]),
            [br#"{"b64":""#.to_vec(), huge(), br#""}"#.to_vec()].concat(),
        ),
    ] {
        let mut settings = with(
            simple(&json!({"prompt": "{{prompt}}"})),
            "/calls/draw/result/files",
            files.clone(),
        );
        settings["recorded"] = match files[0]["as"].as_str() {
            Some("body") => json!([]),
            Some(_) => {
                json!([{"call": "draw", "to": "submit", "body": {"b64": base64(png(1, 1, [0; 4]))}, "means": {"files": 1, "state": "done"}}])
            }
            None => settings["recorded"].clone(),
        };
        if files[0]["as"] == "body" {
            // Bytes cannot be recorded; the drawing is one that is text.
            settings["recorded"] = json!([{"call": "draw", "to": "submit", "means": {"state": "done", "files": 1},
                "body": "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"/>"}]);
        }
        let stand = Stand::always(bytes("application/json", reply));
        let fault = made(&stand.worker("http", settings), work.clone())
            .await
            .expect_err("too much");
        assert_eq!(fault.taken, Acceptance::Perhaps, "{files}: {fault:?}");
    }
    assert!(peak_kib() < 1_200 * 1024, "{} KiB", peak_kib());
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.expect("a peak").chars().filter(char::is_ascii_digit);
    digits.collect::<String>().parse().expect("a number")
}

/// A vendor that names the address of its task is asked there, at its own hosts alone.
#[tokio::test]
async fn the_credential_goes_to_no_host_that_an_answer_names() {
    let mut settings = described("luma");
    settings["calls"]["video"]["task"] = json!({"url": "/url"});
    settings["calls"]["video"]["poll"] = json!({"path": "{{task.url}}"});
    settings["recorded"][0]["body"] = json!({"url": "https://elsewhere.example/t1"});
    let said = refused(settings.clone());
    assert!(said.contains("another host"), "{said}");
    settings["hosts"] = json!(["elsewhere.example"]);
    worker("http", NOWHERE, settings.clone()).expect("the host is listed");
    settings["hosts"] = json!([]);
    settings["recorded"][0] = json!({"call": "video", "to": "submit", "body": {"url": "/v1/t1"}, "means": {"task": {"url": "/v1/t1"}}});
    let stranger = Stand::always(answer(&json!({"state": "processing"})));
    let (there, studio) = (stranger.url("/t1"), Studio::new());
    let stand = Stand::new(move |seen| match &*seen.line {
        line if line.starts_with("POST") => answer(&json!({"url": there})),
        _ => answer(&json!({"state": "processing"})),
    });
    let worker = stand.worker("http", settings);
    let (work, _) = studio.work("clipgen.generations", &json!({"prompt": "x"}), None);
    let fault = ticket(&worker, work.clone())
        .await
        .expect_err("a stranger's");
    assert_eq!(
        (fault.class, fault.taken),
        (Class::Retry, Acceptance::Perhaps)
    );
    // Nor if a ticket has it all the same.
    let paper = json!({"tasks": [{"call": "video", "url": stranger.url("/t1")}]});
    let polled = worker.poll(&work, &paper).await;
    assert!(matches!(polled, Ok(PollOutcome::Failed(fault)) if fault.class == Class::Bug));
    assert!(stranger.seen().is_empty(), "nobody else was asked");
    for seen in stand.seen() {
        assert!(!String::from_utf8_lossy(&seen.body).contains("very-secret"));
    }
}

#[tokio::test]
async fn pictures_go_along_inline_as_parts_as_addresses_or_uploaded() {
    let stand = Stand::new(|seen| match &*seen.line {
        "GET /a.png" => bytes("image/png", png(64, 64, [9, 9, 9, 255])),
        "POST /v1/files" => answer(&json!({"file": {"name": format!("up-{}", seen.body.len())}})),
        _ => answer(&json!({"urls": [seen.here("/a.png")]})),
    });
    let studio = Studio::new();
    let image = studio.host("in.png", &Picture::filled(48, 48, [9, 9, 9, 255]));
    let chat = json!({"prompt": "draw it", "referImages": [image, image]});
    let body = json!({"all": "{{images}}", "bare": "{{image1.base64}}", "kinds": "{{images.type}}", "at": "{{image2.url}}",
        "up": "{{images.upload}}", "list": [{"$each": "images", "$do": {"i": "{{item.upload}}"}}]});
    let mut settings = simple(&body);
    settings["upload"] = json!({"request": {"path": "files", "multipart": {"file": {"file": "file"}, "kind": "{{file.type}}"}}, "value": "/file/name"});
    let order = stand.worker("http", settings.clone());
    let (work, _) = studio.work("imgmodel.chat", &chat, None);
    made(&order, work).await.expect("a picture");
    let sent = stand.asked("POST /v1/images")[0].json();
    let is_uri = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text.starts_with("data:image/png;base64,"))
    };
    assert!(
        sent["all"]
            .as_array()
            .is_some_and(|all| all.len() == 2 && all.iter().all(is_uri)),
        "{sent}"
    );
    assert!(
        sent["bare"]
            .as_str()
            .is_some_and(|text| !text.starts_with("data:"))
    );
    assert_eq!(sent["kinds"], json!(["image/png", "image/png"]));
    assert_eq!(sent["at"], json!(image));
    assert_eq!(sent["list"].as_array().map(Vec::len), Some(2));
    assert!(
        sent["up"][0]
            .as_str()
            .is_some_and(|name| name.starts_with("up-"))
    );
    assert_eq!(
        stand.asked("POST /v1/files").len(),
        2,
        "each picture is uploaded once"
    );
    let uploaded = &stand.asked("POST /v1/files")[0];
    assert_eq!(uploaded.text("kind").as_deref(), Some("image/png"));
    assert!(
        uploaded
            .part("file")
            .is_some_and(|part| part.starts_with(b"\x89PNG"))
    );

    let parts = json!({"prompt": "{{prompt}}", "image[]": {"file": "images"}, "seed": "{{seed}}"});
    let mut settings = simple(&Value::Null);
    settings["calls"]["draw"]["submit"] = json!({"path": "images", "multipart": parts});
    let order = stand.worker("http", settings);
    let (work, _) = studio.work("imgmodel.chat", &chat, None);
    made(&order, work).await.expect("a picture");
    let sent = &stand.asked("POST /v1/images")[1];
    let names: Vec<String> = sent.parts().into_iter().map(|part| part.0).collect();
    assert_eq!(
        names,
        ["image[]", "image[]", "prompt"],
        "what is not given is left out"
    );
}

/// An image that came inline has no address; whoever needs one gets another back end.
#[tokio::test]
async fn an_image_without_an_address_goes_to_the_next_back_end() {
    let stand = Stand::always(Reply::Cut);
    let order = stand.worker("http", simple(&json!({"at": "{{image.url}}"})));
    let inline = format!(
        "data:image/png;base64,{}",
        base64(png(32, 32, [9, 9, 9, 255]))
    );
    let chat = json!({"prompt": "draw it", "referImages": [inline]});
    let (work, _) = Studio::new().work("imgmodel.chat", &chat, None);
    let fault = made(&order, work).await.expect_err("no address");
    assert_eq!(fault.class, Class::Unable);
    assert!(stand.seen().is_empty());
}

/// Several results come by one call that counts, or by one call each.
#[tokio::test]
async fn several_results_come_in_as_few_calls_as_the_vendor_takes() {
    let stand = drawing();
    let body = json!({"prompt": "a fox", "n": 5});
    for (fields, per_call, counts) in [
        (json!({"n": "{{count}}"}), json!(2), vec![2, 2, 1]),
        (json!({"n": "{{count}}"}), Value::Null, vec![5]),
        (json!({"p": "{{prompt}}"}), Value::Null, vec![0; 5]),
    ] {
        let before = stand.asked("POST").len();
        let mut settings = simple(&fields);
        if !per_call.is_null() {
            settings["models"]["design.generations"]["per_call"] = per_call;
        }
        let (work, _) = Studio::new().work("design.generations", &body, None);
        let output = made(&stand.worker("http", settings), work)
            .await
            .expect("five");
        assert_eq!(output.made, 5);
        let asked: Vec<u64> = stand.asked("POST")[before..]
            .iter()
            .map(|one| one.json()["n"].as_u64().unwrap_or(0))
            .collect();
        assert_eq!(asked, counts);
    }
}

/// The result of some vendors has a page of its own.
#[tokio::test]
async fn a_result_is_fetched_where_another_call_has_it() {
    let polls = AtomicUsize::new(0);
    let stand = Stand::new(move |seen| match &*seen.line {
        "POST /v1/generations" => answer(&json!({"id": 7})),
        "GET /v1/generations/7" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&json!({"state": "3", "share": 0.25})),
            _ => answer(&json!({"state": 4, "file_id": "f 1"})),
        },
        "POST /v1/files/retrieve" => answer(
            &json!({"inner": json!({"urls": [seen.here("/film.mp4")]}).to_string(),
            "spent": ["0.5", 1]}),
        ),
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        "DELETE /v1/generations/7" => answer(&json!({})),
        _ => Reply::Cut,
    });
    let mut settings = described("luma");
    settings["calls"]["video"]["state"] =
        json!({"at": "/state", "words": {"3": "running", "4": "done"}});
    settings["calls"]["video"]["progress"] = json!({"at": "/share", "whole": 1});
    settings["calls"]["video"]["fetch"] = json!({"task": {"file": "/file_id"},
        "request": {"path": "files/retrieve", "json": {"task": "{{task.id}}", "file": "{{task.file}}"}}});
    settings["calls"]["video"]["result"] = json!({"files": [{"at": "/inner/urls/*"}], "cost": {"at": "/spent/*", "times": 2, "currency": "credits"}});
    settings["calls"]["video"]["cancel"] =
        json!({"method": "DELETE", "path": "generations/{{task.id}}"});
    settings["recorded"] = json!([
        {"call": "video", "to": "submit", "body": {"id": 7}, "means": {"task": {"id": 7}}},
        {"call": "video", "to": "poll", "body": {"state": 4, "file_id": "f"}, "means": {"state": "fetch", "task": {"file": "f"}}},
        {"call": "video", "to": "poll", "body": {"state": 4}, "means": {"class": "gone"}},
        {"call": "video", "to": "fetch", "body": {"inner": "{\"urls\":[\"https://a.example/1.mp4\"]}", "spent": [1]}, "means": {"state": "done", "files": 1, "cost": {"amount": 2, "currency": "credits"}}},
    ]);
    let worker = stand.worker("http", settings);
    let body = json!({"prompt": "a wave", "video_length": "10"});
    let (work, _) = Studio::new().work("clipgen.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    assert_eq!(paper["tasks"][0]["id"], 7, "a number stays one");
    let output = polled(&worker, &work, &paper).await.expect("a film");
    assert_eq!(output.files[0].media_type, "video/mp4");
    let cost = output.cost.expect("a cost");
    assert_eq!((cost.micros, cost.currency), (3_000_000, "credits"));
    assert!(work.progress.get() >= 25);
    let fetched = &stand.asked("retrieve")[0];
    assert_eq!(fetched.json(), json!({"task": 7, "file": "f 1"}));
    worker.cancel(&paper).await;
    assert_eq!(stand.asked("DELETE").len(), 1);
}

#[tokio::test]
async fn a_lost_order_is_repeated_under_its_key_or_searched_for() {
    let (stand, studio) = (drawing(), Studio::new());
    let mut settings = simple(&json!({"prompt": "{{prompt}}"}));
    settings["calls"]["draw"]["submit"]["headers"] = json!({"idempotency-key": "{{attempt}}"});
    for (lost, way) in [
        (json!({"by": "unknown"}), LostSubmit::Unknown),
        (json!({"by": "repeat"}), LostSubmit::Repeat),
        (json!({"by": "key"}), LostSubmit::LookUp),
    ] {
        settings["lost"] = lost;
        let worker = stand.worker("http", settings.clone());
        assert_eq!(worker.lost_submit(), way);
        let before = stand.asked("POST").len();
        let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "draw a fox"}), None);
        let found = worker.look_up(&work, true).await.expect("an answer");
        let repeated = matches!(found, Some(StartOutcome::Done(_)));
        assert_eq!(repeated, settings["lost"]["by"] == "key");
        if repeated {
            let key = format!("idempotency-key: {}-0", work.attempt_id);
            assert!(stand.asked("POST")[before].head.contains(&key));
        }
    }
    let (stand, body) = (
        Stand::new(|seen| match &*seen.line {
            line if line.contains("external_task_ids=") => {
                answer(&json!({"code": 0, "data": [{"id": "t9"}]}))
            }
            _ => Reply::Cut,
        }),
        json!({"prompt": "a wave", "video_length": "10"}),
    );
    let worker = stand.worker("http", described("kling"));
    assert_eq!(worker.lost_submit(), LostSubmit::LookUp);
    let (work, _) = studio.work("clipgen.generations", &body, None);
    let found = worker.look_up(&work, true).await.expect("an answer");
    let Some(StartOutcome::Ticket(paper)) = found else {
        panic!("it is found");
    };
    assert_eq!(paper["tasks"][0]["id"], "t9");
    let asked = &stand.asked("external_task_ids")[0].line;
    assert!(asked.contains(&format!("{}-0", work.attempt_id)), "{asked}");
}

/// How long to wait is read from the document as well.
#[tokio::test]
async fn a_vendor_is_left_alone_for_as_long_as_its_document_says() {
    let settings = with(
        simple(&json!({"prompt": "{{prompt}}"})),
        "/retry_after",
        json!({"at": "/error/retry_ms", "unit": "milliseconds"}),
    );
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw a fox"}), None);
    for (ms, seconds) in [
        (json!(2500), 2.5),
        (json!("90000"), 90.0),
        (json!(1e12), 86_400.0),
    ] {
        let reply = status(
            429,
            &json!({"error": {"message": "slow down", "retry_ms": ms}}),
        );
        let stand = Stand::always(reply);
        let fault = made(&stand.worker("http", settings.clone()), work.clone())
            .await
            .expect_err("a rate");
        let after = fault.after.map(|after| after.as_secs_f64());
        assert_eq!((fault.class, after), (Class::Rate, Some(seconds)));
    }
}

/// What the vendor is called in a caller's words, and what no word is known for.
#[tokio::test]
async fn words_are_looked_up_in_tables() {
    let mut settings = simple(&json!({"shape": "{{map.shape}}", "fine": "{{map.fine}}"}));
    settings["maps"] = json!({"shape": {"of": "ratio", "to": {"16:9": "landscape", "1:1": "square"}, "other": "tall"},
        "fine": {"of": "quality", "to": {"high": 9}}});
    settings["models"]["imgmodel.generations"] =
        json!({"call": "draw", "ratios": ["16:9", "1:1", "2:3"]});
    let stand = drawing();
    let worker = stand.worker("http", settings);
    for (body, sent) in [
        (
            json!({"prompt": "x", "model": "image-1", "size": "1536x1024", "quality": "high"}),
            json!({"shape": "landscape", "fine": 9}),
        ),
        (
            json!({"prompt": "x", "model": "image-1", "size": "1024x1024", "quality": "low"}),
            json!({"shape": "square"}),
        ),
        (
            json!({"prompt": "x", "model": "image-1", "size": "1024x1536"}),
            json!({"shape": "tall"}),
        ),
    ] {
        let (work, _) = Studio::new().work("imgmodel.generations", &body, None);
        made(&worker, work).await.expect("a picture");
        let seen = stand.seen();
        let asked = seen.iter().rev().find(|one| one.line.starts_with("POST"));
        assert_eq!(asked.expect("an order").json(), sent);
    }
}
