//! The whole artgen story as a caller lives it: imagine, follow-ups, history, and quota that is right at every step.

use std::time::Duration;

use atelier_media::{Encoding, Limits, Picture, decode, encode};
use base64::Engine as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Account, Gateway, send};

needs!(proofs: every_follow_up_returns_a_real_picture_and_the_history_lists_them);

const GRANTED: u32 = 1000;
const PATIENCE: Duration = Duration::from_mins(2);

/// A caller that checks the ledger at every look.
struct Story {
    gateway: Gateway,
    account: Account,
    spent: f64,
}

impl Story {
    async fn begin() -> Self {
        let gateway = Gateway::spawn().await;
        let account = gateway.account(GRANTED).await;
        Self {
            gateway,
            account,
            spent: 0.0,
        }
    }

    async fn submit(&self, path: &str, body: Value) -> String {
        let answer = self.gateway.post(&self.account.key, path, body).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.json);
        self.check_books().await;
        answer.json["data"]["jobId"]
            .as_str()
            .expect("a job id")
            .to_owned()
    }

    async fn fetch(&self, id: &str) -> Value {
        let body = json!({ "jobId": id });
        let answer = self
            .gateway
            .post(&self.account.key, "/artgen/v1/fetch", body)
            .await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        answer.json
    }

    /// Waits for the end and notes what it cost.
    async fn finish(&mut self, id: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let job = self.fetch(id).await;
            match job["status"].as_str() {
                Some("SUCCESS") => {
                    self.spent += job["quota"].as_f64().expect("a number");
                    self.check_books().await;
                    return job;
                }
                Some("FAILED") => panic!("{job}"),
                _ => assert!(Instant::now() < deadline, "{job}"),
            }
            self.check_books().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn made(&mut self, path: &str, body: Value) -> Value {
        let id = self.submit(path, body).await;
        self.finish(&id).await
    }

    async fn act(&mut self, parent: &Value, action: &str) -> Value {
        self.made(
            "/artgen/v1/action",
            json!({ "jobId": parent["jobId"], "action": action }),
        )
        .await
    }

    /// All that was granted is free, held or spent, after every movement there ever was; and what the account shows
    /// is the state after one of the movements. Counted in thousandths, so nothing is rounded away.
    async fn check_books(&self) {
        let key = &self.account.key;
        let (free, held) = self.gateway.balance(key).await;
        let ledger = self.gateway.get(key, "/account/v1/ledger?limit=100").await;
        let rows = ledger.json["data"].as_array().expect("rows");
        assert!(rows.len() < 100, "one page holds the story");
        let (mut spent, mut shown) = (0, false);
        for row in rows.iter().rev() {
            let amount = |name: &str| thousandths(row[name].as_f64().expect("an amount"));
            if row["kind"] == "capture" {
                spent += amount("amount");
            }
            let (balance, frozen) = (amount("balance"), amount("freezeBalance"));
            assert!(balance >= 0 && frozen >= 0, "{row}");
            assert_eq!(
                balance + frozen + spent,
                thousandths(GRANTED.into()),
                "{row}"
            );
            shown |= (balance, frozen) == (thousandths(free), thousandths(held));
        }
        assert!(
            shown,
            "{free} and {held} are not the state after any movement"
        );
        assert!(
            spent >= thousandths(self.spent),
            "{spent} of {}",
            self.spent
        );
    }

    /// At the end nothing is held, and what the jobs say they cost is what is gone.
    async fn close_books(&self) {
        self.check_books().await;
        let (free, held) = self.gateway.balance(&self.account.key).await;
        let (free, held) = (thousandths(free), thousandths(held));
        assert_eq!(held, 0, "something is held");
        assert_eq!(free + thousandths(self.spent), thousandths(GRANTED.into()));
    }

    /// Pages through the history, oldest first.
    async fn lists(&self, ids: &[Value]) {
        let mut listed = Vec::new();
        for page in 1.. {
            let path = format!("/artgen/v1/fetch-list?limit=5&page={page}&order=asc");
            let answer = self.gateway.get(&self.account.key, &path).await;
            let items = answer.json["data"].as_array().expect("a list").clone();
            assert_eq!(answer.json["total"], ids.len());
            if items.is_empty() {
                break;
            }
            listed.extend(items.iter().map(|item| item["job_id"].clone()));
        }
        assert_eq!(listed, ids);
    }

    /// Downloads a picture and decodes it.
    async fn picture(&self, url: &Value) -> Picture {
        let url = url.as_str().expect("an address");
        let path = url
            .strip_prefix(&self.gateway.base_url)
            .expect("an address of this service");
        let answer = send(self.gateway.request(reqwest::Method::GET, path)).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        assert_eq!(answer.header("content-type"), "image/png");
        decode(&answer.bytes, Limits::default()).expect("a picture")
    }
}

