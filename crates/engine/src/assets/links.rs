//! Links: whoever has one may see a file of an account, until it ends or the account takes it back. Its address is signed like
//! those of files, so that nobody finds one by trying; the row of the file says whether it still holds.

use std::sync::Arc;

use atelier_contract::{AccountId, Code, Job, Refusal};
use atelier_store::{Link, NewLink};

use super::addresses::{Addresses, SHARED};
use super::asset::Asset;
use crate::context::{Context, unavailable};
use crate::sign::AddressFault;

/// Makes links and takes them back.
pub struct Links {
    context: Arc<Context>,
    addresses: Arc<Addresses>,
}

impl Links {
    pub(super) fn new(context: Arc<Context>, addresses: Arc<Addresses>) -> Self {
        Self { context, addresses }
    }

    /// Links to a file of a job for so many seconds, and no longer than it is kept; an earlier link to the file ends.
    pub async fn create(
        &self,
        account_id: &AccountId,
        job: &Job,
        place: usize,
        seconds: i64,
    ) -> Result<Link, Refusal> {
        let files = job.output().map_or(&[][..], |output| &output.files);
        let file = files
            .get(place)
            .ok_or_else(|| Refusal::invalid("file", "must be the place of a file of the job"))?;
        let now_ms = self.context.now_ms();
        let link = NewLink {
            id: self.context.ids().uuid(),
            account_id: account_id.to_string(),
            key: file.key.clone(),
            ends_ms: now_ms + seconds * 1000,
            now_ms,
        };
        let linked = self.context.store().assets().link(link).await;
        let gone = || Refusal::new(Code::Expired, "the file is gone");
        linked.map_err(unavailable)?.ok_or_else(gone)
    }

    /// A page of an account's links, and how many there are.
    pub async fn list(
        &self,
        account_id: &AccountId,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<Link>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let found = store.assets().links(account_id, now_ms, offset, limit);
        found.await.map_err(unavailable)
    }

    /// Ends a link of an account at once.
    pub async fn end(&self, account_id: &AccountId, id: &str) -> Result<(), Refusal> {
        let ended = self.context.store().assets().unlink(account_id, id).await;
        if !ended.map_err(unavailable)? {
            return Err(Refusal::new(Code::NotFound, "no such link"));
        }
        Ok(())
    }

    /// The file behind the address of a link. Nobody keeps it longer than the link lasts, which may be no longer than now.
    pub async fn open(&self, id: &str, query: &str) -> Result<Asset, Refusal> {
        let gone = || Refusal::new(Code::Expired, "the link has ended");
        let path = format!("{SHARED}{id}");
        let good = self.addresses.verify(&path, query).await;
        good.map_err(|fault| match fault {
            AddressFault::Expired => gone(),
            AddressFault::BadSignature => {
                Refusal::new(Code::Forbidden, "the URL is not signed by this service")
            }
        })?;
        let now_ms = self.context.now_ms();
        let link = self.context.store().assets().linked(id, now_ms).await;
        let link = link.map_err(unavailable)?.ok_or_else(gone)?;
        Ok(Asset {
            expires_ms: now_ms,
            ..Asset::of(link.asset)
        })
    }

    /// The signed address of a link.
    pub fn url(&self, link: &Link) -> String {
        self.addresses.of_link(&link.id, link.ends_ms)
    }
}
