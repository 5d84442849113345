//! The files of the console, inside the binary. Every address below `/console/` that is no file is a view of the one page.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue, LOCATION};

use super::{bare, catalogue, modules};
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::File;
use crate::http::reply::{self, Reply};
use crate::http::request::IncomingRequest;
use crate::http::static_content::{StaticContent, digest};

/// What the browser loads below `/console/`, compiled in.
pub(crate) struct ConsoleFile {
    /// Its path below `/console/`.
    pub(crate) path: &'static str,
    pub(crate) bytes: &'static [u8],
}

macro_rules! files {
    ($($path:literal)*) => {
        &[$(ConsoleFile { path: $path, bytes: include_bytes!(concat!("../../../console/", $path)) },)*]
    };
}

/// The place of the page that draws every view.
const PAGE: usize = 0;

/// Every file; a test holds the list against the folder. One place in the program, where a constant would be one for each use.
pub(crate) static FILES: &[ConsoleFile] = files! {
    "index.html" "api.js" "app.js" "catalogue.js" "docs.html" "draft.js" "events.js" "icon.svg" "lib.js" "route.js" "show.js"
    "style.css" "words.js"
    "catalogue/de.js" "catalogue/zh.js"
    "docs/docs.css" "docs/docs.js" "docs/errors.js" "docs/find.js" "docs/group.js" "docs/guide.js"
    "docs/markdown.js" "docs/operation.js" "docs/try.js" "docs/welcome.js"
    "pages/account.js" "pages/account/buy.js" "pages/account/callbacks.js" "pages/account/custody.js" "pages/account/keys.js" "pages/account/links.js"
    "pages/account/ledger.js" "pages/account/own_worker.js" "pages/account/receipts.js" "pages/account/usage.js" "pages/create.js" "pages/job.js"
    "pages/library.js" "pages/operator/account_forms.js" "pages/operator/account_page.js" "pages/operator/accounts.js"
    "pages/operator/backend_form.js" "pages/operator/backend_page.js" "pages/operator/backends.js"
    "pages/operator/groups.js" "pages/operator/lists.js" "pages/operator/model_form.js" "pages/operator/model_test.js"
    "pages/operator/models.js" "pages/operator/operators.js" "pages/operator/overview.js" "pages/operator/payments.js" "pages/operator/plans.js"
    "pages/operator/prices.js" "pages/operator/products.js" "pages/operator/rehearsal.js" "pages/operator/vouchers.js" "pages/operator/words.js" "pages/sign_in.js"
    "parts/archive.js" "parts/as_json.js" "parts/ask.js" "parts/callback_tries.js" "parts/chart.js" "parts/compare.js"
    "parts/condition.js" "parts/copy.js" "parts/copy_as.js" "parts/credits.js" "parts/date_range.js" "parts/deed_button.js"
    "parts/deeds.js" "parts/dialog.js" "parts/families.js" "parts/finished.js" "parts/flags.js" "parts/follow_ups.js"
    "parts/form.js" "parts/group.js" "parts/hands.js" "parts/icon.js" "parts/keyboard.js" "parts/later.js"
    "parts/library_filters.js" "parts/lightbox.js" "parts/likes.js" "parts/made.js" "parts/mapping.js" "parts/mask.js"
    "parts/mask_field.js" "parts/media.js" "parts/menu.js" "parts/model.js" "parts/model_draft.js"
    "parts/model_fields.js" "parts/model_price.js" "parts/model_routes.js" "parts/money.js" "parts/named.js" "parts/not_found.js"
    "parts/onward.js" "parts/palette.js" "parts/pay_state.js" "parts/picture_field.js" "parts/piece_deeds.js" "parts/pieces.js"
    "parts/plan.js" "parts/prose.js" "parts/quarter.js" "parts/quote.js" "parts/repaint.js" "parts/repaint_with.js" "parts/result.js"
    "parts/rooms.js" "parts/row_menu.js" "parts/samples.js" "parts/secret.js" "parts/settings.js" "parts/share.js" "parts/shell.js"
    "parts/shelves.js" "parts/table.js" "parts/top_up.js" "parts/tree.js" "parts/vendor.js" "parts/wall.js"
    "tiles/anime-images.webp" "tiles/art-images.webp" "tiles/art-videos.webp" "tiles/chat-images.webp"
    "tiles/clips.webp" "tiles/design-images.webp" "tiles/face-swap.webp" "tiles/model-images.webp"
    "tiles/motion-videos.webp" "tiles/videos-partner-channel.webp" "tiles/videos.webp"
    "vendor/LICENSE.txt" "vendor/preact-htm.js"
    "words/de.js" "words/en.js" "words/zh.js"
};

/// Where the modules that a page needs are named in it.
const MODULES: &str = "    <!-- modules -->\n";
/// Where the files are; in the pages, the version comes after it.
const ROOT: &str = "\"/console/";
/// What the console reads first of the OpenAPI document.
const CATALOGUE: &str = "catalogue.json";

/// The files as they are sent.
static KEPT: LazyLock<Vec<StaticContent>> = LazyLock::new(|| {
    let kept = |file: &ConsoleFile| {
        let media_type = media_type(file.path);
        let bytes = if media_type.starts_with("text/html") {
            page(file).into()
        } else if is_module(file) {
            bare::bare(&String::from_utf8_lossy(file.bytes)).into()
        } else {
            Bytes::from_static(file.bytes)
        };
        StaticContent::new(media_type, bytes)
    };
    FILES.iter().map(kept).collect()
});

