//! Where the console may take things from.

use hyper::header::HeaderValue;

use crate::config::Config;

/// The console takes scripts and styles from here alone, and pictures also from where results are.
pub(super) fn console_policy(config: &Config) -> HeaderValue {
    let places = [
        &config.base_url,
        &config.origin_url,
        &config.cdn_url,
        &config.legacy_cdn_url,
    ];
    let mut media = String::from("'self'");
    for place in places {
        if let Ok(url) = url::Url::parse(place) {
            media.push(' ');
            media.push_str(&url.origin().ascii_serialization());
        }
    }
    if config.base_url.is_empty() {
        media.push_str(" http://127.0.0.1:* http://localhost:*");
    }
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src {media} data: blob:; media-src {media} blob:; \
         connect-src {media}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}
