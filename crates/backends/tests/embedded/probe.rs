//! What other people's tools say about a video: `ffprobe` about its facts, `ffmpeg` about black and frozen frames.

use std::path::PathBuf;
use std::process::Command;

use atelier_media::VideoInfo;

/// Without the tools only our own reader is asked, except where the whole suite runs: there they must be.
#[expect(
    clippy::disallowed_methods,
    reason = "the suite says by a variable that the tools are there"
)]
fn is_there() -> bool {
    let there = Command::new("ffprobe").arg("-version").output().is_ok();
    assert!(
        there || std::env::var("ATELIER_TEST_FFMPEG").is_err(),
        "ffmpeg is not installed"
    );
    there
}

/// Asserts that the tools play the video, agree with our own facts, and see neither black nor frozen frames.
pub(crate) fn agrees(name: &str, bytes: &[u8], info: &VideoInfo) {
    if !is_there() {
        return;
    }
    let path: PathBuf = std::env::temp_dir().join(format!(
        "atelier-probe-{}-{}.mp4",
        std::process::id(),
        name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    ));
    std::fs::write(&path, bytes).expect("room for a clip");
    let facts = Command::new("ffprobe")
        .args(["-v", "error", "-show_entries"])
        .arg("stream=codec_name,pix_fmt,width,height,r_frame_rate,duration,nb_frames")
        .args(["-of", "default=noprint_wrappers=1"])
        .arg(&path)
        .output()
        .expect("ffprobe runs");
    let looked = Command::new("ffmpeg")
        .args(["-v", "info", "-nostats", "-threads", "1", "-i"])
        .arg(&path)
        .args([
            "-vf",
            "blackdetect=d=0.04:pix_th=0.02,freezedetect=n=0.001:d=0.75",
        ])
        .args(["-f", "null", "-"])
        .output()
        .expect("ffmpeg runs");
    std::fs::remove_file(&path).expect("the clip is ours");
    let (said, complained) = (text(&facts.stdout), text(&facts.stderr));
    assert!(complained.is_empty(), "{name}: {complained}");
    for line in [
        "codec_name=h264".to_owned(),
        "pix_fmt=yuv420p".to_owned(),
        format!("width={}", info.width),
        format!("height={}", info.height),
        "r_frame_rate=24/1".to_owned(),
        format!("duration={:.6}", info.duration),
        format!("nb_frames={}", info.frames),
    ] {
        assert!(said.contains(&line), "{name}: {line} is not in\n{said}");
    }
    let seen = text(&looked.stderr);
    assert!(looked.status.success(), "{name}: {seen}");
    for fault in ["black_start", "freeze_start"] {
        assert!(!seen.contains(fault), "{name}: {fault} in\n{seen}");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
