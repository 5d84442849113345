//! Result files behind signed addresses: whole, in part, or not at all when the caller has them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use atelier_engine::Asset;
use futures_util::TryStreamExt as _;
use hyper::Method;
use tokio::time::{sleep, timeout};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::File;
use crate::http::pass;
use crate::http::payload::Flow;
use crate::http::range::{self, Part, Wanted};
use crate::http::received::Received;
use crate::http::reply::{self, About};
use atelier_engine::shares::{Full, Part as Place};

/// How long a download waits while its address has all it may have.
const TURN: Duration = Duration::from_secs(10);

/// Hands out a file.
pub(crate) async fn serve(app: Arc<App>, received: Received, (): ()) -> Result<File, Denial> {
    let key = received.param(0);
    let asset = app
        .engine
        .vault()
        .asset(key, received.head.uri.query().unwrap_or_default())
        .await?;
    hand_out(&app, &received, &asset).await
}

/// Hands out a file that the caller may have: whole, in part, or not at all when the caller has it.
pub(crate) async fn hand_out(
    app: &App,
    received: &Received,
    asset: &Asset,
) -> Result<File, Denial> {
    let about = About {
        seconds_left: (asset.expires_ms - app.engine.now_ms()) / 1000,
        media_type: asset.media_type.clone(),
        bytes: asset.bytes,
        etag: asset.etag.clone(),
    };
    let open = async |part: Part| open(app, received, asset, part).await;
    let mut wanted = range::wanted(&received.head.headers, &about.etag, about.bytes);
    // A part can only be asked for together with its bytes.
    if received.head.method == Method::HEAD && wanted != Wanted::Nothing {
        wanted = Wanted::Whole;
    }
    Ok(File(match wanted {
        Wanted::Nothing => reply::unchanged_file(&about),
        Wanted::Outside => reply::range_not_there(&about),
        Wanted::Whole if about.bytes == 0 => reply::whole_file(&about, None),
        Wanted::Whole => {
            let all = Part {
                first: 0,
                last: about.bytes - 1,
            };
            reply::whole_file(&about, open(all).await?)
        }
        Wanted::Part(part) => reply::part_of_file(&about, part, open(part).await?),
    }))
}

/// Hands out a small picture of a file, behind the address of the file itself.
pub(crate) async fn thumbnail(app: Arc<App>, received: Received, (): ()) -> Result<File, Denial> {
    let key = received.param(0);
    let query = received.head.uri.query().unwrap_or_default();
    let whole = app.engine.vault().asset(key, query).await?;
    let (asset, bytes) = app.engine.vault().thumbnail(&whole).await?;
    let about = About {
        seconds_left: (asset.expires_ms - app.engine.now_ms()) / 1000,
        media_type: asset.media_type,
        bytes: asset.bytes,
        etag: asset.etag,
    };
    let wanted = range::wanted(&received.head.headers, &about.etag, about.bytes);
    if wanted == Wanted::Nothing {
        return Ok(File(reply::unchanged_file(&about)));
    }
    let whole = received.head.method != Method::HEAD;
    if !whole {
        return Ok(File(reply::whole_file(&about, None)));
    }
    let place = turn(&app, &received).await?;
    let flow: Flow = Box::pin(futures_util::stream::once(async move {
        drop(place);
        Ok(bytes)
    }));
    Ok(File(reply::whole_file(&about, Some(flow))))
}

/// Waits for a place among the files that are being sent.
async fn turn(app: &App, received: &Received) -> Result<Place, Denial> {
    let place = app.downloads.take(received.pass.holder(), 1);
    let place = timeout(TURN, place).await;
    place.map_err(|_| pass::refused(Full::Share, "too many downloads at once"))
}

/// The bytes, unless only the head was asked for.
async fn open(
    app: &App,
    received: &Received,
    asset: &Asset,
    part: Part,
) -> Result<Option<Flow>, Denial> {
    if received.head.method == Method::HEAD {
        return Ok(None);
    }
    let place = turn(app, received).await?;
    let bytes = app
        .engine
        .vault()
        .asset_bytes(asset, part.first..part.last + 1)
        .await?;
    let (throughput, holder) = (
        Arc::clone(&app.download_throughput),
        Arc::clone(received.pass.holder()),
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
