//! Clips: playable, of the exact length and readable again.

use std::process::Command;

use atelier_media::{
    Label, VideoError, encode_video, first_frame, label_video, last_frame, video_info,
};

#[path = "shared/moving_disc.rs"]
mod moving_disc;

use moving_disc::{difference, disc};

fn clip(width: u32, height: u32, frames: u32, fps: u32) -> Vec<u8> {
    let mut drawn = (0..frames).map(|n| disc(width, height, n as f32 / frames as f32));
    encode_video(&mut drawn, fps).expect("frames encode")
}

#[test]
fn a_clip_has_the_size_rate_and_exact_duration_asked_for() {
    for (width, height, frames, fps) in [
        (320, 180, 60, 24),
        (64, 64, 1, 24),
        (180, 320, 50, 25),
        (128, 96, 61, 30),
    ] {
        let bytes = clip(width, height, frames, fps);
        let info = video_info(&bytes).expect("own clips are read");
        assert_eq!(
            (info.width, info.height, info.frames),
            (width, height, frames)
        );
        assert!((info.duration - f64::from(frames) / f64::from(fps)).abs() < 1e-9);
        assert!((info.fps - f64::from(fps)).abs() < 1e-9);
    }
}

#[test]
fn the_index_comes_before_the_data() {
    let bytes = clip(64, 64, 4, 24);
    let place = |name: &[u8]| bytes.windows(4).position(|four| four == name);
    assert!(place(b"moov") < place(b"mdat"));
}

#[test]
fn odd_sizes_lose_their_last_row_and_column() {
    let info = video_info(&clip(101, 75, 3, 12)).expect("own clips are read");
    assert_eq!((info.width, info.height), (100, 74));
}

#[test]
fn the_first_and_last_frame_come_back() {
    let (width, height, frames) = (320, 180, 130);
    let bytes = clip(width, height, frames, 24);
    let first = first_frame(&bytes).expect("a first frame");
    let last = last_frame(&bytes).expect("a last frame");
    let off = difference(&first, &disc(width, height, 0.0));
    assert!(off < 5.0, "the first frame is off by {off}");
    let end = (frames - 1) as f32 / frames as f32;
    let off = difference(&last, &disc(width, height, end));
    assert!(off < 5.0, "the last frame is off by {off}");
    assert!(difference(&first, &last) > 5.0);
}

#[test]
fn the_same_frames_give_the_same_bytes() {
    assert_eq!(clip(160, 96, 70, 24), clip(160, 96, 70, 24));
}

#[test]
fn wrong_input_is_told_apart() {
    let none = encode_video(&mut std::iter::empty(), 24);
    assert_eq!(none, Err(VideoError::NoFrames));
    let mut frame = std::iter::once(disc(64, 64, 0.5));
    assert_eq!(encode_video(&mut frame, 0), Err(VideoError::Rate(0)));
    let mut tiny = std::iter::once(disc(8, 8, 0.5));
    assert_eq!(
        encode_video(&mut tiny, 24),
        Err(VideoError::Size {
            width: 8,
            height: 8
        })
    );
    let mut mixed = [disc(64, 64, 0.5), disc(64, 32, 0.5)].into_iter();
    assert_eq!(
        encode_video(&mut mixed, 24),
        Err(VideoError::Size {
            width: 64,
            height: 32
        })
    );
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    let whole = clip(64, 64, 5, 24);
    assert!(video_info(b"").is_err());
    assert!(video_info(b"not a video at all, only words").is_err());
    for end in 0..whole.len().min(900) {
        let _ = video_info(&whole[..end]);
    }
    let mut state = 11_u64;
    for _ in 0..2_000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (state >> 33) as usize % 800;
            bytes[at] = (state >> 50) as u8;
        }
        let _ = video_info(&bytes);
    }
}

#[test]
fn a_label_keeps_the_clip_readable() {
    let mut bytes = clip(64, 64, 5, 24);
    let before = video_info(&bytes);
    let label = Label {
        prompt: "a calm sea".into(),
        engine: "procedural".into(),
        ..Label::default()
    };
    label_video(&mut bytes, &label);
    assert_eq!(video_info(&bytes), before);
    assert!(String::from_utf8_lossy(&bytes).contains("a calm sea"));
    assert!(last_frame(&bytes).is_ok());
}

#[test]
fn ffprobe_agrees_when_it_is_there() {
    let found = Command::new("ffprobe").arg("-version").output().is_ok();
    if !found {
        return;
    }
    let folder = std::env::temp_dir().join(format!("atelier-clip-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for one clip");
    let path = folder.join("clip.mp4");
    std::fs::write(&path, clip(320, 180, 120, 24)).expect("room for one clip");
    let output = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-show_entries"])
        .arg("stream=codec_name,width,height,r_frame_rate,duration,nb_read_frames")
        .args(["-of", "default=noprint_wrappers=1"])
        .arg(&path)
        .output()
        .expect("ffprobe runs");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for line in [
        "codec_name=h264",
        "width=320",
        "height=180",
        "r_frame_rate=24/1",
        "duration=5.000000",
        "nb_read_frames=120",
    ] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
}
