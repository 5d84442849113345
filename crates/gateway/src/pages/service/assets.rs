//! Result files behind signed addresses: whole, in part, or not at all when the caller has them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::pages::files::ThumbQuery;
use atelier_contract::{Code, File as JobFile, Job, Refusal};
use atelier_engine::Asset;
use atelier_fairness::share::{AcquireError, FairPermit as Place};
use futures_util::TryStreamExt as _;
use hyper::Method;
use tokio::time::{sleep, timeout};

use crate::app::App;
use crate::http::admission;
use crate::http::denial::Denial;
use crate::http::page::{File, Query};
use crate::http::payload::ByteStream;
use crate::http::range::{self, ByteRange, RequestedRange};
use crate::http::reply::file::{self, FileHeaders};
use crate::http::request::IncomingRequest;

/// How long a download waits while its address has all it may have.
const TURN: Duration = Duration::from_secs(10);

/// Hands out a file.
pub(crate) async fn serve(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<File, Denial> {
    let key = received.param(0);
    let asset = app
        .engine
        .assets()
        .asset(key, received.head.uri.query().unwrap_or_default())
        .await?;
    hand_out(&app, &received, &asset).await
}

/// Hands out a file of a job of the caller's, while it is kept.
pub(crate) async fn hand_out_of(
    app: &App,
    received: &IncomingRequest,
    job: &Job,
    file: &JobFile,
) -> Result<File, Denial> {
    if file.expires_ms <= app.engine.now_ms() {
        return Err(Refusal::new(Code::Expired, "the file has expired").into());
    }
    let asset = Asset {
        etag: format!("\"{:x}-{:x}\"", job.created_ms, file.bytes),
        key: file.key.clone(),
        account_id: Arc::clone(received.account()?.shared()),
        media_type: file.media_type.clone(),
        bytes: file.bytes,
        expires_ms: file.expires_ms,
    };
    hand_out(app, received, &asset).await
}

/// Hands out a file that the caller may have: whole, in part, or not at all when the caller has it.
pub(crate) async fn hand_out(
    app: &App,
    received: &IncomingRequest,
    asset: &Asset,
) -> Result<File, Denial> {
    let about = FileHeaders {
        seconds_left: (asset.expires_ms - app.engine.now_ms()) / 1000,
        media_type: asset.media_type.clone(),
        bytes: asset.bytes,
        etag: asset.etag.clone(),
    };
    let open = async |part: ByteRange| open(app, received, asset, part).await;
    let mut wanted = range::requested_range(&received.head.headers, &about.etag, about.bytes);
    // A part can only be asked for together with its bytes.
    if received.head.method == Method::HEAD && wanted != RequestedRange::Nothing {
        wanted = RequestedRange::Whole;
    }
    Ok(File(match wanted {
        RequestedRange::Nothing => file::unchanged_file(&about),
        RequestedRange::Outside => file::range_not_satisfiable(&about),
        RequestedRange::Whole if about.bytes == 0 => file::whole_file(&about, None),
        RequestedRange::Whole => {
            let all = ByteRange {
                first: 0,
                last: about.bytes - 1,
            };
            file::whole_file(&about, open(all).await?)
        }
        RequestedRange::Part(part) => file::part_of_file(&about, part, open(part).await?),
    }))
}

/// Hands out a small picture of a file, behind the address of the file itself.
pub(crate) async fn thumbnail(
    app: Arc<App>,
    received: IncomingRequest,
    Query(wish): Query<ThumbQuery>,
) -> Result<File, Denial> {
    let key = received.param(0);
    let query = received.head.uri.query().unwrap_or_default();
    let whole = app.engine.assets().asset(key, query).await?;
    let (asset, bytes) = app.engine.assets().thumbnail(&whole, wish.size).await?;
    let about = FileHeaders {
        seconds_left: (asset.expires_ms - app.engine.now_ms()) / 1000,
        media_type: asset.media_type,
        bytes: asset.bytes,
        etag: asset.etag,
    };
    let wanted = range::requested_range(&received.head.headers, &about.etag, about.bytes);
    if wanted == RequestedRange::Nothing {
        return Ok(File(file::unchanged_file(&about)));
    }
    let whole = received.head.method != Method::HEAD;
    if !whole {
        return Ok(File(file::whole_file(&about, None)));
    }
    let place = download_slot(&app, &received).await?;
    let flow: ByteStream = Box::pin(futures_util::stream::once(async move {
        drop(place);
        Ok(bytes)
    }));
    Ok(File(file::whole_file(&about, Some(flow))))
}

/// Waits for a place among the files that are being sent.
async fn download_slot(app: &App, received: &IncomingRequest) -> Result<Place, Denial> {
    let place = app.downloads.take(received.admission.holder(), 1);
    let place = timeout(TURN, place).await;
    place.map_err(|_| admission::capacity_denial(AcquireError::Share, "too many downloads at once"))
}

/// The bytes, unless only the head was asked for.
async fn open(
    app: &App,
    received: &IncomingRequest,
    asset: &Asset,
    part: ByteRange,
) -> Result<Option<ByteStream>, Denial> {
    if received.head.method == Method::HEAD {
        return Ok(None);
    }
    let place = download_slot(app, received).await?;
    let bytes = app
        .engine
        .assets()
        .asset_bytes(asset, part.first..part.last + 1)
        .await?;
    let (throughput, holder) = (
        Arc::clone(&app.download_throughput),
        Arc::clone(received.admission.holder()),
    );
    let mut uncounted = 0;
    let bytes = bytes.map_err(io::Error::other).and_then(move |piece| {
        // The stream owns its place, and gives it back with the file.
        let _ = &place;
        uncounted += piece.len();
        let wait = throughput
            .count(&holder, &mut uncounted)
            .unwrap_or_default();
        async move {
            if !wait.is_zero() {
                sleep(wait).await;
            }
            Ok(piece)
        }
    });
    Ok(Some(Box::pin(bytes)))
}
