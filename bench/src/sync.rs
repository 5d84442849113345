//! A synchronous picture through the openai adapter in front of a vendor that answers at once: what the service itself adds
//! to a call, with the job, the file and the money written down.

use std::io::Write as _;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::load;
use crate::report::{Spread, median, say};
use crate::service::{self, request};

const CONNECTIONS: usize = 64;
const SECONDS: f64 = 3.0;
/// The side of a small picture.
pub(crate) const SMALL_SIDE: u32 = 256;
/// Sides of the pictures that the vendor sends: a small answer, and one of three megabytes.
const SIDES: [(u32, &str); 2] = [(SMALL_SIDE, "small"), (1024, "3 MB")];

/// Measures so many rounds and prints.
pub(crate) async fn run(rounds: usize) -> Result<()> {
    for (side, name) in SIDES {
        let (mut ours, mut bare, mut processor, mut slow) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let vendor = service::start_reference(&["serve-vendor", &side.to_string()]).await?;
            let body =
                format!(r#"{{"prompt":"a lighthouse","model":"art-2","size":"{side}x{side}"}}"#);
            let path = "/v1/images/generations";
            let call = request("POST", path, "svc-api-key: x", &body, false);
            let round = load::round(vendor.address, CONNECTIONS, SECONDS, &call).await?;
            bare.push(round.per_second);

            let service = service::start(None).await?;
            let key = service::account(service.address, "sync").await?;
            service::backend(service.address, vendor.address).await?;
            let call = request("POST", path, &key, &body, false);
            let before = service.processor_seconds()?;
            let round = load::round(service.address, CONNECTIONS, SECONDS, &call).await?;
            let seconds = service.processor_seconds()? - before;
            processor.push(seconds * 1000.0 / (round.per_second * SECONDS).max(1.0));
            ours.push(round.per_second);
            slow.push(round.p99_ms);
        }
        say(&format!(
            "synchronous picture ({name}), {CONNECTIONS} connections: {}/s, {} ms of processor each, p99 {:.0} ms; the vendor \
             itself answers {:.0}/s",
            Spread::of(&ours),
            Spread::of(&processor),
            median(&slow),
            median(&bare),
        ));
    }
    Ok(())
}

/// What a vendor that speaks like OpenAI answers.
pub(crate) fn answer(side: u32) -> Result<String> {
    let text = picture(side)?;
    Ok(format!(r#"{{"data":[{{"b64_json":"{text}"}}]}}"#))
}

/// A picture in base64: a small picture is packed, as vendors send it, a large one is as large as its pixels.
pub(crate) fn picture(side: u32) -> Result<String> {
    let level = if side > SMALL_SIDE {
        Compression::none()
    } else {
        Compression::default()
    };
    let mut packed = ZlibEncoder::new(Vec::new(), level);
    for y in 0..side {
        packed.write_all(&[0])?;
        let row: Vec<u8> = (0..side * 3).map(|x| (x * 7 + y * 13) as u8).collect();
        packed.write_all(&row)?;
    }
    let packed = packed.finish()?;
    let mut head = side.to_be_bytes().repeat(2);
    head.extend([8, 2, 0, 0, 0]);
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [(b"IHDR", &head), (b"IDAT", &packed), (b"IEND", &Vec::new())] {
        picture.extend((content.len() as u32).to_be_bytes());
        let begin = picture.len();
        picture.extend(kind);
        picture.extend(content);
        let sum = crc32fast::hash(&picture[begin..]);
        picture.extend(sum.to_be_bytes());
    }
    Ok(STANDARD.encode(picture))
}
