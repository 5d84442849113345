//! Files in, files out: formats by their bytes, hostile headers refused, metadata dropped, quality and alpha honoured.

use atelier_media::{Encoding, Format, ImageError, Label, Limits, Picture, decode, encode, header};

#[path = "shared/colour_difference.rs"]
mod colour_difference;

use colour_difference::difference;

fn sample(width: u32, height: u32) -> Picture {
    Picture::drawn(width, height, |x, y| {
        let wave = ((f64::from(x) / 9.0).sin() * 40.0 + (f64::from(y) / 7.0).cos() * 40.0) as i32;
        let shade = |base: u32| (base as i32 + wave).clamp(0, 255) as u8;
        [
            shade(x * 255 / width),
            shade(y * 255 / height),
            shade(120),
            255,
        ]
    })
}

fn see_through(width: u32, height: u32) -> Picture {
    let mut picture = sample(width, height);
    for (index, pixel) in picture.pixels_mut().iter_mut().enumerate() {
        pixel[3] = if index as u32 % width < width / 2 {
            0
        } else {
            255
        };
    }
    picture
}

fn label() -> Label {
    Label {
        prompt: "a \"red\" fox & <owl> — 狐".into(),
        seed: Some(42),
        model: "studio".into(),
        job: "job-7".into(),
        engine: "procedural".into(),
        definition: "high".into(),
        scene: String::new(),
    }
}

const ALL: [Encoding; 4] = [
    Encoding::Png,
    Encoding::Jpeg { quality: 90 },
    Encoding::Webp { quality: None },
    Encoding::Webp { quality: Some(90) },
];

#[test]
fn every_encoding_round_trips_with_and_without_label() {
    for (width, height) in [(64, 48), (1, 1), (17, 3), (333, 127)] {
        let picture = sample(width, height);
        for encoding in ALL {
            for label in [None, Some(&label())] {
                let bytes = encode(&picture, encoding, label);
                let head = header(&bytes).expect("own files have headers");
                assert_eq!(head.format, encoding.format());
                assert_eq!((head.width, head.height), (width, height), "{encoding:?}");
                let back = decode(&bytes, Limits::default()).expect("own files decode");
                let lossless = matches!(encoding, Encoding::Png | Encoding::Webp { quality: None });
                let off = difference(&picture, &back);
                assert!(
                    off <= if lossless { 0.0 } else { 16.0 },
                    "{encoding:?} is off by {off}"
                );
            }
        }
    }
}

#[test]
fn the_same_picture_gives_the_same_bytes() {
    let picture = sample(100, 80);
    for encoding in ALL {
        let once = encode(&picture, encoding, Some(&label()));
        assert_eq!(once, encode(&picture, encoding, Some(&label())));
    }
}

#[test]
fn transparency_survives_where_the_format_has_it_and_becomes_white_where_not() {
    let picture = see_through(40, 30);
    for encoding in ALL {
        let bytes = encode(&picture, encoding, Some(&label()));
        let back = decode(&bytes, Limits::default()).expect("own files decode");
        let (clear, solid) = (back.pixel(4, 4), back.pixel(35, 20));
        assert_eq!(solid[3], 255);
        if let Encoding::Jpeg { .. } = encoding {
            assert!(
                clear[..3].iter().all(|&channel| channel > 240),
                "{clear:?} is not white"
            );
        } else {
            assert_eq!(clear[3], 0, "{encoding:?}");
        }
    }
}

#[test]
fn lower_quality_is_smaller_and_further_off() {
    let picture = sample(256, 256);
    for (low, high) in [
        (
            Encoding::Jpeg { quality: 20 },
            Encoding::Jpeg { quality: 95 },
        ),
        (
            Encoding::Webp { quality: Some(20) },
            Encoding::Webp { quality: Some(95) },
        ),
    ] {
        let (low, high) = (encode(&picture, low, None), encode(&picture, high, None));
        assert!(
            low.len() * 2 < high.len(),
            "{} against {}",
            low.len(),
            high.len()
        );
        let off = |bytes: &[u8]| {
            difference(
                &picture,
                &decode(bytes, Limits::default()).expect("own files decode"),
            )
        };
        assert!(off(&low) > off(&high));
    }
}