fn thousandths(amount: f64) -> i64 {
    (amount * 1000.0).round() as i64
}

fn size(job: &Value) -> (u32, u32) {
    let side = |name: &str| job["data"][name].as_u64().expect("a size") as u32;
    (side("width"), side("height"))
}

fn base64_png(picture: &Picture) -> String {
    base64::engine::general_purpose::STANDARD.encode(encode(picture, Encoding::Png, None))
}

#[tokio::test]
async fn imagine_gives_a_grid_and_four_pictures_that_differ() {
    let mut story = Story::begin().await;
    let body = json!({
        "prompt": "a red fox in the snow --ar 3:2 --seed 7 [[delay 1500ms]]",
        "getUImages": true,
        "mode": "turbo",
    });
    let id = story.submit("/artgen/v1/imagine", body).await;
    let mut seen = Vec::new();
    let job = loop {
        let job = story.fetch(&id).await;
        match job["status"].as_str().expect("a status") {
            "SUCCESS" => break job,
            word @ ("PENDING_QUEUE" | "ON_QUEUE") => {
                assert_eq!(
                    (&job["originImage"], &job["images"], &job["quota"]),
                    (&Value::Null, &Value::Null, &json!(0))
                );
                let progress: u8 = job["progress"]
                    .as_str()
                    .expect("text")
                    .parse()
                    .expect("a number");
                seen.push((word.to_owned(), progress));
            }
            other => panic!("{other}: {job}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let steps: Vec<u8> = seen.iter().map(|(_, progress)| *progress).collect();
    assert!(
        steps.is_sorted() && steps.first() < steps.last(),
        "progress rises: {steps:?}"
    );
    story.spent += job["quota"].as_f64().expect("a number");
    assert_eq!(job["quota"], 6, "turbo");
    assert_eq!(job["progress"], "100");
    assert_eq!(job["data"]["seed"], "7");
    let offered = job["data"]["components"].as_array().expect("components");
    assert_eq!(offered.len(), 9, "{offered:?}");

    let grid = story.picture(&job["originImage"]).await;
    assert_eq!((grid.width, grid.height), size(&job));
    assert_eq!(grid, story.picture(&job["cdnImage"]).await);
    let ratio = f64::from(grid.width) / f64::from(grid.height);
    assert!((ratio - 1.5).abs() < 0.05, "--ar 3:2 gives {ratio}");
    let urls = job["images"].as_array().expect("four").clone();
    assert_eq!(urls.len(), 4);
    let mut pictures = Vec::new();
    for url in &urls {
        let picture = story.picture(url).await;
        assert!(
            pictures
                .iter()
                .all(|other: &Picture| other.rgba != picture.rgba),
            "four different pictures"
        );
        pictures.push(picture);
    }

    let large = story.act(&job, "upsample2").await;
    let picture = story.picture(&large["originImage"]).await;
    let small = pictures[1].resized(96, 64);
    let again = picture.resized(96, 64);
    assert!(
        difference(&small, &again) < 20.0,
        "upsample2 shows the second picture"
    );
    assert_eq!(large["images"], json!([]));
    assert_eq!(large["quota"], 2);
    story.close_books().await;
}

/// Mean difference of two pictures of one size, per channel.
fn difference(one: &Picture, other: &Picture) -> f64 {
    let sum: u64 = one
        .rgba
        .iter()
        .zip(&other.rgba)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    sum as f64 / one.rgba.len() as f64
}

async fn every_follow_up_returns_a_real_picture_and_the_history_lists_them() {
    let mut story = Story::begin().await;
    let grid = story
        .made(
            "/artgen/v1/imagine",
            json!({ "prompt": "a lighthouse at dawn --ar 3:2" }),
        )
        .await;
    let single = story.act(&grid, "upsample1").await;
    let mut ids = vec![grid["jobId"].clone(), single["jobId"].clone()];
    for (parent, action) in [
        (&grid, "variation3"),
        (&grid, "reroll"),
        (&single, "low_variation"),
        (&single, "high_variation"),
        (&single, "zoom_out_2"),
        (&single, "zoom_out_1_5"),
        (&single, "pan_left"),
        (&single, "pan_up"),
        (&single, "make_square"),
    ] {
        let job = story.act(parent, action).await;
        let picture = story.picture(&job["originImage"]).await;
        assert_eq!((picture.width, picture.height), size(&job), "{action}");
        assert_eq!(job["data"]["action"], action);
        ids.push(job["jobId"].clone());
    }

    let (width, height) = size(&single);
    let mut mask = Picture::filled(width, height, [0, 0, 0, 255]);
    for y in height / 4..height / 2 {
        for x in width / 4..width / 2 {
            mask.set(x, y, [255, 255, 255, 255]);
        }
    }
    let body = json!({ "jobId": single["jobId"], "mask": base64_png(&mask), "prompt": "a hot air balloon" });
    let repainted = story.made("/artgen/v1/inpaint", body).await;
    let picture = story.picture(&repainted["originImage"]).await;
    assert_eq!((picture.width, picture.height), size(&repainted));
    ids.push(repainted["jobId"].clone());
    let wrong = Picture::filled(width + 1, height, [255; 4]);
    let body = json!({ "jobId": single["jobId"], "mask": base64_png(&wrong), "prompt": "x" });
    let refused = story
        .gateway
        .post(&story.account.key, "/artgen/v1/inpaint", body)
        .await;
    refused.assert_refused(400, "invalid_parameter");
    assert_eq!(refused.json["param"], "mask");

    let asked = story
        .made("/artgen/v1/seed", json!({ "jobId": grid["jobId"] }))
        .await;
    let seed = asked["data"]["seed"].as_str().expect("a seed");
    assert!(seed.parse::<u64>().is_ok(), "{seed}");
    assert_eq!(asked["quota"], 0);
    ids.push(asked["jobId"].clone());

    story.lists(&ids).await;
    let (free, held) = story.gateway.balance(&story.account.key).await;
    assert!(
        (free + story.spent - f64::from(GRANTED)).abs() < 0.0005,
        "{free} and {}",
        story.spent
    );
    assert!(held.abs() < 0.0005);
}

#[tokio::test]
async fn pictures_of_the_caller_are_blended_and_described() {
    let mut story = Story::begin().await;
    let data_uri = |colour: [u8; 4]| {
        format!(
            "data:image/png;base64,{}",
            base64_png(&Picture::filled(96, 64, colour))
        )
    };
    let colours = [
        [200, 30, 30, 255],
        [30, 200, 30, 255],
        [30, 30, 200, 255],
        [200, 200, 30, 255],
        [90, 90, 90, 255],
    ];
    for count in [2, 5] {
        let images: Vec<String> = colours
            .iter()
            .take(count)
            .map(|colour| data_uri(*colour))
            .collect();
        let job = story
            .made(
                "/artgen/v1/blend",
                json!({ "imgBase64Array": images, "dimensions": "LANDSCAPE" }),
            )
            .await;
        let picture = story.picture(&job["originImage"]).await;
        assert_eq!((picture.width, picture.height), size(&job));
        assert!(picture.width > picture.height);
    }
    let job = story
        .made(
            "/artgen/v1/describe",
            json!({ "base64": data_uri([200, 30, 30, 255]) }),
        )
        .await;
    let prompts = job["data"]["prompts"].as_array().expect("prompts").clone();
    assert_eq!(prompts.len(), 4);
    let joined: Vec<&str> = prompts
        .iter()
        .map(|prompt| prompt.as_str().expect("text"))
        .collect();
    assert_eq!(job["data"]["prompt"], joined.join("\n"));
    let unique: std::collections::HashSet<_> = joined.iter().collect();
    assert_eq!(unique.len(), 4, "{joined:?}");
}
