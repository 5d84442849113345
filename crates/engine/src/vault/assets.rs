//! The vault's doors: signed addresses out, signed addresses in, and the bytes behind them.

use std::ops::Range;

use atelier_contract::{Code, File, Job, Refusal, Role};
use atelier_store::files::{FilesError, Flow};
use base64::Engine as _;
use bytes::Bytes;

use crate::engine::{Engine, unavailable};
use crate::sign::AddressFault;

/// The path under which assets answer.
pub const ASSETS: &str = "/assets/";

/// A file that may be handed out.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Where it is.
    pub key: String,
    /// Its media type.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// Names this content and no other.
    pub etag: String,
    /// When the address stops working.
    pub expires_ms: i64,
}

impl Engine {
    /// The addresses of a file on the origin host and on the proxy host. They end when the file does, so that they
    /// are the same at every reading.
    pub(crate) fn addresses(&self, file: &File) -> (String, String) {
        let signer = self.address_keys.signer();
        let query = signer.sign(&file.key, file.expires_ms / 1000);
        let address =
            |base: &str| format!("{}{ASSETS}{}?{query}", base.trim_end_matches('/'), file.key);
        (
            address(&self.settings.origin_url),
            address(&self.settings.cdn_url),
        )
    }

    /// The key of the service's own file behind an address, when the address is signed and still good.
    pub(crate) fn own_asset(&self, url: &str) -> Option<String> {
        let settings = &self.settings;
        let bases = [&settings.origin_url, &settings.cdn_url]
            .into_iter()
            .chain(&settings.own_urls);
        let rest = bases.filter(|base| !base.is_empty()).find_map(|base| {
            url.strip_prefix(base.trim_end_matches('/'))?
                .strip_prefix(ASSETS)
        })?;
        let (key, query) = rest.split_once('?')?;
        let signer = self.address_keys.signer();
        signer.verify(key, query, self.now_ms() / 1000).ok()?;
        Some(key.to_owned())
    }

    /// The asset behind a key and its signed query.
    pub async fn asset(&self, key: &str, query: &str) -> Result<Asset, Refusal> {
        let gone = || Refusal::new(Code::Expired, "the address has expired");
        self.verify_address(key, query)
            .await
            .map_err(|fault| match fault {
                AddressFault::Expired => gone(),
                AddressFault::BadSignature => {
                    Refusal::new(Code::Forbidden, "the address is not signed by this service")
                }
            })?;
        // A good signature was ours once, so a missing row means that the file has been swept.
        let asset = self
            .store
            .asset(key)
            .await
            .map_err(unavailable)?
            .ok_or_else(gone)?;
        Ok(Asset {
            etag: format!("\"{:x}-{:x}\"", asset.created_ms, asset.bytes),
            key: asset.key,
            media_type: asset.media_type,
            bytes: asset.bytes as u64,
            expires_ms: asset.expires_ms,
        })
    }

    /// Some of an asset's bytes, streamed.
    pub async fn asset_bytes(
        &self,
        asset: &Asset,
        range: Range<u64>,
    ) -> Result<Flow<Bytes>, Refusal> {
        self.files
            .read_range(&asset.key, range)
            .await
            .map_err(|error| {
                tracing::error!(%error, key = asset.key, "an asset could not be read");
                match error {
                    // It will not come back, so there is no use in trying again.
                    FilesError::NotFound => Refusal::new(Code::Expired, "the file is gone"),
                    _ => Refusal::new(
                        Code::Overloaded,
                        "the file cannot be read now; try again shortly",
                    ),
                }
            })
    }

    /// The main files of a finished job in base64, for answers that carry them.
    pub async fn base64_files(&self, job: &Job) -> Result<Vec<String>, Refusal> {
        let mut encoded = Vec::new();
        for file in job.files(Role::Main) {
            let bytes = self.files.read(&file.key).await.map_err(|error| {
                tracing::error!(%error, key = file.key, "a result could not be read");
                Refusal::new(Code::Internal, "the result cannot be read")
            })?;
            encoded.push(base64::engine::general_purpose::STANDARD.encode(bytes));
        }
        Ok(encoded)
    }
}
