//! Messages that a vendor sends by itself: the reading side of a WebSocket. Nothing is ever said to the vendor but that
//! its pings arrived, so a page of code does what a library of both sides would.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::upgrade::{self, Upgraded};
use hyper_util::rt::TokioIo;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout_at};

use super::{VendorHttp, VendorRequest};
use crate::backend::{Class, Fault};

/// The longest message that is read; longer ones are skipped.
const MOST_BYTES: u64 = 1024 * 1024;
/// The longest ping, as the protocol has it.
const MOST_PING: u64 = 125;

const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const LAST: u8 = 0x80;

/// Messages as they come.
pub(crate) struct WebSocketMessages {
    stream: TokioIo<Upgraded>,
}

impl VendorHttp {
    /// Opens a line on which the vendor says what happens.
    pub(crate) async fn listen(&self, path: &str) -> Result<WebSocketMessages, Fault> {
        let key = STANDARD.encode(&Sha256::digest(path)[..16]);
        let call = VendorRequest::get(path)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", &key);
        let deadline = Instant::now() + call.limit;
        let answer = self.send(&self.once, call, None, deadline).await?;
        let closed = |why: String| Fault::vendor(Class::Retry, why);
        if answer.status() != http::StatusCode::SWITCHING_PROTOCOLS {
            return Err(closed(format!("no messages: status {}", answer.status())));
        }
        match timeout_at(deadline, upgrade::on(answer)).await {
            Ok(Ok(stream)) => Ok(WebSocketMessages {
                stream: TokioIo::new(stream),
            }),
            _ => Err(closed("no messages: the line was closed".to_owned())),
        }
    }
}

impl WebSocketMessages {
    /// The next text; `None` when the line has ended or makes no sense.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let [first, second] = self.read::<2>().await?;
            let length = match second {
                // Only clients hide what they send.
                LAST.. => return None,
                126 => u64::from(u16::from_be_bytes(self.read().await?)),
                127 => u64::from_be_bytes(self.read().await?),
                short => u64::from(short),
            };
            match first & 0x0f {
                TEXT if first & LAST != 0 && length <= MOST_BYTES => {
                    return self.body(length).await.map(Bytes::from);
                }
                PING if length <= MOST_PING => {
                    let body = self.body(length).await?;
                    self.pong(&body).await?;
                }
                CLOSE => return None,
                // Pictures on the way, and parts of what is too long.
                _ => self.skip(length).await?,
            }
        }
    }

    async fn read<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).await.ok()?;
        Some(bytes)
    }

    async fn body(&mut self, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        self.stream.read_exact(&mut bytes).await.ok()?;
        Some(bytes)
    }

    async fn skip(&mut self, length: u64) -> Option<()> {
        let mut rest = (&mut self.stream).take(length);
        let skipped = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
        (skipped.ok()? == length).then_some(())
    }

    async fn pong(&mut self, body: &[u8]) -> Option<()> {
        // Hidden with zeros, which hide nothing: the rule is there for what browsers send through old proxies.
        let mut frame = vec![LAST | PONG, LAST | body.len() as u8, 0, 0, 0, 0];
        frame.extend_from_slice(body);
        self.stream.write_all(&frame).await.ok()?;
        self.stream.flush().await.ok()
    }
}
