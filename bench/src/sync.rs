//! A synchronous picture through the openai adapter in front of a vendor that answers at once: what the service itself adds
//! to a call, with the job, the file and the money written down.

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::load;
use crate::report::{Spread, median, say};
use crate::service::{self, request};

const CONNECTIONS: usize = 64;
const SECONDS: f64 = 3.0;
/// Sides of the pictures that the vendor sends: a small answer, and one of three megabytes.
const SIDES: [(u32, &str); 2] = [(256, "small"), (1024, "3 MB")];

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
            service::backend(service.address, &format!("http://{}/v1", vendor.address)).await?;
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

/// What a vendor answers: a picture that is not compressed, as large as it is.
pub(crate) fn answer(side: u32) -> Result<String> {
    let mut rows = Vec::new();
    for y in 0..side {
        rows.push(0);
        rows.extend((0..side * 3).map(|x| (x * 7 + y * 13) as u8));
    }
    // Blocks that are stored as they are.
    let mut packed = vec![0x78, 0x01];
    let mut blocks = rows.chunks(0xFFFF).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).context("a block")?;
        packed.push(u8::from(blocks.peek().is_none()));
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(block);
    }
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in &rows {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    packed.extend(((high << 16) | low).to_be_bytes());
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
    let text = STANDARD.encode(picture);
    Ok(format!(r#"{{"data":[{{"b64_json":"{text}"}}]}}"#))
}
