//! Pages without a key: the interface described for machines and for people, and the guides beside it.

use std::sync::Arc;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Document, File};
use crate::http::received::Received;
use crate::http::reply;
use crate::pages::console::files;

macro_rules! guides {
    ($($name:literal $title:literal)*) => {
        &[$(Guide { name: $name, title: $title, text: include_str!(concat!("../../../../../docs/", $name, ".md")) },)*]
    };
}

/// A guide of the documents.
struct Guide {
    name: &'static str,
    title: &'static str,
    text: &'static str,
}

/// The guides that are read beside the reference.
const GUIDES: &[Guide] = guides! {
    "callbacks" "Callbacks"
    "keys" "Keys and operators"
    "doors" "Files, batches, events, other clients"
    "backends" "Back ends"
    "sandbox" "The sandbox"
    "cli" "The command line"
    "mcp" "Agents"
};

/// The OpenAPI document.
pub(crate) async fn document(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Document, Denial> {
    let headers = &received.head.headers;
    Ok(Document(app.document.reply(headers, false)))
}

/// The readable pages, which draw themselves from `/openapi.json`; a guide as its own text.
pub(crate) async fn page(app: Arc<App>, received: Received, (): ()) -> Result<File, Denial> {
    let wanted = received.params.first().map_or("", String::as_str);
    if wanted == "guides.json" {
        let list: Vec<_> = GUIDES
            .iter()
            .map(|guide| serde_json::json!({ "name": guide.name, "title": guide.title }))
            .collect();
        return Ok(File(reply::json_of(&list)));
    }
    let guide = wanted
        .strip_suffix(".md")
        .and_then(|name| GUIDES.iter().find(|guide| guide.name == name));
    if let Some(guide) = guide {
        let media_type = "text/markdown; charset=utf-8";
        return Ok(File(reply::text(media_type, guide.text.to_owned())));
    }
    Ok(File(files::named(&app, &received, "docs.html")))
}
