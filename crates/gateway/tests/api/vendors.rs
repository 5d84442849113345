//! What the documents say about vendors, done: every block is pasted against a local server that speaks the vendor's format,
//! and a service with a different vendor behind each family runs every example.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use atelier_backends::VENDORS;
use atelier_contract::FAMILIES;
use reqwest::Method;
use serde_json::{Value, json};

use crate::backends::finished;
use crate::families::{Walk, operations};
use crate::formats::server;
use crate::gateway::{ADMIN_TOKEN, Gateway, Options};
use crate::local::{Local, request};
use crate::stand::{credential, worker};

const DOCUMENT: &str = include_str!("../../../../docs/backends.md");
/// What is asked of a back end: the first of these that it serves.
const ASKED: &[&str] = &[
    "artgen.imagine",
    "design.generations",
    "imgmodel.chat",
    "clipgen.generations",
    "motion.generations",
    "facegen.swap",
    "animegen.text_to_image",
];

/// The blocks of a vendor's section in a language.
fn blocks(vendor: &str, language: &str) -> Vec<&'static str> {
    let title = format!("\n## {vendor}\n");
    let section = DOCUMENT.split_once(&title).map_or("", |(_, rest)| rest);
    let section = section.split("\n## ").next().unwrap_or_default();
    let opening = format!("```{language}\n");
    let blocks = section.split(&*opening).skip(1);
    blocks
        .map(|rest| rest.split("\n```").next().unwrap_or_default())
        .collect()
}

/// A back end as a block has it.
struct BackendBlock {
    base_url: String,
    settings: Value,
    operations: Vec<String>,
}

impl BackendBlock {
    fn read(table: &Value) -> Self {
        let operations = table["operations"].as_array().into_iter().flatten();
        Self {
            base_url: table["base_url"].as_str().expect("an address").to_owned(),
            settings: table.get("settings").cloned().unwrap_or_else(|| json!({})),
            operations: operations
                .filter_map(|one| one.as_str().map(str::to_owned))
                .collect(),
        }
    }

    /// Its local server, and its address there: the same path on another host.
    fn local(&self, vendor: &str) -> (Local, String) {
        let local = server(vendor, &self.settings);
        let rest = self.base_url.split("://").nth(1).unwrap_or_default();
        let path = rest
            .split_once('/')
            .map_or(String::new(), |(_, path)| format!("/{path}"));
        let address = local.stand.url(&path);
        (local, address)
    }

    /// The operation to ask it for.
    fn operation(&self, vendor: &str) -> &'static str {
        let known = worker(vendor, "http://127.0.0.1:9", self.settings.clone());
        let known = known.unwrap_or_else(|wrong| panic!("{vendor}: {wrong}"));
        let may = |name: &str| {
            let family = name.split('.').next().unwrap_or_default();
            let named = |one: &String| one == name || one == family;
            self.operations.is_empty() || self.operations.iter().any(named)
        };
        let mut served = ASKED.iter().filter(|name| known.serves(name) && may(name));
        served
            .next()
            .unwrap_or_else(|| panic!("{vendor} serves nothing"))
    }
}

/// Asks a service for something that one back end alone is connected for, and has it made there.
async fn serves(gateway: &Gateway, vendor: &str, operation: &str, local: &Local) {
    let account = gateway.account(1_000).await;
    let (_, submit) = atelier_contract::operation(operation).expect("in the table");
    let body = request(operation, &local.stand.url("/made.png"));
    let answer = gateway.post(&account.key, submit.path, body).await;
    assert_eq!(answer.status, 200, "{vendor}, {operation}: {}", answer.json);
    if let Some(id) = answer.json["data"]["jobId"].as_str() {
        let job = finished(gateway, &account.key, id).await;
        assert_eq!(job["status"], "SUCCESS", "{vendor}, {operation}: {job}");
    }
    assert_eq!(local.taken(), 1, "{vendor}, {operation}: {}", answer.json);
}

#[tokio::test]
async fn every_block_of_configuration_in_the_documents_works_when_pasted() {
    for vendor in VENDORS {
        let blocks = blocks(vendor.name, "toml");
        assert!(
            !blocks.is_empty(),
            "{} has no configuration to paste",
            vendor.name
        );
        for block in blocks {
            let read: Value =
                toml::from_str(block).unwrap_or_else(|error| panic!("{block}\n{error}"));
            let mut text = block.to_owned();
            let mut all = Vec::new();
            for table in read["backends"].as_array().expect("back ends") {
                assert_eq!(table["vendor"], vendor.name, "{block}");
                let written = BackendBlock::read(table);
                let (local, address) = written.local(vendor.name);
                text = text.replace(&written.base_url, &address);
                text = with_account(&text, vendor.name, &address);
                all.push((local, written.operation(vendor.name)));
            }
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("atelier.toml");
            // The first back end is alone, so that it is the one that is asked.
            for (index, (local, operation)) in all.iter().enumerate() {
                let alone = alone(&text, index);
                std::fs::write(&file, alone).expect("written");
                let path = file.display().to_string();
                let gateway = Options::default().set("CONFIG", &path).spawn().await;
                serves(&gateway, vendor.name, operation, local).await;
            }
        }
    }
}

