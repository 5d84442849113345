//! Readers of the contract against changed input: whatever comes, they refuse or they understand, and what was understood
//! can be priced and stored and understood again.

use atelier_contract::FAMILIES;
use atelier_contract::body::{parse_object, parse_object_within};
use atelier_contract::families::artgen::flags::Flags;
use atelier_contract::fields::{ImageData, ImageHeader};

use crate::inputs::Inputs;

fn examples() -> Vec<Vec<u8>> {
    let folder =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).expect("examples");
    let mut paths: Vec<_> = folder.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("an example"))
        .collect()
}

/// Every operation reads every changed example, its own and those of the others.
#[test]
fn no_request_breaks_a_reader() {
    let words = [
        "{",
        "}",
        "[",
        "]",
        "\"prompt\":",
        "\"model\":",
        "null",
        "true",
        "\"\\u0000\"",
        "\\ud800",
        "\"image\":",
        "data:image/png;base64,",
        "https://example.com/a.png",
        "\"size\":",
        "1024x1024",
        "\"hookUrl\":",
        "\u{202e}",
    ];
    for input in Inputs::new("requests", 1_500, examples(), &words) {
        let Ok(fields) = parse_object(&input) else {
            continue;
        };
        for submit in FAMILIES.iter().flat_map(|family| family.submits) {
            match (submit.parse)(fields.clone()) {
                Ok(_) => {}
                Err(refusal) => {
                    let status = refusal.code.status();
                    assert!((400..500).contains(&status), "{}: {refusal:?}", submit.name);
                }
            }
        }
    }
}

#[test]
fn no_body_takes_more_values_than_it_may() {
    let seeds = vec![
        b"{\"a\":[{},{\"b\":[1,2,{}]}]}".to_vec(),
        b"{\"a\":{\"b\":{\"c\":{}}}}".to_vec(),
    ];
    for input in Inputs::new(
        "bodies",
        1_500,
        seeds,
        &["{", "[", "{}", ",", "\"k\":", "[[[[", "}}}}"],
    ) {
        let few = parse_object_within(&input, 8);
        let many = parse_object(&input);
        assert!(
            few.is_err() || many.is_ok(),
            "what few values allow, many do"
        );
    }
}

#[test]
fn no_data_uri_breaks_a_reader() {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let seeds = vec![
        png.into(),
        format!("data:image/png;base64,{png}").into(),
        b"data:image/jpeg;base64,/9j/4AAQSkZJRgABAQEAYABgAAD/2Q==".to_vec(),
        b"data:;base64,R0lGODlhAQABAAAAACw=".to_vec(),
    ];
    let words = [
        "data:",
        ";base64,",
        "image/webp",
        "UklGR",
        "=",
        "\n",
        "%2B",
        "-_",
        ",",
        "charset=utf-8;",
    ];
    for input in Inputs::new("data-uris", 1_500, seeds, &words) {
        let text = String::from_utf8_lossy(&input);
        if let Ok(ImageData::Inline(inline)) = ImageData::from_base64(&text) {
            let bytes = inline.bytes.as_deref().expect("bytes that were just read");
            assert!(ImageHeader::read(bytes).is_ok(), "{text}");
        }
    }
}

#[test]
fn no_prompt_breaks_the_reader_of_its_flags() {
    let seeds = [
        "a fox --ar 16:9 --v 6 --seed 4294967295 --no trees, snow",
        "https://example.com/a.png a fox --cref https://example.com/b.png --cw 50 --iw 2",
        "fox::2 wolf::-1 --chaos 100 --stylize 1000 --weird 3000 --tile --q 2",
        "a fox — ar 3:2 –v 5.2 --niji 6 --style raw --sref random --sw 1000",
    ];
    let seeds = seeds.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "--", "—", "--ar", "--seed", "--no", "--v", "::", " ", ":", "--sref", "https://", "\u{0}",
        "--iw", "{a,b}", "\u{202e}",
    ];
    for input in Inputs::new("flags", 1_500, seeds, &words) {
        let text = String::from_utf8_lossy(&input);
        if let Ok(flags) = Flags::read(&text) {
            let (across, down) = flags.ratio();
            assert!(across > 0 && down > 0, "{text}");
            let _ = (
                flags.version(),
                flags.seed(),
                flags.hints(),
                flags.to_json(),
            );
        }
    }
}
