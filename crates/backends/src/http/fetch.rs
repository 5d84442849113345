//! Reading images and files from addresses of callers: each redirect is judged anew, bytes are counted while they
//! come, and an image shows its magic bytes before the rest is waited for.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use atelier_contract::fields::ImageHeader;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use http::{Method, Request, Response, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::client::{OutboundClient, USER_AGENT};
use super::error::{FetchError, OutboundError, classify};
use super::fence::FencedBody;
use super::input_memory::InputMemory;
use super::limits::Limits;
use super::slots::FetchSlot;
use crate::guard::{Purpose, names_own_machine};

/// How far a buffer grows at a time when the answer does not say how long it is.
const GROWTH: usize = 1024 * 1024;
/// So many bytes tell every image format from anything else.
const MAGIC_BYTES: usize = 16;

/// An image as it came, with what its header says.
#[derive(Clone, Debug)]
pub struct FetchedImage {
    /// The file as it was received.
    pub bytes: Bytes,
    /// The media type by magic bytes, whatever the answer claimed.
    pub media_type: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// A file that is still coming.
pub struct Download {
    /// The media type the answer claims.
    pub media_type: Option<String>,
    /// The size the answer claims.
    pub length: Option<u64>,
    pieces: Pin<Box<dyn Stream<Item = Result<Bytes, FetchError>> + Send>>,
}

impl Download {
    /// Reads the rest into memory, within a room that grows with it or covers the largest file; what it does not need
    /// goes back.
    pub async fn collect_within(mut self, room: &mut InputMemory) -> Result<Bytes, FetchError> {
        let mut bytes = Vec::new();
        if let Some(length) = self.length {
            room.shrink(length);
        }
        while let Some(piece) = self.next().await {
            extend(&mut bytes, &piece?, room)?;
        }
        Ok(bytes.into())
    }
}

impl Stream for Download {
    type Item = Result<Bytes, FetchError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.pieces.poll_next_unpin(context)
    }
}

impl OutboundClient {
    /// Reads an image; its bytes hold their share of the common memory.
    pub async fn fetch_image(&self, url: &str) -> Result<FetchedImage, FetchError> {
        let mut room = self.room(&"".into());
        let mut image = self.image(url, &mut room, true).await?;
        image.bytes = room.hold(image.bytes);
        Ok(image)
    }

    /// Reads an image within a room that grows with it or covers the largest one; what it does not need goes back.
    pub async fn fetch_image_within(
        &self,
        url: &str,
        room: &mut InputMemory,
    ) -> Result<FetchedImage, FetchError> {
        self.image(url, room, false).await
    }

    async fn image(
        &self,
        url: &str,
        room: &mut InputMemory,
        reserve: bool,
    ) -> Result<FetchedImage, FetchError> {
        let deadline = Instant::now() + self.limits.image;
        let work = async {
            let (response, _place) = self
                .get(
                    url,
                    "image/png, image/jpeg, image/webp, image/gif",
                    room.whose(),
                )
                .await?;
            let most = self.limits.image_bytes;
            let size = response.body().size_hint();
            if size.lower() > most {
                return Err(OutboundError::TooLarge);
            }
            let most = size.exact().unwrap_or(most);
            if reserve {
                *room = self.reserve(&"".into(), most).await;
            }
            room.shrink(most);
            let bytes = read_image(response, most as usize, room).await?;
            let header = ImageHeader::read(&bytes).map_err(|_| OutboundError::NotAnImage)?;
            Ok(FetchedImage {
                bytes,
                media_type: header.media_type,
                width: header.width,
                height: header.height,
            })
        };
        let result: Result<_, OutboundError> = timeout_at(deadline, work)
            .await
            .unwrap_or(Err(OutboundError::TimedOut));
        result.map_err(FetchError::from)
    }

    /// Starts reading a file of at most `max_bytes`; its bytes are the caller's to look at.
    pub async fn fetch_file(&self, url: &str, max_bytes: u64) -> Result<Download, FetchError> {
        self.fetch_file_for("", url, max_bytes).await
    }

    /// The same for an account, which has a share of what may be read at once.
    pub async fn fetch_file_for(
        &self,
        whose: &str,
        url: &str,
        max_bytes: u64,
    ) -> Result<Download, FetchError> {
        let deadline = Instant::now() + self.limits.file;
        let (response, place) = timeout_at(deadline, self.get(url, "*/*", whose))
            .await
            .unwrap_or(Err(OutboundError::TimedOut))?;
        let length = response.body().size_hint().exact();
        if length.is_some_and(|length| length > max_bytes) {
            return Err(OutboundError::TooLarge.into());
        }
        let media_type = response
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let flow = FileStream {
            body: response.into_body(),
            left: max_bytes,
            deadline,
            stall: self.limits.stall,
            pace: TransferRate::new(&self.limits),
            _place: place,
        };
        Ok(Download {
            media_type,
            length,
            pieces: Box::pin(futures_util::stream::unfold(Some(flow), step)),
        })
    }

