//! The files of the console, inside the binary. Every address below `/console/` that is no file is a view of the one page.

use std::sync::{Arc, LazyLock};

use hyper::header::{HeaderValue, IF_NONE_MATCH};
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::File;
use crate::http::received::Received;
use crate::http::reply::{self, Reply};

/// A file of the console.
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

/// Every file; a test holds the list against the folder.
pub(crate) const FILES: &[ConsoleFile] = files! {
    "index.html" "api.js" "app.js" "catalogue.js" "docs.html" "icon.svg" "lib.js" "route.js" "show.js"
    "style.css" "words.js"
    "docs/docs.css" "docs/docs.js" "docs/errors.js" "docs/find.js" "docs/group.js" "docs/guide.js"
    "docs/markdown.js" "docs/operation.js" "docs/try.js" "docs/welcome.js"
    "pages/account.js" "pages/create.js" "pages/job.js" "pages/library.js" "pages/sign_in.js"
    "pages/account/callbacks.js" "pages/account/custody.js" "pages/account/keys.js" "pages/account/ledger.js"
    "pages/account/usage.js"
    "pages/operator/accounts.js" "pages/operator/backend_form.js" "pages/operator/backends.js"
    "pages/operator/lists.js" "pages/operator/operators.js" "pages/operator/overview.js"
    "pages/operator/prices.js"
    "parts/ask.js" "parts/callback_tries.js" "parts/chart.js" "parts/compare.js" "parts/condition.js"
    "parts/copy.js" "parts/copy_as.js" "parts/dialog.js" "parts/follow_ups.js" "parts/form.js" "parts/icon.js"
    "parts/keyboard.js" "parts/lightbox.js" "parts/mask.js" "parts/mask_field.js" "parts/media.js"
    "parts/menu.js" "parts/palette.js" "parts/picture_field.js" "parts/prose.js" "parts/repaint.js"
    "parts/result.js" "parts/rooms.js" "parts/secret.js" "parts/shell.js" "parts/table.js"
    "tiles/anime-images.webp" "tiles/art-images.webp" "tiles/art-videos.webp" "tiles/chat-images.webp"
    "tiles/clips.webp" "tiles/design-images.webp" "tiles/face-swap.webp" "tiles/model-images.webp"
    "tiles/motion-videos.webp" "tiles/videos-partner-channel.webp" "tiles/videos.webp"
    "vendor/LICENSE.txt" "vendor/preact-htm.js"
    "words/de.js" "words/en.js" "words/zh.js"
};

/// What tells a browser that it has a file already, in the order of the files.
static MARKS: LazyLock<Vec<HeaderValue>> = LazyLock::new(|| {
    let mark = |file: &ConsoleFile| {
        let digest = Sha256::digest(file.bytes);
        let number = digest
            .iter()
            .take(8)
            .fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
        HeaderValue::from_str(&format!("\"{number:016x}\""))
            .unwrap_or(HeaderValue::from_static("\"-\""))
    };
    FILES.iter().map(mark).collect()
});

/// A file, or the page itself.
pub(crate) async fn serve(app: Arc<App>, received: Received, (): ()) -> Result<File, Denial> {
    let wanted = received.param(0);
    Ok(File(named(&app, &received, wanted)))
}

/// The file of a name, or the page that draws every view.
pub(crate) fn named(app: &App, received: &Received, wanted: &str) -> Reply {
    let place = FILES.iter().position(|file| file.path == wanted);
    let place = place.unwrap_or(PAGE);
    let file = &FILES[place];
    let known = received.head.headers.get(IF_NONE_MATCH);
    reply::console(
        file.path,
        file.bytes,
        &MARKS[place],
        &app.console_policy,
        known,
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::FILES;

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
    fn every_file_of_the_folder_is_served_and_they_are_small() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("console");
        let mut there = Vec::new();
        below(&root, &root, &mut there);
        let mut listed: Vec<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        there.sort();
        listed.sort();
        assert_eq!(listed, there);
        // A visitor reads one language.
        let of = |fits: fn(&str) -> bool| FILES.iter().filter(move |file| fits(file.path));
        let own = of(|path| !path.starts_with("tiles/") && !path.starts_with("words/"));
        let bytes: usize = own.map(|file| file.bytes.len()).sum();
        let words = of(|path| path.starts_with("words/")).map(|file| file.bytes.len());
        let bytes = bytes + words.max().unwrap_or_default();
        assert!(bytes < 300_000, "{bytes} bytes");
    }
}
