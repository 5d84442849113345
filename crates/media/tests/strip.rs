//! Metadata is dropped from a file while its picture stays the same, in every format.

use atelier_media::{
    DamagedFile, Encoding, Limits, Picture, decode, encode, header, without_metadata,
};

const PORTRAIT: &[u8] = include_bytes!("data/portrait.jpg");
const SECRET: &[u8] = b"at home, 52.5200 N 13.4050 E";

/// A TIFF block with an orientation and a description.
fn exif(up: u8) -> Vec<u8> {
    let mut tiff = b"MM\0*\0\0\0\x08\0\x02".to_vec();
    tiff.extend(b"\x01\x0e\0\x02\0\0\0\x1d\0\0\0\x26");
    tiff.extend(b"\x01\x12\0\x03\0\0\0\x01\0");
    tiff.extend([up, 0, 0, 0, 0, 0, 0]);
    tiff.extend(SECRET);
    tiff.push(0);
    tiff
}

fn jpeg(up: u8) -> Vec<u8> {
    let segment = |marker: u8, content: &[u8]| {
        let mut out = vec![0xFF, marker];
        out.extend((content.len() as u16 + 2).to_be_bytes());
        out.extend(content);
        out
    };
    let block = [b"Exif\0\0".to_vec(), exif(up)].concat();
    let xmp = [b"http://ns.adobe.com/xap/1.0/\0", SECRET].concat();
    let mut out = PORTRAIT[..2].to_vec();
    out.extend(segment(0xE1, &block));
    out.extend(segment(0xE1, &xmp));
    out.extend(segment(0xFE, SECRET));
    out.extend(&PORTRAIT[2..]);
    out
}

fn png_chunk(kind: &[u8], content: &[u8]) -> Vec<u8> {
    let mut out = (content.len() as u32).to_be_bytes().to_vec();
    out.extend(kind);
    out.extend(content);
    let sum = crc32fast::hash(&out[4..]);
    out.extend(sum.to_be_bytes());
    out
}

fn png(up: u8) -> Vec<u8> {
    let plain = encode(&sample(), Encoding::Png, None);
    let mut out = plain[..33].to_vec();
    out.extend(png_chunk(b"tEXt", &[b"Comment\0", SECRET].concat()));
    out.extend(png_chunk(b"eXIf", &exif(up)));
    out.extend(&plain[33..]);
    out.extend(SECRET);
    out
}

fn webp(up: u8) -> Vec<u8> {
    let plain = encode(&sample(), Encoding::Webp { quality: Some(90) }, None);
    let size = header(&plain).expect("a header");
    let mut body = b"VP8X\x0a\0\0\0\x0c\0\0\0".to_vec();
    body.extend(&(size.width - 1).to_le_bytes()[..3]);
    body.extend(&(size.height - 1).to_le_bytes()[..3]);
    // An encoder may have written the extended form already; its own picture chunk is what is wanted.
    let picture = plain
        .windows(4)
        .position(|four| four == b"VP8 ")
        .expect("a picture");
    let length =
        u32::from_le_bytes(plain[picture + 4..picture + 8].try_into().expect("four")) as usize;
    body.extend(&plain[picture..picture + 8 + length]);
    if length % 2 == 1 {
        body.push(0);
    }
    for (kind, content) in [(b"EXIF", exif(up)), (b"XMP ", SECRET.to_vec())] {
        body.extend(kind);
        body.extend((content.len() as u32).to_le_bytes());
        body.extend(&content);
        if content.len() % 2 == 1 {
            body.push(0);
        }
    }
    let mut out = b"RIFF".to_vec();
    out.extend((body.len() as u32 + 4).to_le_bytes());
    out.extend(b"WEBP");
    out.extend(body);
    out
}

/// A GIF of one red pixel with a comment and a note of a program.
fn gif() -> Vec<u8> {
    let mut out = b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\0".to_vec();
    for label in [0xFE, 0xFF] {
        out.extend([0x21, label, SECRET.len() as u8]);
        out.extend(SECRET);
        out.push(0);
    }
    out.extend(b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
    out
}

/// A picture without any symmetry.
fn sample() -> Picture {
    let mut picture = Picture::filled(24, 16, [200, 30, 30, 255]);
    for (x, y) in (0..12).flat_map(|x| (0..5).map(move |y| (x, y))) {
        picture.set(x, y, [20, 40, 220, 255]);
    }
    picture
}

fn holds_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|part| part == SECRET)
}

