//! The benchmark of the studio: `cargo run --release -p atelier-studio --example speed [NAME]`.
//!
//! For each piece of work it prints the goal, the median time on the wall, half of the least time of all processors
//! (what two idle cores would need if the work were shared evenly), and the most memory while it ran. On a machine
//! that is busy with other things only the second figure says something about the work.

use std::time::Instant;

use atelier_media::{
    Encoding, Limits, Mask, Picture, cut_out, decode, encode, encode_video, header, last_frame,
    swap_face, upscale,
};
use atelier_studio::{
    CameraMove, Film, Morph, Motion, Scene, StyleName, blend, describe, fill, vectorize,
};

#[path = "gallery/prompts.rs"]
mod prompts;

/// What was measured of one piece of work.
struct Measured {
    wall: f64,
    two_cores: f64,
    megabytes: u64,
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

/// The most megabytes in memory since the last reset, where the system tells.
fn peak_megabytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

#[expect(
    clippy::disallowed_methods,
    reason = "measuring time is what this program is for"
)]
fn measured(runs: usize, work: &mut dyn FnMut(usize)) -> Measured {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (mut walls, mut least) = (Vec::new(), f64::MAX);
    for run in 0..runs {
        let (start, before) = (Instant::now(), processor_seconds());
        work(run);
        walls.push(start.elapsed().as_secs_f64() * 1000.0);
        least = least.min((processor_seconds() - before) * 1000.0);
    }
    walls.sort_unstable_by(f64::total_cmp);
    Measured {
        wall: walls[walls.len() / 2],
        two_cores: least / 2.0,
        megabytes: peak_megabytes(),
    }
}

/// Prints a line; the goal is in milliseconds.
fn line(name: &str, goal: Option<u32>, it: &Measured) {
    let goal = goal.map_or(String::new(), |goal| {
        let kept = it.two_cores <= f64::from(goal) || it.wall <= f64::from(goal);
        format!("goal {goal} ms: {}", if kept { "kept" } else { "MISSED" })
    });
    let text = format!(
        "{name:<44}{:>7.0} ms wall{:>7.0} ms on two cores{:>6} MB  {goal}\n",
        it.wall, it.two_cores, it.megabytes
    );
    std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()).expect("a terminal");
}

/// Runs only what was asked for.
struct Bench {
    only: Option<String>,
}

impl Bench {
    fn time(&self, name: &str, goal: Option<u32>, runs: usize, mut work: impl FnMut(usize)) {
        if self.only.as_ref().is_none_or(|only| name.contains(only)) {
            line(name, goal, &measured(runs, &mut work));
        }
    }

    /// Every prompt of the gallery at 1024x1024 with its file, and the median of all.
    fn scenes(&self) {
        let name = "scene 1024x1024 with PNG, p50";
        if self.only.as_ref().is_some_and(|only| !name.contains(only)) {
            return;
        }
        let mut all: Vec<Measured> = Vec::new();
        let lines = prompts::CHAPTERS.iter().flat_map(|(_, lines)| *lines);
        for words in lines.filter(|words| !words.contains("anime: ")) {
            let words = words.split_once(' ').map_or(*words, |(_, words)| words);
            let scene = Scene::from_prompt(words, "", 5);
            all.push(measured(2, &mut |_| filed(&scene, 1024)));
        }
        let middle = |of: fn(&Measured) -> f64| {
            let mut values: Vec<f64> = all.iter().map(of).collect();
            values.sort_unstable_by(f64::total_cmp);
            (values[values.len() / 2], values[values.len() * 95 / 100])
        };
        let (wall, cores) = (middle(|it| it.wall), middle(|it| it.two_cores));
        let megabytes = all.iter().map(|it| it.megabytes).max().unwrap_or(0);
        for (name, goal, wall, two_cores) in [
            (name, Some(400), wall.0, cores.0),
            ("scene 1024x1024 with PNG, p95", None, wall.1, cores.1),
        ] {
            let it = Measured {
                wall,
                two_cores,
                megabytes,
            };
            line(name, goal, &it);
        }
    }

