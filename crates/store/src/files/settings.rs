//! Where the asset store is: the section `[assets]` of the configuration.

use atelier_contract::Secret;
use serde::Deserialize;

/// Where result files are kept. `config/default.toml` holds the defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssetSettings {
    /// Empty for a folder of this machine's own, a folder that all nodes mount, or `s3://bucket/prefix`.
    pub url: String,
    /// The address of the S3 server; empty for the provider's own.
    pub endpoint: String,
    /// The region of the bucket.
    pub region: String,
    /// Whether the bucket is named in the path rather than in the host name.
    pub path_style: bool,
    /// The key id of the bucket; empty to take the credentials of the environment.
    pub access_key: Secret,
    /// The secret key of the bucket.
    pub secret_key: Secret,
}

/// A bucket and the path within it that all keys get in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BucketPath<'a> {
    pub(super) bucket: &'a str,
    /// May be empty.
    pub(super) prefix: &'a str,
}

impl AssetSettings {
    /// The bucket that files are kept in, unless it is a folder.
    pub(super) fn bucket(&self) -> Option<BucketPath<'_>> {
        let path = self.url.strip_prefix("s3://")?;
        let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
        let prefix = prefix.trim_matches('/');
        Some(BucketPath { bucket, prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> AssetSettings {
        AssetSettings {
            url: url.into(),
            endpoint: String::new(),
            region: String::new(),
            path_style: false,
            access_key: Secret::new("AK"),
            secret_key: Secret::new("x+y/z="),
        }
    }

    #[test]
    fn a_bucket_is_named_with_or_without_a_path_within_it() {
        for (url, wanted) in [
            ("s3://media/a/b/", Some(("media", "a/b"))),
            ("s3://media/", Some(("media", ""))),
            ("s3://media", Some(("media", ""))),
            ("/srv/media", None),
            ("", None),
        ] {
            let wanted = wanted.map(|(bucket, prefix)| BucketPath { bucket, prefix });
            assert_eq!(at(url).bucket(), wanted, "{url}");
        }
    }

    #[test]
    fn keys_do_not_show() {
        let shown = format!("{:?}", at("s3://media"));
        assert!(!shown.contains("AK") && !shown.contains("x+y"), "{shown}");
    }
}
