//! Where a service under test keeps its files: in its own folder, or under a fresh prefix of the test bucket.

use std::path::PathBuf;

use atelier_contract::Secret;
use atelier_store::files::{AssetSettings, Files};
use futures_util::StreamExt as _;

use crate::asset_defaults::asset_defaults;
use crate::gateway::{Gateway, Options};

/// Runs the named cases on local files and, where they are asked for, on the S3 server that `ATELIER_TEST_S3` names.
macro_rules! each_asset_store {
    ($($case:ident),+ $(,)?) => {
        mod on_files {
            $(#[tokio::test] async fn $case() { super::$case($crate::asset_store::AssetStore::Folder).await; })+
        }
        mod on_s3 {
            $(
                #[tokio::test]
                #[ignore = "needs an S3 server"]
                async fn $case() {
                    super::$case($crate::asset_store::AssetStore::s3()).await;
                }
            )+
        }
    };
}

/// A kind of asset_store.
pub(crate) enum AssetStore {
    /// Files in the data folder.
    Folder,
    /// A prefix of a bucket.
    S3(AssetSettings),
}

impl AssetStore {
    /// A new prefix of the test bucket.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test script hands the address over in the environment"
    )]
    pub(crate) fn s3() -> Self {
        let endpoint = std::env::var("ATELIER_TEST_S3").expect("ATELIER_TEST_S3 names a server");
        let folder = tempfile::tempdir().expect("a folder");
        let unique = folder.path().file_name().and_then(|name| name.to_str());
        let unique: String = unique
            .unwrap_or_default()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        Self::S3(AssetSettings {
            url: format!("s3://media/api/{unique}"),
            endpoint,
            access_key: Secret::new("S3RVER"),
            secret_key: Secret::new("S3RVER"),
            ..asset_defaults()
        })
    }

    /// The settings of a service that keeps its files here.
    pub(crate) fn options(&self) -> Options {
        let options = Options::default();
        let Self::S3(bucket) = self else {
            return options;
        };
        options
            .set("ASSETS_URL", &bucket.url)
            .set("ASSETS_ENDPOINT", &bucket.endpoint)
            .set("ASSETS_ACCESS_KEY", bucket.access_key.reveal())
            .set("ASSETS_SECRET_KEY", bucket.secret_key.reveal())
    }

    /// The files themselves, past the service.
    pub(crate) fn files(&self, gateway: &Gateway) -> Files {
        match self {
            Self::Folder => Files::folder(gateway.folder.path().join("assets")),
            Self::S3(settings) => Files::open(settings, PathBuf::new()),
        }
        .expect("the asset store")
    }

    /// The keys of everything that is stored for jobs.
    pub(crate) async fn stored(&self, gateway: &Gateway) -> Vec<String> {
        let keys = self
            .files(gateway)
            .list("", i64::MAX)
            .await
            .expect("a list");
        let mut keys: Vec<String> = keys.map(|key| key.expect("a key")).collect().await;
        keys.retain(|key| !key.starts_with("installs/"));
        keys.sort();
        keys
    }
}
