//! A fresh folder or a fresh prefix of the test bucket, gone after the test.

use std::path::{Path, PathBuf};

use atelier_contract::Secret;
use atelier_store::files::{AssetSettings, Files};

use crate::defaults::asset_defaults;

/// An empty asset_store.
pub(crate) struct Place {
    /// The asset store.
    pub(crate) files: Files,
    root: PathBuf,
    settings: Option<AssetSettings>,
}

impl Place {
    /// In a new folder.
    pub(crate) fn folder() -> Self {
        let root = std::env::temp_dir().join(format!("atelier-files-{}", unique()));
        Self {
            files: Files::folder(&root).expect("a folder"),
            root,
            settings: None,
        }
    }

    /// Under a new prefix of the test bucket.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test script hands the address over in the environment"
    )]
    pub(crate) fn s3() -> Self {
        let endpoint = std::env::var("ATELIER_TEST_S3").expect("ATELIER_TEST_S3 names a server");
        let settings = AssetSettings {
            url: format!("s3://media/test/{}", unique()),
            endpoint,
            access_key: Secret::new("S3RVER"),
            secret_key: Secret::new("S3RVER"),
            ..asset_defaults()
        };
        Self {
            files: Files::open(&settings, PathBuf::new()).expect("a bucket"),
            root: PathBuf::new(),
            settings: Some(settings),
        }
    }

    /// The same asset_store as another node opens it.
    pub(crate) fn again(&self) -> Files {
        match &self.settings {
            Some(settings) => Files::open(settings, PathBuf::new()).expect("the bucket"),
            None => Files::folder(&self.root).expect("the folder"),
        }
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.settings.is_none() {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}

fn unique() -> String {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("random bytes");
    format!("{:016x}", u64::from_be_bytes(bytes))
}