fn check(name: &str, file: &[u8]) {
    assert!(holds_secret(file), "{name}");
    let stripped = without_metadata(file).expect(name);
    let stripped = stripped.unwrap_or_else(|| panic!("{name}: nothing dropped"));
    assert!(
        !holds_secret(&stripped),
        "{name}: the secret is still there"
    );
    let before = decode(file, Limits::default()).expect(name);
    let after = decode(&stripped, Limits::default()).expect(name);
    assert_eq!(
        (before.width, before.height),
        (after.width, after.height),
        "{name}"
    );
    assert!(
        before.pixels() == after.pixels(),
        "{name}: the picture changed"
    );
}

#[test]
fn what_was_written_about_a_picture_goes_and_the_picture_stays_upright() {
    for up in [1, 3, 6, 8] {
        check(&format!("jpeg {up}"), &jpeg(up));
        check(&format!("png {up}"), &png(up));
        check(&format!("webp {up}"), &webp(up));
    }
    check("gif", &gif());
}

#[test]
fn what_hangs_behind_a_picture_or_in_unknown_parts_goes_too() {
    // A second picture with a place of its own, as phones append it.
    check("two pictures", &[PORTRAIT, &jpeg(1)].concat());
    let film = [b"\0\0\0\x18ftypmp42", SECRET].concat();
    check("a motion photo", &[PORTRAIT, &film].concat());
    let plain = encode(&sample(), Encoding::Png, None);
    let private = png_chunk(b"prVt", SECRET);
    check(
        "a private chunk",
        &[&plain[..33], &private, &plain[33..]].concat(),
    );
    let mut unknown = webp(1);
    let tail = [b"SECR", &(SECRET.len() as u32).to_le_bytes(), SECRET].concat();
    unknown.extend(&tail);
    let size = unknown.len() as u32 - 8;
    unknown[4..8].copy_from_slice(&size.to_le_bytes());
    check("an unknown chunk", &unknown);
    check("behind a webp", &[webp(1), SECRET.to_vec()].concat());
    check("behind a gif", &[gif(), SECRET.to_vec()].concat());
    // Between the scans of a progressive picture, too.
    let at = PORTRAIT.len() - 2;
    let comment = [b"\xFF\xFE\0\x1e", SECRET].concat();
    check(
        "before the end",
        &[&PORTRAIT[..at], &comment, &PORTRAIT[at..]].concat(),
    );
}

#[test]
fn a_file_that_cannot_be_taken_apart_is_told_from_a_clean_one() {
    for (name, file) in [("png", png(1)), ("webp", webp(1)), ("gif", gif())] {
        let cut = &file[..file.len() / 2];
        assert_eq!(without_metadata(cut), Err(DamagedFile), "{name}");
    }
    assert_eq!(without_metadata(&jpeg(1)[..200]), Err(DamagedFile));
    assert_eq!(without_metadata(b"no image at all"), Err(DamagedFile));
    // A picture that was cut off while it was sent is worth what is there of it.
    let cut = without_metadata(&jpeg(1)[..jpeg(1).len() - 500]);
    assert!(!holds_secret(&cut.expect("readable").expect("stripped")));
}

#[test]
fn a_file_without_metadata_is_left_alone_and_a_broken_one_does_no_harm() {
    for file in [jpeg(1), jpeg(6), png(1), png(6), webp(1), webp(6), gif()] {
        let clean = without_metadata(&file)
            .expect("readable")
            .expect("stripped");
        assert_eq!(without_metadata(&clean), Ok(None));
    }
    for file in [jpeg(6), png(6), webp(6), gif()] {
        for length in 0..file.len().min(2_000) {
            let _ = without_metadata(&file[..length]);
        }
        let mut noise = file.clone();
        for place in (12..noise.len().min(4_000)).step_by(7) {
            noise[place] ^= 0xA5;
            let _ = without_metadata(&noise);
        }
    }
}
