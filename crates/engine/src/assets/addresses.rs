//! Addresses of the service's own files: signed on the way out, checked on the way in.

use std::sync::Arc;

use atelier_contract::File;

use crate::assets::address_keys::AddressKeys;
use crate::context::Context;
use crate::sign::AddressFault;

/// The path under which assets answer.
pub const ASSETS: &str = "/assets/";

/// The path under which shared files answer.
pub(crate) const SHARED: &str = "shared/";

/// Makes and reads signed addresses.
pub(crate) struct Addresses {
    context: Arc<Context>,
    keys: AddressKeys,
}

impl Addresses {
    pub(crate) fn new(context: Arc<Context>) -> Self {
        Self {
            keys: AddressKeys::new(context.clone()),
            context,
        }
    }

    /// The keys that sign.
    pub(crate) fn keys(&self) -> &AddressKeys {
        &self.keys
    }

    /// The addresses of a file on the origin host and on the proxy host. They end when the file does, so that they
    /// are the same at every reading.
    pub(crate) fn of(&self, file: &File) -> (String, String) {
        let signer = self.keys.signer();
        let query = signer.sign(&file.key, file.expires_ms / 1000);
        let address = |base: &str| format!("{base}{ASSETS}{}?{query}", file.key);
        let urls = &self.context.settings().urls;
        (address(&urls.origin()), address(&urls.cdn()))
    }

    /// The address of a link, on the origin host: what comes from a proxy could not be taken back.
    pub(crate) fn of_link(&self, id: &str, ends_ms: i64) -> String {
        let path = format!("{SHARED}{id}");
        let query = self.keys.signer().sign(&path, ends_ms / 1000);
        format!("{}/{path}?{query}", self.context.settings().urls.origin())
    }

    /// The key of the service's own file behind an address, when the address is signed and still good.
    pub(crate) fn own(&self, url: &str) -> Option<String> {
        let path = self.context.settings().urls.path_of(url)?;
        let (key, query) = path.strip_prefix(ASSETS)?.split_once('?')?;
        let signer = self.keys.signer();
        signer
            .verify(key, query, self.context.now_ms() / 1000)
            .ok()?;
        Some(key.to_owned())
    }

    /// Whether an address is signed by this service and its time is not over.
    pub(crate) async fn verify(&self, key: &str, query: &str) -> Result<(), AddressFault> {
        self.keys.verify(key, query).await
    }
}
