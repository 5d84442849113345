//! Files that callers upload to be used as inputs: judged like inputs, kept for a month, and good for their own account
//! alone.

use std::sync::Arc;

use atelier_contract::family::ResultLifetime;
use atelier_contract::fields::ImageHeader;
use atelier_contract::{AccountId, Code, File, Refusal};
use atelier_store::files::Files;
use atelier_store::{NewAsset, Upload};
use bytes::Bytes;

use crate::assets::addresses::Addresses;
use crate::assets::inputs::{VIDEO_BYTES, not_stored};
use crate::assets::results::extension;
use crate::context::{Context, unavailable};

/// Where uploads are. Accounts have other names, so that no input of theirs is here.
const FOLDER: &str = "in/files/";
/// The field of the form that the file comes in.
const FIELD: &str = "file";

pub struct Uploads {
    context: Arc<Context>,
    files: Files,
    addresses: Arc<Addresses>,
}

impl Uploads {
    pub(crate) fn new(context: Arc<Context>, files: Files, addresses: Arc<Addresses>) -> Self {
        Self {
            context,
            files,
            addresses,
        }
    }

    /// Judges a file and keeps it. It is recorded first: from then on nobody deletes what is stored.
    pub async fn keep(&self, account_id: &AccountId, bytes: Bytes) -> Result<Upload, Refusal> {
        let image_bytes = self.context.outbound().limits().image_bytes;
        let media_type = kind(&bytes, image_bytes)?;
        let (id, now_ms) = (self.context.ids().uuid(), self.context.now_ms());
        let settings = self.context.settings();
        let asset = NewAsset {
            key: format!("{FOLDER}{id}.{}", extension(media_type)),
            job_id: String::new(),
            account_id: account_id.to_string(),
            media_type: media_type.to_owned(),
            bytes: bytes.len() as i64,
            expires_ms: now_ms + settings.retention.lifetime_ms(ResultLifetime::Month),
            created_ms: now_ms,
        };
        let store = self.context.store();
        let most = settings.limits.storage_bytes();
        let noted = store.assets().note_upload(&id, asset.clone(), most).await;
        noted.map_err(unavailable)?.map_err(storage_full)?;
        if let Err(error) = self.files.put(&asset.key, bytes).await {
            // Should this fail too, the row expires by itself.
            let _ = store.assets().drop_upload(account_id, &id, now_ms).await;
            return Err(not_stored(&error));
        }
        Ok(Upload { id, asset })
    }

    /// A page of an account's files, newest first, and how many there are.
    pub async fn list(
        &self,
        account_id: &AccountId,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<Upload>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let found = store
            .assets()
            .uploads(account_id, now_ms, offset, limit)
            .await;
        found.map_err(unavailable)
    }

    /// Has a file of an account expire at once.
    pub async fn drop(&self, account_id: &AccountId, id: &str) -> Result<(), Refusal> {
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let dropped = store.assets().drop_upload(account_id, id, now_ms).await;
        if !dropped.map_err(unavailable)? {
            return Err(Refusal::new(Code::NotFound, "no such file"));
        }
        Ok(())
    }

    /// Refuses a key that is an upload of another account, or of none any more.
    pub(crate) async fn admit(
        &self,
        account_id: &AccountId,
        field: &str,
        key: &str,
    ) -> Result<(), Refusal> {
        if !key.starts_with(FOLDER) {
            return Ok(());
        }
        let asset = self
            .context
            .store()
            .assets()
            .find(key)
            .await
            .map_err(unavailable)?;
        let now_ms = self.context.now_ms();
        if asset.is_some_and(|one| one.account_id == account_id.as_str() && one.expires_ms > now_ms)
        {
            return Ok(());
        }
        let message = "must be a file of this account that has not been deleted";
        Err(Refusal::field(Code::AddressNotAllowed, field, message))
    }

    /// The signed address of an upload.
    pub fn url(&self, upload: &Upload) -> String {
        let file = File {
            key: upload.asset.key.clone(),
            expires_ms: upload.asset.expires_ms,
            ..File::default()
        };
        self.addresses.of(&file).0
    }
}

/// Nothing more is kept for an account that may have so many bytes.
pub(crate) fn storage_full(max_storage: i64) -> Refusal {
    let message = format!(
        "the account may keep {max_storage} bytes of results and inputs; delete some, or wait for some to expire"
    );
    Refusal::new(Code::StorageFull, message)
}

/// The media type of a file that may be an input.
fn kind(bytes: &[u8], image_bytes: u64) -> Result<&'static str, Refusal> {
    let refuse = |why: &str| Err(Refusal::field(Code::ImageUnusable, FIELD, why));
    if let Some(media_type) = atelier_backends::video_type(bytes) {
        if bytes.len() as u64 > VIDEO_BYTES {
            return refuse("is a video that is too large");
        }
        return Ok(media_type);
    }
    let header = match ImageHeader::read(bytes) {
        Ok(header) => header,
        Err(why) if why.contains("pixels") => return refuse(why),
        Err(_) => return refuse("must be a png, jpeg, webp or gif image, or an mp4 or webm video"),
    };
    if bytes.len() as u64 > image_bytes {
        return refuse(&format!("must be an image of at most {image_bytes} bytes"));
    }
    match atelier_backends::without_metadata(bytes) {
        Ok(_) => Ok(header.media_type),
        Err(damaged) => refuse(&damaged.to_string()),
    }
}
