//! Renders the gallery: `gallery DIR` writes every picture as PNG and one contact sheet per chapter as JPEG.
//!
//! `gallery DIR CHAPTER` renders one chapter; `gallery --sheet FILE.png SIZE COLUMNS PROMPT...` renders a sheet of
//! your own prompts (a prompt may start with `#SEED ` or `anime: `).

#![expect(clippy::print_stdout, reason = "a command says what it has written")]
#![expect(clippy::disallowed_methods, reason = "a command may look at the clock")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use atelier_media::anime::{Anime, Character};
use atelier_media::{Encoding, Mask, Motion, Picture, Scene, encode};

#[path = "gallery/prompts.rs"]
mod prompts;

/// Side of one picture on a contact sheet.
const TILE: u32 = 256;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--sheet") {
        return own_sheet(&arguments[1..]);
    }
    let folder = arguments.first().map_or("gallery", String::as_str);
    let only = arguments.get(1).map(String::as_str);
    fs::create_dir_all(folder)?;
    for (name, all) in prompts::CHAPTERS {
        if only.is_none_or(|only| only == *name) {
            let pictures = all
                .iter()
                .map(|prompt| from_words(prompt, 512))
                .collect::<Vec<_>>();
            chapter(Path::new(folder), name, &pictures)?;
        }
    }
    for (name, make) in [
        ("follow-ups", follow_ups as fn() -> Vec<Picture>),
        ("motion", motion),
    ] {
        if only.is_none_or(|only| only == name) {
            chapter(Path::new(folder), name, &make())?;
        }
    }
    Ok(())
}

/// One picture from a line of the gallery.
fn from_words(line: &str, size: u32) -> Picture {
    let (seed, words) = line
        .strip_prefix('#')
        .and_then(|rest| rest.split_once(' '))
        .map_or((1, line), |(seed, words)| {
            (seed.parse().unwrap_or(1), words)
        });
    match words.strip_prefix("anime: ") {
        Some(words) => anime(words, seed, size),
        None => Scene::from_prompt(words, "", seed).render(size, size),
    }
}

/// An anime picture; two characters are parted by a slash.
fn anime(words: &str, seed: u64, size: u32) -> Picture {
    let mut brief = Anime::from_prompt(words, "", seed);
    if let Some((one, two)) = words.split_once(" / ") {
        brief.characters = vec![
            Character {
                prompt: one.to_owned(),
                centre: (0.28, 0.52),
            },
            Character {
                prompt: two.to_owned(),
                centre: (0.72, 0.52),
            },
        ];
    }
    brief.render(size, size)
}

/// A scene and everything that can be asked of it afterwards.
fn follow_ups() -> Vec<Picture> {
    let scene = Scene::from_prompt("a sailboat on a lake below mountains at sunset", "", 11);
    let mask = Mask::rectangle(512, 512, [40, 120, 250, 300]);
    let other = Scene::from_prompt("a house in a meadow, watercolor", "", 6);
    let mut all: Vec<Picture> = (1..=4)
        .map(|seed| scene.with_seed(seed).render(512, 512))
        .collect();
    all.extend([
        scene.render(512, 512),
        scene.zoomed_out(1.5).render(512, 512),
        scene.zoomed_out(2.0).render(512, 512),
        scene.with_aspect((16, 9)).squared((16, 9)).render(512, 512),
        scene.varied(0.2, 5).render(512, 512),
        scene.varied(0.8, 5).render(512, 512),
        squeezed(&scene.panned(1.0, 0.0)),
        squeezed(&scene.panned(-1.0, 0.0)),
        scene.repainted(&mask, "a dragon", 3).render(512, 512),
        other.render(512, 512),
        other.repainted(&mask, "a windmill", 3).render(512, 512),
        other.zoomed_out(2.0).render(512, 512),
    ]);
    all
}

/// A wide picture between bars, so that it fits a square tile.
fn squeezed(scene: &Scene) -> Picture {
    let (width, height) = scene.window.pixels(512);
    let picture = scene.render(width, height);
    let mut square = Picture::filled(512, 512, [24, 24, 28, 255]);
    paste(&mut square, &picture, (512 - width) / 2, (512 - height) / 2);
    square
}

/// Moments of moving scenes.
fn motion() -> Vec<Picture> {
    let mut all = Vec::new();
    for words in [
        "a sailboat on the sea at sunset",
        "a fox in the forest in the rain",
    ] {
        let scene = Scene::from_prompt(words, "", 4);
        for moment in [0.0, 0.33, 0.67, 1.0] {
            all.push(scene.render_at(512, 512, moment, Motion::High));
        }
    }
    all
}

/// Writes the pictures of a chapter and its contact sheet.
fn chapter(folder: &Path, name: &str, pictures: &[Picture]) -> std::io::Result<()> {
    let started = Instant::now();
    for (index, picture) in pictures.iter().enumerate() {
        let file = folder.join(format!("{name}-{:02}.png", index + 1));
        fs::write(file, encode(picture, Encoding::Png, None))?;
    }
    let sheet = contact_sheet(pictures, 4);
    // Detailed sheets are pressed harder, so that a page of them stays light.
    let mut quality = 84;
    let mut bytes = encode(&sheet, Encoding::Jpeg { quality }, None);
    while bytes.len() > 390_000 && quality > 40 {
        quality -= 8;
        bytes = encode(&sheet, Encoding::Jpeg { quality }, None);
    }
    fs::write(folder.join(format!("sheet-{name}.jpg")), &bytes)?;
    println!(
        "{name}: {} pictures, {:?}",
        pictures.len(),
        started.elapsed()
    );
    Ok(())
}

fn contact_sheet(pictures: &[Picture], columns: u32) -> Picture {
    let rows = (pictures.len() as u32).div_ceil(columns);
    let gap = 4;
    let mut sheet = Picture::filled(
        columns * (TILE + gap) + gap,
        rows * (TILE + gap) + gap,
        [250, 249, 246, 255],
    );
    for (index, picture) in pictures.iter().enumerate() {
        let (column, row) = (index as u32 % columns, index as u32 / columns);
        let small = picture.resized(TILE, TILE);
        paste(
            &mut sheet,
            &small,
            gap + column * (TILE + gap),
            gap + row * (TILE + gap),
        );
    }
    sheet
}

fn paste(sheet: &mut Picture, picture: &Picture, left: u32, top: u32) {
    for y in 0..picture.height {
        for x in 0..picture.width {
            sheet.set(left + x, top + y, picture.pixel(x, y));
        }
    }
}

/// A sheet of prompts from the command line.
fn own_sheet(arguments: &[String]) -> std::io::Result<()> {
    let [file, size, columns, lines @ ..] = arguments else {
        println!("gallery --sheet FILE.png SIZE COLUMNS PROMPT...");
        return Ok(());
    };
    let (size, columns) = (size.parse().unwrap_or(256), columns.parse().unwrap_or(4));
    let mut sheet = Picture::filled(
        columns * size,
        (lines.len() as u32).div_ceil(columns) * size,
        [0, 0, 0, 255],
    );
    for (index, line) in lines.iter().enumerate() {
        let started = Instant::now();
        let picture = from_words(line, size);
        println!("{:?} {line}", started.elapsed());
        paste(
            &mut sheet,
            &picture,
            (index as u32 % columns) * size,
            (index as u32 / columns) * size,
        );
    }
    fs::write(file, encode(&sheet, Encoding::Png, None))
}