#[test]
fn the_label_is_in_the_file() {
    let picture = sample(32, 32);
    for encoding in ALL {
        let bytes = encode(&picture, encoding, Some(&label()));
        let text = String::from_utf8_lossy(&bytes);
        for word in ["procedural", "studio", "job-7", "42", "狐"] {
            assert!(text.contains(word), "{word} is missing in {encoding:?}");
        }
    }
    let long = Label {
        prompt: "\"".repeat(100_000),
        ..label()
    };
    for encoding in ALL {
        let bytes = encode(&picture, encoding, Some(&long));
        let back = decode(&bytes, Limits::default()).expect("a long prompt does no harm");
        assert_eq!(back.width, picture.width);
    }
}

/// A JPEG of ours with an EXIF block put in: an orientation and a place name.
fn with_exif(orientation: u8) -> Vec<u8> {
    let plain = encode(&sample(48, 32), Encoding::Jpeg { quality: 95 }, None);
    let mut tiff = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    tiff.extend_from_slice(&[orientation, 0, 0, 0, 0, 0, 0, 0]);
    tiff.extend_from_slice(b"GPS 48.8584N 2.2945E");
    let mut bytes = plain[..2].to_vec();
    bytes.extend_from_slice(&[0xff, 0xe1]);
    bytes.extend_from_slice(&(tiff.len() as u16 + 2).to_be_bytes());
    bytes.extend_from_slice(&tiff);
    bytes.extend_from_slice(&plain[2..]);
    bytes
}

#[test]
fn exif_turns_the_picture_upright_and_is_then_gone() {
    let flat = decode(&with_exif(1), Limits::default()).expect("a plain JPEG");
    for orientation in 1..=8 {
        let bytes = with_exif(orientation);
        assert!(String::from_utf8_lossy(&bytes).contains("48.8584N"));
        let picture = decode(&bytes, Limits::default()).expect("a JPEG with EXIF");
        let turned = orientation >= 5;
        assert_eq!(
            (picture.width, picture.height),
            if turned { (32, 48) } else { (48, 32) }
        );
        let corner = flat.pixel(0, 0);
        let (right, bottom) = (picture.width - 1, picture.height - 1);
        let place = match orientation {
            1 | 5 => (0, 0),
            2 | 6 => (right, 0),
            3 | 7 => (right, bottom),
            _ => (0, bottom),
        };
        assert_eq!(
            picture.pixel(place.0, place.1),
            corner,
            "orientation {orientation}"
        );
        for encoding in ALL {
            let again = encode(&picture, encoding, None);
            assert!(!String::from_utf8_lossy(&again).contains("48.8584N"));
        }
    }
}

#[test]
fn a_pixel_bomb_is_refused_by_its_header() {
    let mut bomb = encode(&sample(8, 8), Encoding::Png, None);
    bomb[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let before = resident();
    let refused = decode(&bomb, Limits::default());
    let size = i32::MAX as u32;
    assert_eq!(
        refused,
        Err(ImageError::TooLarge {
            width: size,
            height: size
        })
    );
    let grown = resident().saturating_sub(before);
    assert!(grown < 32 << 20, "memory grew by {grown} bytes");

    let limits = Limits {
        max_pixels: 63,
        max_side: 100,
    };
    let small = encode(&sample(8, 8), Encoding::Png, None);
    assert_eq!(
        decode(&small, limits),
        Err(ImageError::TooLarge {
            width: 8,
            height: 8
        })
    );
    let limits = Limits {
        max_pixels: 1000,
        max_side: 7,
    };
    assert_eq!(
        decode(&small, limits),
        Err(ImageError::TooLarge {
            width: 8,
            height: 8
        })
    );
}

/// Bytes of this process in memory, or 0 where the system does not tell.
fn resident() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else {
        return 0;
    };
    text.split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .unwrap_or(0)
        * 4096
}

