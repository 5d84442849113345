//! The setting that says where the asset store is: nothing for a folder, or `s3://bucket/prefix?endpoint=…&region=…`.

use url::{Url, form_urlencoded};

use super::error::{FilesError, FilesResult};
use super::s3::S3Settings;

/// The region when none is named; self-hosted servers do not care, but the signature needs one.
const USUAL_REGION: &str = "us-east-1";

/// Reads an `s3://` setting. `endpoint`, `region`, `path_style`, `access_key` and `secret_key` may follow as a query;
/// without keys the credentials of the environment are taken. The path style is usual when an endpoint is named.
pub(super) fn parse(setting: &str) -> FilesResult<S3Settings> {
    let wrong = |why: &str| FilesError::BadLocation(why.to_owned());
    let url = Url::parse(setting).map_err(|_| wrong("is not s3://bucket/prefix"))?;
    if url.scheme() != "s3" {
        return Err(wrong("must begin with s3://"));
    }
    let bucket = url.host_str().unwrap_or_default();
    if bucket.is_empty() {
        return Err(wrong("names no bucket"));
    }
    let mut settings = S3Settings {
        bucket: bucket.to_owned(),
        prefix: url.path().trim_matches('/').to_owned(),
        region: USUAL_REGION.to_owned(),
        ..S3Settings::default()
    };
    let mut path_style = None;
    // Secrets contain plus signs, which the usual decoding would turn into spaces.
    let query = url.query().unwrap_or_default().replace('+', "%2B");
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = value.into_owned();
        match &*name {
            "endpoint" => settings.endpoint = value,
            "region" => settings.region = value,
            "access_key" => settings.access_key = value,
            "secret_key" => settings.secret_key = value,
            "path_style" => {
                let parsed = value.parse();
                path_style = Some(parsed.map_err(|_| wrong("path_style is true or false"))?);
            }
            other => return Err(wrong(&format!("has no option `{other}`"))),
        }
    }
    if settings.access_key.is_empty() != settings.secret_key.is_empty() {
        return Err(wrong("needs both access_key and secret_key, or neither"));
    }
    settings.path_style = path_style.unwrap_or(!settings.endpoint.is_empty());
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn every_option_is_read_and_secrets_keep_their_signs() {
        let settings = parse(
            "s3://media/a/b/?endpoint=http://127.0.0.1:9000&region=eu-1&access_key=AK&secret_key=x+y/z%3D&path_style=false",
        )
        .expect("a place");
        assert_eq!(settings.bucket, "media");
        assert_eq!(settings.prefix, "a/b");
        assert_eq!(settings.endpoint, "http://127.0.0.1:9000");
        assert_eq!(settings.region, "eu-1");
        assert_eq!(settings.access_key, "AK");
        assert_eq!(settings.secret_key, "x+y/z=");
        assert!(!settings.path_style);
        assert!(!format!("{settings:?}").contains("x+y"));
    }

    #[test]
    fn an_endpoint_means_path_style_unless_said_otherwise() {
        assert!(!parse("s3://media").expect("a place").path_style);
        let hosted = parse("s3://media?endpoint=http://localhost:9000").expect("a place");
        assert!(hosted.path_style);
        assert_eq!(hosted.prefix, "");
    }

    #[test]
    fn a_setting_that_cannot_work_is_refused_by_name() {
        for (setting, why) in [
            ("s3://", "names no bucket"),
            ("media", "is not s3://bucket/prefix"),
            ("gs://media", "must begin with s3://"),
            ("s3://media?key=1", "has no option `key`"),
            ("s3://media?path_style=yes", "path_style is true or false"),
            (
                "s3://media?access_key=a",
                "needs both access_key and secret_key, or neither",
            ),
        ] {
            let error = parse(setting).expect_err(setting).to_string();
            assert!(error.ends_with(why), "{setting}: {error}");
        }
    }
}
