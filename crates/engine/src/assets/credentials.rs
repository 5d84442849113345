//! Content Credentials: what is said of a result follows from its job, and is signed before the result is stored.

use std::sync::Arc;

use atelier_backends::WorkOutput;
use atelier_backends::backend::Work;
use atelier_backends::credentials::{
    CredentialInput, Provenance, carries_manifest, with_credentials,
};
use atelier_contract::AccountId;
use atelier_contract::brief::{Source, Task};
use atelier_contract::fields::ImageData;
use atelier_contract::time::timestamp;
use atelier_store::files::Files;
use bytes::Bytes;

use crate::assets::addresses::Addresses;
use crate::assets::inputs::input_key;
use crate::assets::results::Owner;
use crate::context::Context;

/// Inputs are read again for their manifests while they have no more bytes together; others are only named.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// So many inputs are named at the most.
const MOST_GIVEN: usize = 16;
/// Where results are kept.
const RESULTS: &str = "out/";

pub(super) struct Credentials {
    context: Arc<Context>,
    files: Files,
    addresses: Arc<Addresses>,
}

/// Something that was given, by the field it came in, and where it is kept, if it is.
type CredentialSource = (String, Option<String>);

impl Credentials {
    pub(super) fn new(context: Arc<Context>, files: Files, addresses: Arc<Addresses>) -> Self {
        Self {
            context,
            files,
            addresses,
        }
    }

    /// A result with its files signed, where somebody signs.
    pub(super) async fn on(&self, owner: &Owner<'_>, mut made: WorkOutput) -> WorkOutput {
        let signatory = self.context.settings().signatory.as_ref();
        let Some((signatory, work)) = signatory.zip(owner.work) else {
            return made;
        };
        if made.files.is_empty() {
            return made;
        }
        let story = self.story(owner.account_id, work).await;
        let files = std::mem::take(&mut made.files);
        let (files, tally) = with_credentials(signatory, story, files).await;
        made.files = files;
        self.context.meters().marked(tally);
        made
    }

    async fn story(&self, account_id: &AccountId, work: &Work) -> Provenance {
        let inputs = self.inputs(account_id, work);
        let first = inputs.first().and_then(|(_, key)| key.as_deref());
        let changed = work.brief.task.changes() && !inputs.is_empty();
        let composite = changed && !first.is_some_and(|key| key.starts_with(RESULTS));
        let mut left = MOST_BYTES;
        let mut given = Vec::new();
        for (title, key) in inputs.into_iter().take(MOST_GIVEN) {
            let file = match key {
                Some(key) => self.read_manifest(&key, &mut left).await,
                None => None,
            };
            given.push(CredentialInput { title, file });
        }
        Provenance {
            version: env!("CARGO_PKG_VERSION"),
            model: work.brief.model.clone(),
            when: timestamp(self.context.now_ms()).replace(' ', "T") + "Z",
            given,
            changed,
            composite,
        }
    }

    /// What was given to make something of, the thing that is changed first.
    fn inputs(&self, account_id: &AccountId, work: &Work) -> Vec<CredentialSource> {
        let brief = &work.brief;
        let mut inputs = Vec::new();
        // Of the job it follows only the words are taken, or its picture as well.
        let parent = work.parent.as_ref();
        if let Some(parent) = parent.filter(|_| brief.task != Task::Reroll) {
            let index = match brief.task {
                Task::Extend(index) => usize::from(index),
                _ => 0,
            };
            let file = parent.file(index).or_else(|| parent.file(0));
            inputs.extend(file.map(|file| ("earlier result".to_owned(), Some(file.key.clone()))));
        }
        if let Some((field, url)) = &brief.video {
            inputs.push((field.clone(), self.addresses.own(url.as_str())));
        }
        let hints = brief.hints.iter().map(|hint| &hint.source);
        for Source { field, image, .. } in brief.sources.iter().chain(hints) {
            let key = match image {
                ImageData::Inline(inline) => Some(input_key(account_id, &inline.hash)),
                ImageData::Url(url) => self.addresses.own(url.as_str()),
            };
            inputs.push((field.clone(), key));
        }
        inputs
    }

    /// A kept file that carries a manifest, while there is room for it; its manifest is no reason to fail a job.
    async fn read_manifest(&self, key: &str, left: &mut u64) -> Option<Bytes> {
        let size = self.files.size(key).await.ok().flatten()?;
        *left = left.checked_sub(size)?;
        let bytes = self.files.read(key).await.ok()?;
        carries_manifest(&bytes).then_some(bytes)
    }
}
