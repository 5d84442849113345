//! Times the work on foreign pictures and clips: `cargo run --release -p atelier-media --example speed`.

use std::time::Instant;

use atelier_media::{CameraMove, Encoding, Limits, Morph, Picture, decode, encode, encode_video};

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

fn time<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let line = format!(
        "{name:<44}{:>9.1} ms\n",
        start.elapsed().as_secs_f64() * 1000.0
    );
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes()).expect("a terminal");
    result
}

fn main() {
    let picture = scene(1024, 1024, 0.0);
    let png = time("encode PNG 1024x1024", || {
        encode(&picture, Encoding::Png, None)
    });
    time("decode PNG 1024x1024", || {
        decode(&png, Limits::default()).expect("own PNG")
    });
    let jpeg = time("encode JPEG 1024x1024", || {
        encode(&picture, Encoding::Jpeg { quality: 85 }, None)
    });
    time("decode JPEG 1024x1024", || {
        decode(&jpeg, Limits::default()).expect("own JPEG")
    });
    time("encode WebP 1024x1024 lossless", || {
        encode(&picture, Encoding::Webp { quality: None }, None)
    });
    time("encode WebP 1024x1024 quality 80", || {
        encode(&picture, Encoding::Webp { quality: Some(80) }, None)
    });
    time("resize 1024 to 2048", || picture.resized(2048, 2048));

    let (start, end) = (scene(1280, 720, 0.0), scene(1280, 720, 1.0));
    let camera = CameraMove::new(&start, true, 1);
    time("video 5 s 1280x720 24 fps, camera move", || {
        encode_video(&mut (0..120).map(|n| camera.at(n as f32 / 119.0)), 24).expect("a clip")
    });
    let morph = time("morph 1280x720, find the way", || Morph::new(&start, &end));
    time("video 5 s 1280x720 24 fps, morph", || {
        encode_video(&mut (0..120).map(|n| morph.at(n as f32 / 119.0)), 24).expect("a clip")
    });
}
