//! A file that is passed on keeps its pixels byte for byte, loses what others wrote about it and says what we say; one of
//! which that is not certain is not passed on.

use atelier_media::{Encoding, Label, Limits, Picture, decode, encode, header, relabelled};

const ENCODINGS: [Encoding; 4] = [
    Encoding::Png,
    Encoding::Jpeg { quality: 90 },
    Encoding::Webp { quality: Some(90) },
    Encoding::Webp { quality: None },
];

fn sample(alpha: u8) -> Picture {
    let mut picture = Picture::filled(33, 20, [10, 20, 30, 255]);
    for x in 0..33 {
        picture.set(x, x % 20, [200, 7 * x as u8, 40, alpha]);
    }
    picture
}

fn label(words: &str) -> Label {
    Label {
        prompt: words.to_owned(),
        model: "a model".to_owned(),
        job: "0190-ab".to_owned(),
        engine: "external".to_owned(),
        ..Label::default()
    }
}

#[test]
fn the_pixels_stay_and_the_label_is_ours() {
    let limits = Limits::default();
    for encoding in ENCODINGS {
        for alpha in [255, 90] {
            let theirs = encode(&sample(alpha), encoding, Some(&label("their secret")));
            let ours = relabelled(&theirs, &label("a \"lighthouse\" & more")).expect("it is whole");
            let before = decode(&theirs, limits).expect("a picture");
            let after = decode(&ours, limits).expect("a picture");
            assert!(before == after, "{encoding:?}");
            assert_eq!(header(&ours), header(&theirs));
            let read = Label::read(&ours).expect("a label");
            assert_eq!(read, label("a \"lighthouse\" & more"), "{encoding:?}");
            let text = String::from_utf8_lossy(&ours);
            assert!(!text.contains("their secret"), "{encoding:?}");
            // What was labelled once can be labelled again, and does not grow by it.
            assert_eq!(relabelled(&ours, &read).as_ref(), Some(&ours));
        }
    }
}

#[test]
fn damaged_files_are_not_passed_on() {
    for encoding in ENCODINGS {
        let whole = encode(&sample(255), encoding, None);
        for cut in 1..whole.len() {
            let passed = relabelled(&whole[..cut], &label("x"));
            let short = whole.len() - cut;
            // The padding behind the last chunk of a WebP is all that may be missing.
            let padding = matches!(encoding, Encoding::Webp { .. }) && short < 2;
            assert!(passed.is_none() || padding, "{encoding:?}, {short} missing");
        }
    }
    let mut flipped = encode(&sample(255), Encoding::Png, None);
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    assert!(relabelled(&flipped, &label("x")).is_none());
}

#[test]
fn what_does_not_stand_upright_by_itself_is_not_passed_on() {
    let plain = encode(&sample(255), Encoding::Jpeg { quality: 90 }, None);
    for up in 1..=8 {
        let mut turned =
            b"\xFF\xD8\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"
                .to_vec();
        turned.extend([up, 0, 0, 0, 0, 0, 0]);
        turned.extend(&plain[2..]);
        assert_eq!(relabelled(&turned, &label("x")).is_some(), up == 1, "{up}");
    }
}
