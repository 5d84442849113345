//! Pages without a key: the interface described for machines and for people, and the guides beside it.

use std::sync::Arc;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Document, File};
use crate::http::reply;
use crate::http::request::IncomingRequest;
use crate::pages::console::files;

macro_rules! guides {
    ($($path:literal $title:literal)*) => {
        &[$(Guide { path: $path, title: $title, text: include_str!(concat!("../../../../../docs/", $path, ".md")) },)*]
    };
}

/// A guide of the documents.
struct Guide {
    /// Its file in `docs`, without its ending.
    path: &'static str,
    title: &'static str,
    text: &'static str,
}

impl Guide {
    /// Its name, by which it is read under `/docs/guide`.
    fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

/// The guides that are read beside the reference.
static GUIDES: &[Guide] = guides! {
    "guide/first-ten-minutes" "The first ten minutes"
    "guide/moving-here" "Moving a client here"
    "guide/from-new-api" "Move from new-api"
    "guide/from-one-api" "Move from one-api"
    "guide/from-litellm" "Move from LiteLLM"
    "guide/from-midjourney-proxy" "Move from midjourney-proxy"
    "guide/openai-clients" "OpenAI clients"
    "guide/receiving-callbacks" "Receiving callbacks"
    "guide/for-agents" "Use it from an agent"
    "guide/testing" "Testing against the sandbox"
    "guide/vendors" "Put a vendor behind a family"
    "guide/rehearse" "Rehearse a back end"
    "guide/custody" "Callers with accounts of their own"
    "guide/sell-a-model" "Sell a new model"
    "guide/a-key-for-a-customer" "A key for a customer"
    "guide/setting-prices" "Set prices"
    "guide/sell-vouchers" "Sell vouchers"
    "guide/sell-a-plan" "Sell a monthly plan by hand"
    "guide/sell-with-stripe" "Sell quota with Stripe"
    "guide/sell-by-invoice" "Sell quota by bank transfer"
    "guide/watching" "Monitoring"
    "guide/credentials" "Content Credentials"
    "guide/upgrading" "Upgrading"
    "guide/many-nodes" "Two nodes in five minutes"
    "guide/write-a-back-end" "Write a back end"
    "guide/write-a-family" "Write a family"
    "guide/troubleshooting" "Troubleshooting by error code"
    "clients" "Calling it from a program"
    "states" "The states of a job"
    "answers" "Answers: waiting, later, as a stream"
    "callbacks" "Callbacks"
    "keys" "Keys and operators"
    "moving" "Moving from another gateway"
    "compatibility" "Compatibility APIs: files, batches, events, other clients"
    "backends" "Back ends"
    "credit" "Credit, vouchers, plans"
    "payments" "Payments"
    "receipts" "Receipts"
    "models" "Models"
    "groups" "Groups"
    "fields" "What becomes of fields"
    "sandbox" "The sandbox"
    "cli" "The command line"
    "mcp" "Agents"
    "install" "Install and start"
    "scale" "One node and many"
    "backup" "Audit, backup, archive"
    "stability" "What stays compatible"
    "metrics" "Metrics"
};

pub(crate) async fn document(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Document, Denial> {
    let headers = &received.head.headers;
    Ok(Document(app.document(&app.models()).reply(headers, false)))
}

/// The readable pages, which draw themselves from `/openapi.json`; a guide as its own text.
pub(crate) async fn page(app: Arc<App>, received: IncomingRequest, (): ()) -> Result<File, Denial> {
    let wanted = received.params.first().map_or("", String::as_str);
    if wanted == "guides.json" {
        let list: Vec<_> = GUIDES
            .iter()
            .map(|guide| serde_json::json!({ "name": guide.name(), "title": guide.title }))
            .collect();
        return Ok(File(reply::json_of(&list)));
    }
    let guide = wanted
        .strip_suffix(".md")
        .and_then(|name| GUIDES.iter().find(|guide| guide.name() == name));
    if let Some(guide) = guide {
        let media_type = "text/markdown; charset=utf-8";
        return Ok(File(reply::text(media_type, guide.text.to_owned())));
    }
    Ok(File(files::named(&app, &received, "docs.html")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");

    /// The promise: every guide can be read offline, and no two share a name.
    #[test]
    fn every_guide_is_served_under_a_name_of_its_own() {
        let names: BTreeSet<&str> = GUIDES.iter().map(Guide::name).collect();
        assert_eq!(names.len(), GUIDES.len());
        for entry in fs::read_dir(format!("{DOCS}guide")).expect("guides") {
            let file = entry.expect("an entry").file_name();
            let name = file.to_string_lossy();
            let name = name.strip_suffix(".md").expect("nothing but guides");
            let path = format!("guide/{name}");
            assert!(GUIDES.iter().any(|one| one.path == path), "{name}");
        }
    }

    /// The promise: what troubleshooting tells to call is there to be called.
    #[test]
    fn troubleshooting_names_endpoints_that_exist() {
        let guide = GUIDES.iter().find(|one| one.name() == "troubleshooting");
        let text = guide.expect("the guide").text;
        let known = fs::read_to_string(format!("{DOCS}openapi.json")).expect("the document");
        let known: serde_json::Value = serde_json::from_str(&known).expect("a document");
        let mut seen = 0;
        for method in ["get", "post", "put", "patch", "delete"] {
            for rest in text.split(&format!("`{} ", method.to_uppercase())).skip(1) {
                let path = rest.split('`').next().unwrap_or_default();
                assert!(known["paths"][path][method].is_object(), "{method} {path}");
                seen += 1;
            }
        }
        assert!(seen >= 4, "{seen} endpoints are named");
    }

    /// The promise: a link from one guide to another leads somewhere, here and on disk.
    #[test]
    fn guides_link_to_guides_that_exist() {
        for guide in GUIDES {
            for link in guide.text.split("](").skip(1) {
                let link = link.split([')', '#']).next().unwrap_or_default();
                let Some(link) = link.strip_suffix(".md").filter(|link| !link.contains(':')) else {
                    continue;
                };
                let folder = guide.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                let file = format!("{DOCS}{folder}/{link}.md");
                assert!(fs::exists(&file).unwrap_or(false), "{}: {link}", guide.path);
            }
        }
    }

    /// The promise: the back end of the guide is the one that the tests run.
    #[test]
    fn the_guide_shows_the_back_end_that_is_tested() {
        let code = include_str!("../../../../../docs/examples/backend/postcards.rs");
        let guide = GUIDES.iter().find(|one| one.name() == "write-a-back-end");
        let shown = guide.is_some_and(|guide| guide.text.contains(code));
        assert!(shown, "docs/guide/write-a-back-end.md shows another file");
    }

    /// The promise: the family of the guide is one that is served.
    #[test]
    fn the_guide_shows_the_family_as_it_is() {
        let source = include_str!("../../../../contract/src/families/facegen.rs");
        let guide = GUIDES.iter().find(|one| one.name() == "write-a-family");
        let code = guide.and_then(|guide| {
            let (_, code) = guide.text.split_once("```rust\n")?;
            Some(code.split_once("```")?.0)
        });
        let code = code.expect("code");
        assert!(code.contains("impl Operation for "), "{code}");
        assert!(source.contains(code), "{code}");
    }

    /// The promise: every code that a refusal may carry is explained where people look for it.
    #[test]
    fn troubleshooting_has_a_line_for_every_code() {
        let guide = GUIDES.iter().find(|one| one.name() == "troubleshooting");
        for code in atelier_contract::Code::ALL {
            let line = format!("`{}`", code.word());
            assert!(
                guide.is_some_and(|guide| guide.text.contains(&line)),
                "{code}"
            );
        }
    }
}
