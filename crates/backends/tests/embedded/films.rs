//! Videos: length, size, start and end frames, loops, extensions, marks, characters.

use atelier_contract::{FaultKind, FileRole, Job};
use atelier_media::{
    Picture, VideoInfo, encode_video, first_frame, frame_at, last_frame, video_info,
};
use serde_json::json;

use crate::measure;
use crate::probe;
use crate::studio::{Studio, difference, photo};

needs!(
    proofs:
    vidgen_marks_its_videos_and_takes_the_mark_off_again,
    the_span_chooses_the_frames_and_a_character_comes_again_by_its_looks,
    a_video_with_references_begins_with_the_first_and_loses_its_mark_too,
    clips_and_partner_videos_have_the_asked_length_and_size,
);

fn facts(studio: &Studio, job: &Job, index: usize) -> VideoInfo {
    let file = job.file(index).expect("a video");
    assert_eq!(file.media_type, "video/mp4");
    let info = video_info(&studio.read(&file.key)).expect("an MP4");
    assert_eq!((info.width, info.height), (file.width, file.height));
    probe::agrees(
        &format!("{} {}", job.operation, file.key),
        &studio.read(&file.key),
        &info,
    );
    info
}

fn first(studio: &Studio, job: &Job, index: usize) -> Picture {
    first_frame(&studio.read(&job.file(index).expect("a video").key)).expect("a frame")
}

fn last(studio: &Studio, job: &Job, index: usize) -> Picture {
    last_frame(&studio.read(&job.file(index).expect("a video").key)).expect("a frame")
}

#[tokio::test]
async fn artgen_videos_begin_with_their_frame_and_move_as_asked() {
    let studio = Studio::new();
    let start = photo(320, 240, 130);
    let url = studio.host("start.png", &start);
    let mut moved = Vec::new();
    for manual in ["low", "high"] {
        let body = json!({ "prompt": "slowly", "imageUrl": url, "manual": manual, "bs": 2 });
        let job = studio.finish("artgen.video.submit", &body, None).await;
        assert_eq!(job.files(FileRole::Main).count(), 2);
        assert_eq!(job.output().expect("an output").made, 2);
        let info = facts(&studio, &job, 0);
        assert!((info.duration - 5.0).abs() < 0.01, "{info:?}");
        assert!(info.width > info.height);
        let begun = first(&studio, &job, 0);
        let given = start.covering(info.width, info.height);
        assert!(difference(&begun, &given) < 6.0);
        let ended = last(&studio, &job, 0);
        assert!(difference(&ended, &last(&studio, &job, 1)) > 0.3);
        moved.push(difference(&begun, &ended));
    }
    assert!(moved[0] > 0.3 && moved[1] > moved[0] * 1.3, "{moved:?}");
}

#[tokio::test]
async fn an_end_frame_is_where_a_video_ends_and_an_extension_begins_there() {
    let studio = Studio::new();
    let end = photo(240, 240, 20);
    let body = json!({
        "prompt": "a change", "imageUrl": studio.host("a.png", &photo(240, 240, 230)),
        "endingUrl": studio.host("b.png", &end), "bs": 1,
    });
    let job = studio.finish("artgen.video.submit", &body, None).await;
    let ended = last(&studio, &job, 0);
    assert!(difference(&ended, &end.covering(ended.width, ended.height)) < 6.0);

    let body = json!({ "jobId": job.id, "index": 0, "bs": 1 });
    let more = studio
        .finish("artgen.video.extend", &body, Some(&job))
        .await;
    let info = facts(&studio, &more, 0);
    assert!((info.duration - 5.0).abs() < 0.01);
    assert_eq!((info.width, info.height), (ended.width, ended.height));
    assert!(difference(&first(&studio, &more, 0), &ended) < 6.0);
}

#[tokio::test]
async fn a_loop_of_motion_meets_its_beginning_and_has_covers() {
    let studio = Studio::new();
    let body = json!({
        "userPrompt": "a boat on the sea", "loop": true, "aspectRatio": "1:1",
        "imageUrl": studio.host("boat.png", &photo(300, 300, 70)),
    });
    let job = studio.finish("motion.generations", &body, None).await;
    let info = facts(&studio, &job, 0);
    assert_eq!((info.width, info.height), (960, 960));
    let begun = first(&studio, &job, 0);
    assert!(difference(&begun, &last(&studio, &job, 0)) < 3.0);
    for role in [FileRole::FirstFrame, FileRole::LastFrame] {
        assert_eq!(job.files(role).count(), 1);
        assert!(difference(&studio.picture(&job, role, 0), &begun) < 6.0);
    }
    let body = json!({ "jobId": job.id, "userPrompt": "further" });
    let more = studio.finish("motion.extend", &body, Some(&job)).await;
    assert!(difference(&first(&studio, &more, 0), &last(&studio, &job, 0)) < 6.0);
}