#[test]
fn a_file_that_lies_about_its_size_is_an_error_and_not_a_picture_of_nothing() {
    for encoding in [
        Encoding::Png,
        Encoding::Webp { quality: None },
        Encoding::Webp { quality: Some(50) },
    ] {
        let mut bytes = encode(&sample(16, 16), encoding, None);
        match encoding {
            Encoding::Png => bytes[18..20].copy_from_slice(&[0x0f, 0xff]),
            Encoding::Webp { quality: None } => bytes[21] = 0xff,
            _ => bytes[27] = 0x0f,
        }
        assert!(decode(&bytes, Limits::default()).is_err(), "{encoding:?}");
    }
}

#[test]
fn truncated_and_garbled_files_never_panic() {
    let mut state = 7_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    for encoding in ALL {
        let whole = encode(&sample(40, 40), encoding, Some(&label()));
        for end in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            let _ = header(&whole[..end]);
            let _ = decode(&whole[..end], Limits::default());
        }
        for _ in 0..200 {
            let mut garbled = whole.clone();
            for _ in 0..4 {
                let at = random() % garbled.len();
                garbled[at] = random() as u8;
            }
            let limits = Limits {
                max_pixels: 1 << 20,
                max_side: 4096,
            };
            if let Ok(picture) = decode(&garbled, limits) {
                assert_eq!(picture.rgba.len(), picture.pixels().len() * 4);
            }
        }
    }
    assert_eq!(header(b""), Err(ImageError::UnknownFormat));
    assert_eq!(
        header(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        Err(ImageError::UnknownFormat)
    );
    assert!(matches!(
        header(b"\x89PNG\r\n\x1a\n"),
        Err(ImageError::Damaged(_))
    ));
}

#[test]
fn a_damaged_picture_is_called_damaged_and_nothing_of_its_decoder_is_shown() {
    let picture = Picture::drawn(64, 48, |x, y| [x as u8 * 3, y as u8 * 5, 90, 255]);
    // A JPEG that ends early is shown as far as it goes, so it is none of these.
    for encoding in [Encoding::Png, Encoding::Webp { quality: None }] {
        let mut bytes = encode(&picture, encoding, None);
        let half = bytes.len() / 2;
        bytes.truncate(half);
        bytes[half - 20..].fill(0xff);
        let error = decode(&bytes, Limits::default()).expect_err("damaged");
        assert_eq!(error.to_string(), "the image is damaged", "{error:?}");
    }
}

#[test]
fn a_gif_gives_its_first_frame() {
    let mut bytes = Vec::new();
    let mut writer =
        gif::Encoder::new(&mut bytes, 2, 2, &[255, 0, 0, 0, 0, 255]).expect("memory takes it");
    for indices in [[0, 1, 1, 0], [1, 1, 1, 1]] {
        let frame = gif::Frame::from_indexed_pixels(2, 2, indices.to_vec(), None);
        writer.write_frame(&frame).expect("memory takes it");
    }
    drop(writer);
    let head = header(&bytes).expect("a GIF header");
    assert_eq!((head.format, head.width, head.height), (Format::Gif, 2, 2));
    let picture = decode(&bytes, Limits::default()).expect("a GIF");
    assert!(
        picture
            .pixels()
            .iter()
            .all(|p| *p == [255, 0, 0, 255] || *p == [0, 0, 255, 255])
    );
}

#[test]
fn a_jpeg_in_printing_colours_is_opaque_and_has_its_colours() {
    let mut bytes = Vec::new();
    let red = [0, 255, 255, 0].repeat(24 * 16);
    jpeg_encoder::Encoder::new(&mut bytes, 95)
        .encode(&red, 24, 16, jpeg_encoder::ColorType::Cmyk)
        .expect("memory takes it");
    let picture = decode(&bytes, Limits::default()).expect("a JPEG");
    for &[r, g, b, a] in picture.pixels() {
        assert!(
            r > 240 && g < 15 && b < 15 && a == 255,
            "{r} {g} {b} {a} is not red"
        );
    }
}