/// Whether it is a module of our own.
fn is_module(file: &ConsoleFile) -> bool {
    media_type(file.path).starts_with("text/javascript") && !file.path.starts_with("vendor/")
}

/// What all files are together. It is part of the addresses in the pages, so that a browser never asks again for what it
/// has, and never mixes two versions.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<&[u8]> = FILES.iter().map(|file| file.bytes).collect();
    format!("~{}", digest(&all.concat()))
});

/// A page with the version in its addresses, and with every module that it needs named.
fn page(file: &ConsoleFile) -> String {
    let text = String::from_utf8_lossy(file.bytes);
    let entry = text.split("<script type=\"module\" src=\"/console/").nth(1);
    let entry = entry.and_then(|rest| rest.split('"').next());
    let text_of = |path: &str| {
        let file = FILES.iter().find(|file| file.path == path)?;
        std::str::from_utf8(file.bytes).ok()
    };
    let mut links = String::new();
    for path in entry.map_or_else(Vec::new, |entry| modules::needed(entry, text_of)) {
        let _ = writeln!(
            links,
            "    <link rel=\"modulepreload\" href={ROOT}{path}\">"
        );
    }
    let text = text.replace(MODULES, &links);
    let text = text.replace(ROOT, &format!("{ROOT}{}/", *VERSION));
    // What answers anew each time has no version.
    ["session", CATALOGUE].iter().fold(text, |text, name| {
        text.replace(
            &format!("{ROOT}{}/{name}\"", *VERSION),
            &format!("{ROOT}{name}\""),
        )
    })
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("webp") => "image/webp",
        _ => "text/plain; charset=utf-8",
    }
}

/// A file, or the page itself.
pub(crate) async fn serve(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<File, Denial> {
    let wanted = received.param(0);
    if wanted == CATALOGUE {
        let models = app.models();
        let kept = app
            .console_catalogue
            .get(&models, app.engine.now_ms(), |_| {
                let document = app.document(&models);
                let part = catalogue::of(document.plain()).unwrap_or_default();
                let media_type = "application/json; charset=utf-8";
                StaticContent::new(media_type, part.to_string().into())
            });
        return Ok(File(kept.reply(&received.head.headers, false)));
    }
    Ok(File(named(&app, &received, wanted)))
}

/// The name of the console without its last stroke, as people type it. What follows a `#` goes along by itself, what follows
/// a `?` has to be taken along.
pub(crate) async fn lead(_: Arc<App>, received: IncomingRequest, (): ()) -> Result<File, Denial> {
    let mut reply = reply::see_other("/console/");
    if let Some(query) = received.head.uri.query()
        && let Ok(to) = HeaderValue::try_from(format!("/console/?{query}"))
    {
        reply.headers_mut().insert(LOCATION, to);
    }
    Ok(File(reply))
}

/// The file of a name, or the page that draws every view.
pub(crate) fn named(app: &App, received: &IncomingRequest, wanted: &str) -> Reply {
    let (version, name) = match wanted.split_once('/') {
        Some((version, name)) if version.starts_with('~') => (version, name),
        _ => ("", wanted),
    };
    let place = FILES.iter().position(|file| file.path == name);
    let fixed = place.is_some() && version == *VERSION;
    let kept = &KEPT[place.unwrap_or(PAGE)];
    let mut reply = kept.reply(&received.head.headers, fixed);
    let headers = reply.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, app.console_policy.clone());
    reply
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hyper::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};

    use super::{FILES, KEPT, bare};
    use crate::http::payload::Payload;

    fn below(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("the console's folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                below(&path, root, found);
            } else {
                let inside = path.strip_prefix(root).expect("below the folder");
                found.push(inside.to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn modules_are_sent_without_comments_once_and_for_all() {
        let modules = FILES
            .iter()
            .zip(KEPT.iter())
            .filter(|(file, _)| super::is_module(file));
        for (file, kept) in modules {
            let sent = std::str::from_utf8(kept.plain()).expect("text");
            assert!(!sent.contains("/** "), "{}", file.path);
            assert_eq!(bare::bare(sent), sent, "{}", file.path);
        }
    }

    #[test]
    fn every_file_of_the_folder_is_served_and_they_are_small() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("console");
        let mut there = Vec::new();
        below(&root, &root, &mut there);
        let mut listed: Vec<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        there.sort();
        listed.sort();
        assert_eq!(listed, there);
        // What is sent: packed, and one language of all. A first visit reads far less, which the browser's first story measures.
        let gzip = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]);
        let sent = |place: usize| match KEPT[place].reply(&gzip, false).into_body() {
            Payload::Whole(bytes) => bytes.len(),
            _ => 0,
        };
        let of = |fits: fn(&str) -> bool| {
            let all = FILES.iter().enumerate();
            all.filter(move |(_, file)| fits(file.path))
                .map(|(place, _)| sent(place))
        };
        let own = of(|path| {
            !["tiles/", "words/", "catalogue/"]
                .iter()
                .any(|folder| path.starts_with(folder))
        });
        let words = of(|path| path.starts_with("words/"));
        let bytes = own.sum::<usize>() + words.max().unwrap_or_default();
        assert!(bytes < 220_000, "{bytes} bytes");
    }
}
