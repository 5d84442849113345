//! Times the work on foreign pictures and clips: `cargo run --release -p atelier-media --example speed`.
//!
//! For each it prints the time on the wall, the time of all processors, and the most memory used so far.

use std::time::Instant;

use atelier_media::{
    CameraMove, Encoding, Limits, Mask, Morph, Picture, blend, cut_out, decode, describe, encode,
    encode_video, fill, last_frame, swap_face, upscale, vectorize,
};

fn scene(width: u32, height: u32, turn: f32) -> Picture {
    Picture::drawn(width, height, |x, y| {
        let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
        let far = (u - 0.5 - 0.1 * turn).hypot((v - 0.45) * height as f32 / width as f32);
        let ripple = ((u * 40.0 + turn).sin() * (v * 30.0).cos() * 12.0) as i32;
        let base = if far < 0.2 {
            [220, 150, 90]
        } else {
            [60 + (u * 90.0) as i32, 110, 190 - (v * 120.0) as i32]
        };
        let [r, g, b] = base.map(|channel| (channel + ripple).clamp(0, 255) as u8);
        [r, g, b, 255]
    })
}

/// Seconds of all processors so far, where the system tells.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|t| t.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

/// The most megabytes in memory so far, where the system tells.
fn peak_megabytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|kb| kb.parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}

#[expect(
    clippy::disallowed_methods,
    reason = "measuring time is what this program is for"
)]
fn time<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), processor_seconds());
    let result = work();
    let wall = start.elapsed().as_secs_f64();
    let line = format!(
        "{name:<46}{:>8.0} ms{:>8.0} ms of processors{:>6} MB\n",
        wall * 1000.0,
        (processor_seconds() - before) * 1000.0,
        peak_megabytes()
    );
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes()).expect("a terminal");
    result
}

fn stills() {
    let limits = Limits::default();
    let picture = scene(1024, 1024, 0.0);
    let png = time("encode PNG 1024x1024", || {
        encode(&picture, Encoding::Png, None)
    });
    let _ = time("decode PNG 1024x1024", || decode(&png, limits));
    let jpeg = time("encode JPEG 1024x1024", || {
        encode(&picture, Encoding::Jpeg { quality: 85 }, None)
    });
    let _ = time("decode JPEG 1024x1024", || decode(&jpeg, limits));
    for quality in [None, Some(80)] {
        let name = format!("encode WebP 1024x1024 quality {quality:?}");
        let _ = time(&name, || encode(&picture, Encoding::Webp { quality }, None));
    }
    let _ = time("resize 1024 to 2048", || picture.resized(2048, 2048));
}

fn foreign() {
    let limits = Limits::default();
    let portrait = decode(include_bytes!("../tests/data/portrait.jpg"), limits).expect("a photo");
    let large = portrait.resized(1024, 1024);
    let _ = time("vectorize 1024x1024 photo", || vectorize(&large));
    let _ = time("cut out 1024x1024 photo", || cut_out(&large));
    let mirrored = Picture::drawn(1024, 1024, |x, y| large.pixel(1023 - x, y));
    let _ = time("swap faces 1024x1024", || swap_face(&large, &mirrored));
    let _ = time("describe 1024x1024", || describe(&large));
    let mask = Mask::rectangle(1024, 1024, [380, 420, 256, 256]);
    let _ = time("fill a sixteenth of 1024x1024", || fill(&large, &mask, 1));
    let canvas = large.padded([256; 4], [0; 4]);
    let _ = time("outpaint 1024 to 1536", || {
        fill(&canvas, &Mask::from_transparent(&canvas), 1)
    });
    let three = [large.clone(), scene(1024, 1024, 0.0), mirrored];
    let _ = time("blend three to 1024x1024", || blend(&three, 1024, 1024, 1));
    let small = portrait.resized(256, 256);
    let _ = time("enlarge 256 to 1024", || upscale(&small, 4, limits));
    let _ = time("enlarge 1024 to 4096", || upscale(&large, 4, limits));
}

fn clips() {
    let (start, end) = (scene(1280, 720, 0.0), scene(1280, 720, 1.0));
    let camera = CameraMove::new(&start, true, 1);
    let clip = time("clip 5 s 1280x720 24 fps, camera move", || {
        encode_video(&mut (0..120).map(|n| camera.at(n as f32 / 119.0)), 24).expect("a clip")
    });
    let _ = time("last frame of it", || last_frame(&clip));
    let morph = time("find the way of a morph 1280x720", || {
        Morph::new(&start, &end)
    });
    let _ = time("clip 5 s 1280x720 24 fps, morph", || {
        encode_video(&mut (0..120).map(|n| morph.at(n as f32 / 119.0)), 24)
    });
}

fn main() {
    stills();
    foreign();
    clips();
}
