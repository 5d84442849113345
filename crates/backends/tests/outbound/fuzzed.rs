//! Changed addresses and changed media against the readers that meet them first.

use std::net::{IpAddr, SocketAddr};

use atelier_backends::guard::{Policy, Purpose};
use atelier_backends::{video_type, without_metadata};
use atelier_contract::fields::ImageHeader;

use crate::inputs::Inputs;

/// An address that passes names a public host, whatever it looked like.
#[test]
fn no_address_that_passes_names_this_machine() {
    let policy = Policy::from_settings(&[], None, false, &[], &[]).expect("a policy");
    let seeds = [
        "https://example.com/a.png",
        "http://127.0.0.1/",
        "http://[::1]:80/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://169.254.169.254/latest",
        "http://user:pass@localhost/",
        "https://xn--bcher-kva.example/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://0177.0.0.1:443/a?b#c",
    ];
    let seeds = seeds.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "http://",
        "https:",
        "//",
        "\\",
        "@",
        "127.0.0.1",
        "[::1]",
        "localhost",
        ".internal",
        "。",
        "%31",
        "\t",
        "0x7f",
        ":80",
        "1.1",
        "\u{ff11}",
        "::ffff:",
        ".",
        "#",
        "?",
        "10.0.0.1",
        "fd00::1",
        ".local",
    ];
    for input in Inputs::new("addresses", 1_500, seeds, &words) {
        let text = String::from_utf8_lossy(&input);
        for purpose in [Purpose::Callback, Purpose::Image] {
            let Ok(url) = policy.check_url(&text, purpose) else {
                continue;
            };
            let host = url.host_str().expect("a host");
            assert!(matches!(url.scheme(), "http" | "https"), "{text}");
            assert!(
                url.username().is_empty() && url.password().is_none(),
                "{text}"
            );
            let literal = host.trim_matches(['[', ']']).parse::<IpAddr>();
            if let Ok(address) = literal {
                let at = SocketAddr::new(address, url.port_or_known_default().expect("a port"));
                assert!(
                    policy.check_address(purpose, host, at).is_ok(),
                    "{text} is {at}"
                );
                assert!(
                    !address.is_loopback() && !address.is_unspecified(),
                    "{text}"
                );
            }
            assert_ne!(host.trim_end_matches('.'), "localhost", "{text}");
        }
    }
}

fn media() -> Vec<Vec<u8>> {
    use atelier_media::{Encoding, Picture, encode};
    let picture = Picture::drawn(9, 7, |x, y| [x as u8 * 20, y as u8 * 30, 90, 255]);
    let mut seeds: Vec<Vec<u8>> = [
        Encoding::Png,
        Encoding::Jpeg { quality: 80 },
        Encoding::Webp { quality: None },
        Encoding::Webp { quality: Some(80) },
    ]
    .into_iter()
    .map(|encoding| encode(&picture, encoding, None))
    .collect();
    seeds.push(b"GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02\x84Q\x00;".to_vec());
    seeds.push(b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2avc1mp41\x00\x00\x00\x08free\x00\x00\x00\x10mdat12345678\x00\x00\x00\x08moov".to_vec());
    seeds.push(b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82\x84webm".to_vec());
    seeds
}

/// Headers are read without a panic, by both readers alike, and what is stripped is still the picture whose header was read.
#[test]
fn no_file_breaks_the_readers_of_headers() {
    let words = [
        "IHDR",
        "IDAT",
        "eXIf",
        "VP8X",
        "VP8L",
        "EXIF",
        "RIFF",
        "WEBP",
        "\u{0}\u{0}\u{0}\u{8}",
        "moov",
        "mvhd",
        "trak",
        "ftyp",
        "Exif\u{0}\u{0}",
        "iTXt",
    ];
    for input in Inputs::new("media", 1_500, media(), &words) {
        let _ = video_type(&input);
        if let (Ok(one), Ok(other)) = (ImageHeader::read(&input), atelier_media::header(&input)) {
            let (one, kind) = (
                (one.media_type, one.width, one.height),
                other.format.media_type(),
            );
            assert_eq!(
                one,
                (kind, other.width, other.height),
                "the two readers agree"
            );
        }
        if let (Ok(header), Ok(Some(stripped))) =
            (ImageHeader::read(&input), without_metadata(&input))
        {
            let again = ImageHeader::read(&stripped).expect("still a picture");
            assert_eq!((again.width, again.height), (header.width, header.height));
            assert!(stripped.len() <= input.len() + 64);
        }
    }
}
