//! Files that are handed in before a call names them. What was handed in is remembered, so that the same file has the same
//! address when a call is repeated: a repetition with another address would be another call.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use atelier_contract::catalogue::ApiOperation;
use atelier_contract::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::fault::Fault;
use super::file::UploadFile;
use super::profile::{self, write_secret};
use super::request::{ApiRequest, FormValue, RequestBody};
use super::transport::Client;

/// Files that are remembered; the oldest ones are forgotten first.
const MOST: usize = 1000;

/// Where files are handed in.
pub(crate) struct Uploader<'a> {
    client: &'a Client,
    page: &'a ApiOperation,
    /// Where it is remembered.
    memory: Option<PathBuf>,
    /// What was handed in or found good by this run, under the name of its bytes.
    known: RefCell<Vec<(String, String)>>,
}

impl<'a> Uploader<'a> {
    /// The place where a service takes files.
    pub(crate) fn new(client: &'a Client) -> Result<Self, Fault> {
        let beside = profile::file().ok();
        Ok(Self {
            client,
            page: client.operation("files.upload")?,
            memory: beside.map(|file| file.with_file_name("handed-in.json")),
            known: RefCell::default(),
        })
    }

    /// Hands a file in, unless it has been; its address.
    pub(crate) async fn upload(&self, file: UploadFile) -> Result<String, Fault> {
        let name = self.name(&file);
        if let Some(address) = find(&self.known.borrow(), &name) {
            return Ok(address);
        }
        let remembered = find(&remembered(self.memory.as_deref()), &name);
        let address = match remembered {
            Some(address) if self.is_good(&address).await => address,
            _ => {
                let address = self.send(file).await?;
                self.remember(&name, &address);
                address
            }
        };
        let known = (name, address.clone());
        self.known.borrow_mut().push(known);
        Ok(address)
    }

    /// A name for bytes that are handed in by one account of one service.
    fn name(&self, file: &UploadFile) -> String {
        let mut hasher = Sha256::new();
        for part in [&self.client.profile.url, &self.client.profile.key] {
            hasher.update(part.as_bytes());
            hasher.update(b"\0");
        }
        hasher.update(&file.bytes);
        hex(&hasher.finalize())
    }

    async fn send(&self, file: UploadFile) -> Result<String, Fault> {
        let mut asked = ApiRequest::plain(self.page, self.page.path.clone());
        asked.sent = RequestBody::Form(vec![("file".into(), FormValue::File(file))]);
        // A file that is there twice costs nothing and expires.
        asked.repeatable = true;
        let answer = self.client.call(self.page, &asked).await?;
        let address = answer["data"]["url"].as_str();
        Ok(address.unwrap_or_default().to_owned())
    }

    /// Whether a file is still behind an address.
    async fn is_good(&self, address: &str) -> bool {
        let asked = self.client.http.head(address).send().await;
        asked.is_ok_and(|answer| answer.status().is_success())
    }

    /// Writes an address down; a memory that cannot be written costs only another upload.
    fn remember(&self, name: &str, address: &str) {
        let Some(memory) = &self.memory else { return };
        let mut all = remembered(Some(memory));
        all.retain(|(other, _)| other != name);
        all.push((name.to_owned(), address.to_owned()));
        let from = all.len().saturating_sub(MOST);
        let text = serde_json::to_string(&all[from..]).unwrap_or_default();
        let _ = write_secret(memory, &text);
    }
}

fn find(all: &[(String, String)], name: &str) -> Option<String> {
    let found = all.iter().find(|(other, _)| other == name);
    found.map(|(_, address)| address.clone())
}

/// What the memory holds; nothing when it cannot be read.
fn remembered(memory: Option<&Path>) -> Vec<(String, String)> {
    let text = memory.and_then(|file| std::fs::read_to_string(file).ok());
    let value: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    value
        .and_then(|value| serde_json::from_value(value).ok())
        .unwrap_or_default()
}