#[tokio::test]
async fn a_scene_of_motion_moves() {
    let studio = Studio::new();
    let body = json!({ "userPrompt": "waves on a beach", "aspectRatio": "16:9" });
    let job = studio.finish("motion.generations", &body, None).await;
    let info = facts(&studio, &job, 0);
    assert_eq!((info.width, info.height, info.frames), (1280, 720, 120));
    assert!(difference(&first(&studio, &job, 0), &last(&studio, &job, 0)) > 1.0);
}

/// How much a frame changes from pixel to pixel, on average: what an eye sees of its detail.
fn detail(frame: &Picture) -> f64 {
    let grey = |x: u32, y: u32| {
        let [r, g, b, _] = frame.pixel(x, y).map(f64::from);
        0.3 * r + 0.59 * g + 0.11 * b
    };
    let mut sum = 0.0;
    for y in 1..frame.height - 1 {
        for x in 1..frame.width - 1 {
            let around = grey(x - 1, y) + grey(x + 1, y) + grey(x, y - 1) + grey(x, y + 1);
            sum += (4.0 * grey(x, y) - around).abs();
        }
    }
    sum / f64::from((frame.width - 2) * (frame.height - 2))
}

/// The promise: `large` costs more and shows it, at the same dimensions, also once its mark is off.
#[tokio::test]
async fn a_large_video_has_more_detail_and_a_higher_bit_rate_than_a_small_one() {
    let studio = Studio::new();
    let mut made = Vec::new();
    for size in ["small", "large"] {
        let body =
            json!({ "model": "video-2-pro", "prompt": "a red fox in a meadow", "size": size });
        let (mut work, job) = studio.work("vidgen.generations", &body, None);
        // The same scene, as short and small as shows the difference.
        work.brief.seed = Some(7);
        (work.brief.seconds, work.brief.width, work.brief.height) = (1, 512, 896);
        let film = studio.make(work).await.expect("a video");
        let film = studio.settle(job, film);
        assert_eq!(facts(&studio, &film, 0).frames, 24);
        made.push(film);
    }
    let bytes = |job: &Job| studio.read(&job.file(0).expect("a video").key);
    let seen = |job: &Job| detail(&frame_at(&bytes(job), 0.5).expect("a frame"));
    let (small, large) = (&made[0], &made[1]);
    let (few, many) = (bytes(small).len(), bytes(large).len());
    let (coarse, fine) = (seen(small), seen(large));
    assert!(many * 2 > few * 3, "{few} bytes and {many}");
    assert!(fine > coarse * 1.2, "detail {coarse:.2} and {fine:.2}");
    let given = studio.host_bytes("large.mp4", bytes(large));
    for (body, parent) in [
        (json!({ "jobId": large.id }), Some(large)),
        (json!({ "url": given }), None),
    ] {
        let plain = studio.finish("vidgen.no_watermark", &body, parent).await;
        let kept = bytes(&plain).len();
        assert!(
            kept * 2 > few * 3,
            "{few} bytes and {kept} without the mark"
        );
    }
}

/// The lower right corner, where the mark is.
fn corner(picture: &Picture) -> Picture {
    let (width, height) = (picture.width / 3, picture.height / 16);
    let (x, y) = (picture.width - width, picture.height - height);
    picture.cropped(i64::from(x), i64::from(y), width, height)
}

/// Video without its mark, a character of it, and a later video with that character.
async fn vidgen_marks_its_videos_and_takes_the_mark_off_again() {
    let studio = Studio::new();
    let body = json!({ "model": "video-2", "prompt": "a red fox in a meadow", "duration": 10 });
    let marked = studio.finish("vidgen.generations", &body, None).await;
    let info = facts(&studio, &marked, 0);
    assert_eq!((info.width, info.height), (720, 1280));
    assert!((info.duration - 10.0).abs() < 0.01);
    let with = first(&studio, &marked, 0);
    let given = studio.host_bytes(
        "marked.mp4",
        studio.read(&marked.file(0).expect("a file").key),
    );
    for (body, parent) in [
        (json!({ "jobId": marked.id }), Some(&marked)),
        (json!({ "url": given }), None),
    ] {
        let plain = studio.finish("vidgen.no_watermark", &body, parent).await;
        assert!((facts(&studio, &plain, 0).duration - 10.0).abs() < 0.01);
        let without = first(&studio, &plain, 0);
        assert!(difference(&corner(&with), &corner(&without)) > 0.8);
        assert!(difference(&with, &without) < 1.5);
    }

    let body = json!({ "url": given, "timestamps": "0,2" });
    let character = studio.finish("vidgen.characters", &body, None).await;
    let alias = character
        .output()
        .expect("an output")
        .alias
        .clone()
        .expect("a name");
    assert!(alias.starts_with("fox_"), "{alias}");
    drop(studio.picture(&character, FileRole::Main, 0));
    let body =
        json!({ "model": "video-2", "prompt": format!("@{alias} on a beach"), "duration": 10 });
    let (work, job) = studio.work_citing("vidgen.generations", &body, None, &[character]);
    let made = studio.make(work).await.expect("made");
    let notes = studio
        .settle(job, made)
        .output()
        .expect("an output")
        .notes
        .value()
        .to_string();
    assert!(notes.contains("\"name\":\"fox\""), "no fox in {notes}");
    assert!(
        notes.contains("\"look\":"),
        "it does not look the same: {notes}"
    );
}

