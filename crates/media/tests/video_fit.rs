//! Clips of others cut and fitted: by our own reader always, and held against ffmpeg where it is installed.

#[path = "shared/moving_disc.rs"]
mod moving_disc;

use std::path::{Path, PathBuf};
use std::process::Command;

use atelier_media::{encode_video, first_frame, fit_video, last_frame, video_info};
use moving_disc::{difference, disc};

fn clip(width: u32, height: u32, count: u32) -> Vec<u8> {
    let mut frames = (0..count).map(|n| disc(width, height, n as f32 / count as f32));
    encode_video(&mut frames, 24).expect("a clip")
}

#[test]
fn a_clip_that_is_as_asked_is_left_alone() {
    let bytes = clip(64, 48, 24);
    assert_eq!(fit_video(&bytes, Some(1.0), None).expect("read"), None);
    assert_eq!(fit_video(&bytes, Some(2.0), None).expect("read"), None);
    assert_eq!(fit_video(&bytes, None, None).expect("read"), None);
}

#[test]
fn a_longer_clip_is_cut_without_touching_its_frames() {
    let bytes = clip(64, 48, 72);
    let cut = fit_video(&bytes, Some(2.0), None)
        .expect("read")
        .expect("cut");
    let info = video_info(&cut).expect("a clip");
    assert_eq!((info.width, info.height, info.frames), (64, 48, 48));
    assert!((info.duration - 2.0).abs() < 0.001, "{info:?}");
    assert_eq!(
        first_frame(&cut).expect("a frame").rgba,
        first_frame(&bytes).expect("a frame").rgba
    );
    assert_eq!(last_frame(&cut).expect("its last frame").width, 64);
}

#[test]
fn a_larger_clip_is_drawn_anew_in_the_size_that_was_asked_for() {
    let bytes = clip(128, 96, 36);
    let fitted = fit_video(&bytes, Some(1.0), Some((64, 64)));
    let fitted = fitted.expect("read").expect("fitted");
    let info = video_info(&fitted).expect("a clip");
    assert_eq!((info.width, info.height, info.frames), (64, 64, 24));
    assert!((info.duration - 1.0).abs() < 0.001, "{info:?}");
    let wanted = first_frame(&bytes).expect("a frame").covering(64, 64);
    let off = difference(&first_frame(&fitted).expect("a frame"), &wanted);
    assert!(off < 8.0, "{off}");
}

#[test]
fn damaged_clips_are_refused_and_never_read_beyond_their_end() {
    let bytes = clip(64, 48, 30);
    for end in (0..bytes.len()).step_by(37) {
        let _ = fit_video(&bytes[..end], Some(0.5), Some((32, 32)));
    }
    for at in (0..900).step_by(3) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x5a;
        let _ = fit_video(&broken, Some(0.5), None);
    }
    assert!(fit_video(b"no clip", Some(1.0), None).is_err());
}

fn run(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().expect(program);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {args:?}: {words}");
    assert!(words.trim().is_empty(), "{program} {args:?}: {words}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// A clip as vendors make them: frames out of order, sound, the index at the end or at the start.
fn foreign(folder: &Path, codec: &[&str], more: &[&str]) -> PathBuf {
    let path = folder.join("foreign.mp4");
    let _ = std::fs::remove_file(&path);
    let mut args = vec![
        "-v",
        "error",
        "-f",
        "lavfi",
        "-i",
        "testsrc2=s=320x192:r=24:d=3",
    ];
    args.extend(["-f", "lavfi", "-i", "sine=f=440:d=3:r=48000", "-c:a", "aac"]);
    args.extend_from_slice(codec);
    args.extend(["-pix_fmt", "yuv420p"]);
    args.extend_from_slice(more);
    args.push(text(&path));
    run("ffmpeg", &args);
    path
}

/// Length of the file, and codec, size, frames that are shown and sound of its tracks.
fn probed(path: &Path) -> (f64, String, usize, f64) {
    let file = text(path);
    let show = |entries: &str, more: &[&str]| {
        let mut args = vec!["-v", "error", "-show_entries", entries, "-of", "csv=p=0"];
        args.extend_from_slice(more);
        args.push(file);
        run("ffprobe", &args).trim().to_owned()
    };
    let length: f64 = show("format=duration", &[]).parse().expect("a length");
    let picture = show("stream=codec_name,width,height", &["-select_streams", "v"]);
    let frames = show("frame=pts_time", &["-select_streams", "v"]);
    let sound = show("stream=duration", &["-select_streams", "a"]);
    (
        length,
        picture,
        frames.lines().count(),
        sound.parse().unwrap_or(0.0),
    )
}

mod ffmpeg {
    #[test]
    #[ignore = "needs ffmpeg"]
    fn clips_of_others_stay_whole_for_other_players() {
        super::clips_of_others_stay_whole_for_other_players();
    }
}

fn clips_of_others_stay_whole_for_other_players() {
    let folder = std::env::temp_dir().join(format!("atelier-fit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let out = folder.join("out.mp4");
    let x264: &[&str] = &[
        "-c:v", "libx264", "-bf", "2", "-g", "48", "-preset", "veryfast",
    ];
    let cases: [(&[&str], &[&str]); 3] = [
        (x264, &["-movflags", "+faststart"]),
        (x264, &[]),
        (&["-c:v", "mpeg4"], &[]),
    ];
    for (codec, more) in cases {
        let bytes = std::fs::read(foreign(&folder, codec, more)).expect("a clip");
        let cut = fit_video(&bytes, Some(2.0), None)
            .expect("read")
            .expect("cut");
        std::fs::write(&out, &cut).expect("written");
        run(
            "ffmpeg",
            &["-v", "error", "-i", text(&out), "-f", "null", "-"],
        );
        let (length, picture, frames, sound) = probed(&out);
        assert!((length - 2.0).abs() < 0.03, "{codec:?} {length}");
        assert!((sound - 2.0).abs() < 0.05, "{codec:?} sound {sound}");
        assert!((48..=50).contains(&frames), "{codec:?} {frames} frames");
        assert!(picture.ends_with(",320,192"), "{picture}");
    }
    let bytes = std::fs::read(foreign(&folder, x264, &[])).expect("a clip");
    let fitted = fit_video(&bytes, Some(2.0), Some((160, 160)));
    let fitted = fitted.expect("H.264 is read").expect("fitted");
    std::fs::write(&out, &fitted).expect("written");
    run(
        "ffmpeg",
        &["-v", "error", "-i", text(&out), "-f", "null", "-"],
    );
    let (length, picture, frames, sound) = probed(&out);
    assert_eq!(picture, "h264,160,160");
    assert!(
        (length - 2.0).abs() < 0.03 && (sound - 2.0).abs() < 0.05,
        "{length} {sound}"
    );
    assert_eq!(frames, 48);
    let other = std::fs::read(foreign(&folder, &["-c:v", "mpeg4"], &[])).expect("a clip");
    assert!(
        fit_video(&other, None, Some((160, 160))).is_err(),
        "no decoder for it"
    );
    let _ = std::fs::remove_dir_all(&folder);
}