/// A block with a credential that the vendor takes, where any other text would not do.
fn with_account(block: &str, vendor: &str, address: &str) -> String {
    let account = Value::from(credential(vendor, address)).to_string();
    let inside = &account[1..account.len() - 1];
    block.replace("SERVICE_ACCOUNT_JSON", inside)
}

/// One of the back ends of a block.
fn alone(text: &str, index: usize) -> String {
    let parts: Vec<&str> = text.split("[[backends]]").skip(1).collect();
    format!("[[backends]]{}", parts[index])
}

#[tokio::test]
async fn every_block_for_a_shell_in_the_documents_works_when_pasted() {
    for vendor in VENDORS {
        let blocks = blocks(vendor.name, "sh");
        assert!(
            !blocks.is_empty(),
            "{} has nothing to paste in a shell",
            vendor.name
        );
        for block in blocks {
            let body = block
                .split("-d '")
                .nth(1)
                .and_then(|rest| rest.split("' |").next());
            let read: Value = serde_json::from_str(body.expect("a body")).expect(vendor.name);
            assert_eq!(read["vendor"], vendor.name, "{block}");
            let written = BackendBlock::read(&read);
            let (local, address) = written.local(vendor.name);
            let operation = written.operation(vendor.name);
            let gateway = Gateway::spawn().await;
            let block = block.replace(&written.base_url, &address);
            let said = Command::new("sh")
                .args(["-euc", &with_account(&block, vendor.name, &address)])
                .env("ATELIER", &gateway.base_url)
                .env("ADMIN", ADMIN_TOKEN)
                .output()
                .expect("a shell");
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            assert!(
                said.contains("\"status\":\"SUCCESS\""),
                "{}: {said}",
                vendor.name
            );
            serves(&gateway, vendor.name, operation, &local).await;
        }
    }
}

/// A family, and the vendor that serves it alone.
const BEHIND: &[(&str, &str, &str)] = &[
    ("artgen", "midjourney-proxy", "poll_ms = 100"),
    ("artgen_video", "bfl", "poll_seconds = 1"),
    ("imgmodel", "openai", "image_model = \"m\""),
    ("imgmodel_chat", "google", "poll_seconds = 1"),
    ("design", "recraft", ""),
    ("vidgen", "relay", "poll_ms = 100"),
    ("vidgen_partner", "runway", "poll_seconds = 1"),
    ("animegen", "novelai", ""),
    ("clipgen", "xai", "poll_seconds = 1"),
    ("facegen", "piapi", "poll_seconds = 1"),
    ("motion", "luma", "poll_seconds = 1"),
];

#[tokio::test]
async fn a_service_with_a_different_vendor_behind_each_family_runs_every_example() {
    let different: BTreeSet<_> = BEHIND.iter().map(|(_, vendor, _)| vendor).collect();
    assert_eq!(different.len(), BEHIND.len());
    let mut text = String::new();
    let mut locals = Vec::new();
    for (family, vendor, settings) in BEHIND {
        let table = FAMILIES.iter().find(|one| one.name == *family);
        let submits = table
            .unwrap_or_else(|| panic!("no family {family}"))
            .submits;
        let operations: Vec<_> = submits.iter().map(|submit| submit.name).collect();
        let said: Value = toml::from_str(settings).expect("settings");
        let local = server(vendor, &said);
        let address = local.stand.url("/v1");
        let _ = writeln!(
            text,
            "[[backends]]\nname = \"{family}\"\nvendor = \"{vendor}\"\nbase_url = \"{address}\"\noperations = {operations:?}\n\
             [backends.settings]\n{settings}\n[[backends.accounts]]\nname = \"main\"\ncredential = \"key\"\n"
        );
        locals.push((family, local));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atelier.toml");
    std::fs::write(&file, text).expect("written");
    let path = file.display().to_string();
    let gateway = Options::default().set("CONFIG", &path).spawn().await;
    let mut walk = Walk::begin(gateway).await;
    for (family, submit) in operations() {
        walk.run(family, submit).await;
    }
    for (family, local) in &locals {
        assert!(local.taken() > 0, "{family} was made elsewhere");
    }
    // Everything was made by the vendor of its family.
    let jobs = walk
        .gateway
        .operate(Method::GET, "/admin/v1/jobs?limit=100", None)
        .await;
    for job in jobs.json["data"].as_array().expect("jobs") {
        let operation = job["operation"].as_str().expect("an operation");
        let (family, _) = atelier_contract::operation(operation).expect("in the table");
        let served = job["backend"]["name"].as_str().or(job["backend"].as_str());
        assert_eq!(served, Some(family.name), "{job}");
    }
}