/// A clip that was made elsewhere (it has no label): blue first, then a magenta disc on white.
fn foreign_clip() -> Vec<u8> {
    let blue = Picture::filled(160, 160, [30, 60, 200, 255]);
    let disc = Picture::drawn(160, 160, |x, y| {
        let near = (x as f32 - 80.0).hypot(y as f32 - 84.0) < 46.0;
        if near {
            [214, 44, 150, 255]
        } else {
            [240, 240, 236, 255]
        }
    });
    let frame = |n: u32| if n < 48 { blue.clone() } else { disc.clone() };
    encode_video(&mut (0..96).map(frame), 24).expect("a clip")
}

fn magenta(picture: &Picture) -> usize {
    measure::count(picture, measure::is_magenta)
}

async fn the_span_chooses_the_frames_and_a_character_comes_again_by_its_looks() {
    let studio = Studio::new();
    let url = studio.host_bytes("foreign.mp4", foreign_clip().into());
    let mut shown = Vec::new();
    let mut made = Vec::new();
    for span in ["0,1", "2.5,3.5"] {
        let body = json!({ "url": url, "timestamps": span });
        let character = studio.finish("vidgen.characters", &body, None).await;
        shown.push(magenta(&studio.picture(&character, FileRole::Main, 0)));
        made.push(character);
    }
    assert!(shown[0] == 0 && shown[1] > 2000, "{shown:?}");
    let character = made.remove(1);
    let alias = character.output().and_then(|output| output.alias.clone());
    let alias = alias.expect("a name");
    let prompt = format!("@{alias} in a green meadow at noon");
    let body = json!({ "model": "video-2", "prompt": prompt, "duration": 10 });
    let cited = std::slice::from_ref(&character);
    let (work, job) = studio.work_citing("vidgen.generations", &body, None, cited);
    let film = studio.settle(job, studio.make(work).await.expect("made"));
    let seen = magenta(&first(&studio, &film, 0));
    assert!(seen > 8000, "the disc is not seen again: {seen}");
}

async fn a_video_with_references_begins_with_the_first_and_loses_its_mark_too() {
    let studio = Studio::new();
    let reference = photo(200, 300, 180);
    let body = json!({
        "model": "video-2", "prompt": "a castle", "duration": 10,
        "referImages": [studio.host("reference.png", &reference)],
    });
    let marked = studio.finish("vidgen.generations", &body, None).await;
    let with = first(&studio, &marked, 0);
    let given = reference.covering(with.width, with.height);
    assert!(difference(&with, &given) < 8.0);
    let plain = studio
        .finish(
            "vidgen.no_watermark",
            &json!({ "jobId": marked.id }),
            Some(&marked),
        )
        .await;
    assert!(difference(&first(&studio, &plain, 0), &given) < 8.0);
}

#[tokio::test]
async fn a_foreign_video_cannot_lose_a_mark_and_says_so() {
    let studio = Studio::new();
    let url = studio.host_bytes("foreign.mp4", vec![0; 500].into());
    let (work, _) = studio.work("vidgen.no_watermark", &json!({ "url": url }), None);
    let fault = studio.make(work).await.expect_err("unreadable");
    assert!(fault.job_message().contains("url: "), "{fault:?}");
}

async fn clips_and_partner_videos_have_the_asked_length_and_size() {
    let studio = Studio::new();
    let body = json!({ "prompt": "a river", "video_length": "11", "aspect_ratio": "1:1" });
    let clip = studio.finish("clipgen.generations", &body, None).await;
    let info = facts(&studio, &clip, 0);
    assert!((info.duration - 11.0).abs() < 0.01 && info.width == 720 && info.height == 720);
    let body = json!({ "prompt": "a river", "seconds": 4, "size": "1280x720" });
    let film = studio
        .finish("vidgen_partner.generations", &body, None)
        .await;
    let info = facts(&studio, &film, 0);
    assert!((info.duration - 4.0).abs() < 0.01 && info.width == 1280);
}

#[tokio::test]
async fn cancelling_a_video_stops_it_between_frames() {
    let studio = Studio::new();
    let body = json!({ "prompt": "a city", "video_length": "30" });
    let (work, _) = studio.work("clipgen.generations", &body, None);
    let (cancelled, gauge) = (work.cancelled.clone(), work.progress.clone());
    let stop = async {
        while gauge.get() == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        cancelled.cancel();
    };
    let (outcome, ()) = tokio::join!(studio.make(work), stop);
    assert_eq!(outcome.expect_err("cancelled").kind, FaultKind::Cancelled);
    assert!(gauge.get() < 50, "{} percent", gauge.get());
}
