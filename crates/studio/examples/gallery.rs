//! Renders the gallery: `gallery DIR` writes every picture as PNG and one contact sheet per chapter as JPEG.
//!
//! `gallery DIR CHAPTER` renders one chapter; `gallery --sheet FILE.png SIZE COLUMNS PROMPT...` renders a sheet of
//! your own prompts (a prompt may start with `#SEED ` or `anime: `).

#![expect(clippy::print_stdout, reason = "a command says what it has written")]
#![expect(clippy::disallowed_methods, reason = "a command may look at the clock")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use atelier_media::{Encoding, Picture, encode};
use atelier_studio::Scene;
use atelier_studio::{Anime, Character};

#[path = "gallery/made.rs"]
mod made;
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
        ("follow-ups", made::follow_ups as fn() -> Vec<Picture>),
        ("flags", made::flags),
        ("given", made::given),
        ("motion", made::motion),
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

/// Writes the pictures of a chapter and its contact sheet.
fn chapter(folder: &Path, name: &str, pictures: &[Picture]) -> std::io::Result<()> {
    let started = Instant::now();
    for (index, picture) in pictures.iter().enumerate() {
        let file = folder.join(format!("{name}-{:02}.png", index + 1));
        fs::write(file, encode(picture, Encoding::Png, None))?;
    }
    let sheet = contact_sheet(pictures, 4);
    fs::write(
        folder.join(format!("sheet-{name}.jpg")),
        made::pressed(&sheet),
    )?;
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