#[test]
fn media_types_and_extensions_are_the_usual_ones() {
    let pairs = [
        (Format::Png, "image/png", "png"),
        (Format::Jpeg, "image/jpeg", "jpg"),
        (Format::Webp, "image/webp", "webp"),
        (Format::Gif, "image/gif", "gif"),
    ];
    for (format, media_type, extension) in pairs {
        assert_eq!(
            (format.media_type(), format.extension()),
            (media_type, extension)
        );
    }
}

#[test]
fn crop_paste_grid_and_resize_agree_about_places() {
    let picture = sample(60, 40);
    let part = picture.cropped(10, 5, 20, 10);
    assert_eq!(part.pixel(3, 2), picture.pixel(13, 7));
    let outside = picture.cropped(-5, -5, 10, 10);
    assert_eq!(outside.pixel(0, 0), [0; 4]);
    assert_eq!(outside.pixel(5, 5), picture.pixel(0, 0));
    let four = [0, 1, 2, 3].map(|n| Picture::filled(6, 4, [n * 60, 0, 0, 255]));
    let grid = Picture::grid_of_four(four.clone());
    assert_eq!((grid.width, grid.height), (12, 8));
    for (index, tile) in four.iter().enumerate() {
        assert_eq!(&grid.quarter(index as u32), tile);
    }
    let twice = picture.resized(120, 80).resized(60, 40);
    assert!(difference(&picture, &twice) < 3.0);
    assert_eq!(picture.covering(30, 30).width, 30);
    let fitted = picture.fitted(30);
    assert_eq!((fitted.width, fitted.height), (30, 20));
}

#[test]
fn resizing_does_not_bleed_the_colour_of_transparent_pixels() {
    let mut picture = Picture::filled(40, 40, [0, 0, 0, 0]);
    for y in 10..30 {
        for x in 10..30 {
            picture.set(x, y, [250, 250, 250, 255]);
        }
    }
    for pixel in picture
        .resized(20, 20)
        .pixels()
        .iter()
        .filter(|pixel| pixel[3] > 20)
    {
        assert!(pixel[0] > 230, "{pixel:?} has a dark fringe");
    }
}

#[test]
fn a_header_says_what_another_reader_of_headers_says() {
    for (width, height) in [
        (1, 1),
        (1, 300),
        (255, 256),
        (257, 64),
        (640, 480),
        (2000, 3),
    ] {
        let picture = sample(width, height);
        for encoding in ALL {
            for label in [None, Some(&label())] {
                let bytes = encode(&picture, encoding, label);
                let ours = header(&bytes).expect("own files have headers");
                let theirs = imagesize::blob_size(&bytes).expect("own files have headers");
                let ours = (ours.width as usize, ours.height as usize);
                assert_eq!(ours, (theirs.width, theirs.height), "{encoding:?}");
            }
        }
    }
}

/// What the standards allow and a smaller reader gets wrong: fill bytes before a marker of JPEG, and a scale beside the
/// size of lossy WebP.
#[test]
fn fill_bytes_and_scales_are_no_part_of_a_size() {
    let mut jpeg = encode(&sample(40, 30), Encoding::Jpeg { quality: 90 }, None);
    jpeg.splice(2..2, [0xff, 0xff]);
    let head = header(&jpeg).expect("fill bytes are allowed");
    assert_eq!((head.width, head.height), (40, 30));
    let decoded = decode(&jpeg, Limits::default()).expect("and decoded");
    assert_eq!((decoded.width, decoded.height), (40, 30));
    let quality = Some(90);
    let mut webp = encode(&sample(40, 30), Encoding::Webp { quality }, None);
    assert_eq!(&webp[12..16], b"VP8 ");
    webp[27] |= 0x40;
    webp[29] |= 0x80;
    let head = header(&webp).expect("a scale is allowed");
    assert_eq!((head.width, head.height), (40, 30));
}