    fn own(&self) {
        self.scenes();
        let scene = Scene::from_prompt("a fox in the forest at golden hour", "", 5);
        for style in StyleName::ALL {
            let styled = scene.with_style(*style);
            let name = format!("  the same fox, {}", style.name());
            self.time(&name, Some(400), 3, |_| filed(&styled, 1024));
        }
        self.time("imagine grid of four, 512 each", Some(1500), 3, |_| {
            let four = [1, 2, 3, 4].map(|seed| scene.with_seed(seed).render(512, 512));
            file(&Picture::grid_of_four(four));
        });
        self.time("own picture upscaled to 2048", Some(1000), 3, |_| {
            filed(&scene, 2048);
        });
        self.time("own picture upscaled to 4096", None, 2, |_| {
            file(&scene.render(2304, 2304).resized(4096, 4096));
        });
    }

    fn foreign(&self) {
        let limits = Limits::default();
        let photo = include_bytes!("../../media/tests/data/portrait.jpg");
        let portrait = decode(photo, limits).expect("a photo");
        let large = portrait.resized(1024, 1024);
        self.time("vectorize 1024x1024 photo", Some(600), 3, |_| {
            drop(vectorize(&large));
        });
        self.time("removeBackground 1024x1024 photo", Some(1500), 3, |_| {
            file(&cut_out(&large));
        });
        let mirrored = Picture::drawn(1024, 1024, |x, y| large.pixel(1023 - x, y));
        self.time("face swap 1024x1024", Some(1500), 3, |_| {
            drop(swap_face(&large, &mirrored));
        });
        self.time("describe 1024x1024", None, 2, |_| drop(describe(&large)));
        let mask = Mask::rectangle(1024, 1024, [380, 420, 256, 256]);
        self.time("inpaint a sixteenth of 1024x1024", None, 2, |_| {
            drop(fill(&large, &mask, 1));
        });
        let canvas = large.padded([256; 4], [0; 4]);
        let open = Mask::from_transparent(&canvas);
        self.time("outpaint 1024 to 1536", None, 2, |_| {
            drop(fill(&canvas, &open, 1));
        });
        let three = [large.clone(), large.resized(900, 700), mirrored];
        self.time("blend three to 1024x1024", None, 2, |_| {
            drop(blend(&three, 1024, 1024, 1));
        });
        let small = portrait.resized(256, 256);
        self.time("crispUpscale foreign 256 to 1024", None, 2, |_| {
            drop(upscale(&small, 4, limits));
        });
        self.time("crispUpscale foreign 1024 to 4096", None, 1, |_| {
            drop(upscale(&large, 4, limits));
        });
        self.time("hostile PNG header refused", None, 1, |_| {
            let mut bomb = encode(&small, Encoding::Png, None);
            bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
            assert!(header(&bomb).is_ok() && decode(&bomb, limits).is_err());
        });
    }

    fn clips(&self) {
        let (start, end) = (still(1), still(2));
        let camera = CameraMove::new(&start, true, 1);
        let mut clip = Vec::new();
        let goal = Some(6000);
        self.time("clip 5 s 1280x720, camera over a still", goal, 1, |_| {
            let mut frames = (0..120).map(|n| camera.at(n as f32 / 119.0));
            clip = encode_video(&mut frames, 24).expect("a clip");
        });
        self.time("  last frame of it", None, 1, |_| drop(last_frame(&clip)));
        self.time("clip 5 s 1280x720, morph", goal, 1, |_| {
            let morph = Morph::new(&start, &end);
            let mut frames = (0..120).map(|n| morph.at(n as f32 / 119.0));
            drop(encode_video(&mut frames, 24));
        });
        for words in ["a sailboat on the sea at sunset", "a fox in the forest"] {
            let name = format!("clip 5 s 1280x720, {words}");
            self.time(&name, goal, 1, |_| {
                let scene = Scene::from_prompt(words, "", 4).with_aspect((1280, 720));
                let mut film = Film::new(&scene, (1280, 720), Motion::High);
                let mut frames = (0..120).map(|n| film.at(n as f32 / 119.0));
                drop(encode_video(&mut frames, 24));
            });
        }
    }
}

/// Renders a scene and writes its file.
fn filed(scene: &Scene, side: u32) {
    file(&scene.render(side, side));
}

fn file(picture: &Picture) {
    drop(encode(picture, Encoding::Png, None));
}

fn still(seed: u64) -> Picture {
    Scene::from_prompt("a castle in the mountains", "", seed).render(1280, 720)
}

fn main() {
    let bench = Bench {
        only: std::env::args().nth(1),
    };
    // Reading the words of all languages once is part of starting, not of a picture.
    filed(&Scene::from_prompt("a fox", "", 1), 64);
    bench.own();
    bench.foreign();
    bench.clips();
}