    /// Asks for an address and follows what redirects are allowed.
    async fn get(
        &self,
        url: &str,
        accept: &str,
        whose: &str,
    ) -> Result<(Response<Incoming>, FetchSlot), OutboundError> {
        let mut url = self.judged(url)?;
        for _ in 0..=self.limits.redirects {
            let place = self
                .reading
                .take(whose, &url, self.limits.place)
                .await
                .ok_or(OutboundError::Busy)?;
            let request = Request::builder()
                .method(Method::GET)
                .uri(url.as_str())
                .header(header::USER_AGENT, USER_AGENT)
                .header(header::ACCEPT, accept)
                .header(header::ACCEPT_ENCODING, "identity")
                .body(FencedBody::default())
                .map_err(|_| OutboundError::Protocol)?;
            let answer = timeout_at(
                Instant::now() + self.limits.image,
                self.fetches.request(request),
            );
            let response = match answer.await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => return Err(classify(&error)),
                Err(_) => return Err(OutboundError::TimedOut),
            };
            match response.status().as_u16() {
                200 => return Ok((response, place)),
                301 | 302 | 303 | 307 | 308 => url = self.next(&url, &response)?,
                other => return Err(OutboundError::Status(other)),
            }
        }
        Err(OutboundError::Redirect)
    }

    /// Where a redirect leads, if it may be followed: judged like a submitted address, and never from https to http.
    fn next(&self, from: &Url, response: &Response<Incoming>) -> Result<Url, OutboundError> {
        let location = response
            .headers()
            .get(header::LOCATION)
            .and_then(|value| value.to_str().ok())
            .filter(|text| !text.contains(['\\', ' ', '\t']))
            .ok_or(OutboundError::Redirect)?;
        let to = from.join(location).map_err(|_| OutboundError::Redirect)?;
        if from.scheme() == "https" && to.scheme() != "https" {
            return Err(OutboundError::Redirect);
        }
        // Somebody elsewhere has no say in what is reached on this machine.
        let outside = !from.host_str().is_some_and(names_own_machine);
        self.policy_for(outside)
            .check_url(to.as_str(), Purpose::Image)
            .map_err(|_| OutboundError::Blocked)
    }

    fn judged(&self, url: &str) -> Result<Url, OutboundError> {
        self.policy
            .check_url(url, Purpose::Image)
            .map_err(|_| OutboundError::Blocked)
    }
}

/// The bytes of an image, at most so many.
async fn read_image(
    response: Response<Incoming>,
    most: usize,
    room: &mut InputMemory,
) -> Result<Bytes, OutboundError> {
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    let mut looked = false;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| OutboundError::Protocol)?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > most {
            return Err(OutboundError::TooLarge);
        }
        extend(&mut bytes, &data, room)?;
        if !looked && bytes.len() >= MAGIC_BYTES {
            looked = true;
            if !starts_like_an_image(&bytes) {
                return Err(OutboundError::NotAnImage);
            }
        }
    }
    Ok(bytes.into())
}

/// Adds a piece, step by step: a buffer that doubles would take twice its room.
fn extend(bytes: &mut Vec<u8>, piece: &[u8], room: &mut InputMemory) -> Result<(), OutboundError> {
    if bytes.capacity() - bytes.len() < piece.len() {
        // Small at first, so that what hardly comes hardly takes anything.
        let step = bytes.len().clamp(piece.len(), GROWTH.max(piece.len()));
        if !room.fits((bytes.len() + step) as u64) {
            return Err(OutboundError::Busy);
        }
        bytes.reserve_exact(step);
    }
    bytes.extend_from_slice(piece);
    Ok(())
}

fn starts_like_an_image(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n")
        || bytes.starts_with(b"\xff\xd8\xff")
        || bytes.starts_with(b"GIF8")
        || bytes.starts_with(b"RIFF") && bytes[8..].starts_with(b"WEBP")
}

/// A file on its way; the place is held until the end.
struct FileStream {
    body: Incoming,
    left: u64,
    deadline: Instant,
    stall: Duration,
    pace: TransferRate,
    _place: FetchSlot,
}

/// How fast a file comes: bytes that came fast buy no time for the rest.
struct TransferRate {
    window: Duration,
    least: u64,
    came: u64,
    until: Instant,
}

impl TransferRate {
    fn new(limits: &Limits) -> Self {
        Self {
            window: limits.stall,
            least: limits.slowest.saturating_mul(limits.stall.as_secs()),
            came: 0,
            until: Instant::now() + limits.stall,
        }
    }

    /// Counts bytes; false when too few came for too long.
    fn keeps_up(&mut self, bytes: usize) -> bool {
        self.came += bytes as u64;
        let now = Instant::now();
        if now < self.until {
            return true;
        }
        let enough = self.came >= self.least;
        (self.came, self.until) = (0, now + self.window);
        enough
    }
}

/// The next piece; after an error the flow is over.
async fn step(flow: Option<FileStream>) -> Option<(Result<Bytes, FetchError>, Option<FileStream>)> {
    let mut flow = flow?;
    loop {
        let until = flow.deadline.min(Instant::now() + flow.stall);
        let data = match timeout_at(until, flow.body.frame()).await {
            Err(_) => return Some((Err(OutboundError::TimedOut.into()), None)),
            Ok(None) => return None,
            Ok(Some(Err(_))) => return Some((Err(OutboundError::Protocol.into()), None)),
            Ok(Some(Ok(frame))) => frame.into_data(),
        };
        let Ok(data) = data else { continue };
        if !flow.pace.keeps_up(data.len()) {
            return Some((Err(OutboundError::TimedOut.into()), None));
        }
        match flow.left.checked_sub(data.len() as u64) {
            Some(left) => flow.left = left,
            None => return Some((Err(OutboundError::TooLarge.into()), None)),
        }
        return Some((Ok(data), Some(flow)));
    }
}
