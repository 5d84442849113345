//! The signature of AWS, version 4, and its two relatives: Volcengine's and Tencent Cloud's. They differ in names, in how a
//! day is written and in what a key is derived from.

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderName, HeaderValue, header};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::backend::{Class, Fault};
use crate::hex::hex;
use crate::http::{RequestSigner, UnsignedCall, encoded};
use crate::vendor::Secret;

/// Whose form of the signature it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SigV4Form {
    /// AWS.
    #[default]
    Aws,
    /// Volcengine and BytePlus.
    Volc,
    /// Tencent Cloud (TC3).
    Tencent,
}

/// What differs from one to the next.
struct SigV4Dialect {
    algorithm: &'static str,
    /// What stands before the secret in the first key.
    before_secret: &'static str,
    /// The last part of the scope.
    end: &'static str,
    /// How a day is written in the scope.
    day: &'static str,
    /// How the time is written, and the line that carries it; empty for seconds since 1970.
    time: &'static str,
    time_line: HeaderName,
    /// The line that carries the hash of the body, where there is one.
    hash_line: Option<HeaderName>,
    token_line: HeaderName,
}

/// The keys of a worker account and where they are good.
pub(crate) struct SigV4Signer {
    form: SigV4Form,
    access: String,
    secret: Secret,
    /// The token of keys that pass.
    session: Option<Secret>,
    region: String,
    service: String,
}

/// Where a signature is good.
pub(crate) struct SigV4Scope {
    pub(crate) region: String,
    pub(crate) service: String,
}

impl SigV4Signer {
    /// A signer with keys as `access:secret`, or `access:secret:token` where they pass; whoever has no second part is told so
    /// at the first call.
    pub(crate) fn new(form: SigV4Form, keys: &str, scope: SigV4Scope) -> Self {
        let mut parts = keys.splitn(3, ':');
        let mut part = || parts.next().unwrap_or_default();
        let (access, secret, session) = (part(), part(), part());
        Self {
            form,
            access: access.to_owned(),
            secret: Secret::new(secret),
            session: (!session.is_empty()).then(|| Secret::new(session)),
            region: scope.region,
            service: scope.service,
        }
    }

    fn dialect(&self) -> SigV4Dialect {
        let line = HeaderName::from_static;
        match self.form {
            SigV4Form::Aws => SigV4Dialect {
                algorithm: "AWS4-HMAC-SHA256",
                before_secret: "AWS4",
                end: "aws4_request",
                day: "%Y%m%d",
                time: "%Y%m%dT%H%M%SZ",
                time_line: line("x-amz-date"),
                hash_line: None,
                token_line: line("x-amz-security-token"),
            },
            SigV4Form::Volc => SigV4Dialect {
                algorithm: "HMAC-SHA256",
                before_secret: "",
                end: "request",
                day: "%Y%m%d",
                time: "%Y%m%dT%H%M%SZ",
                time_line: line("x-date"),
                hash_line: Some(line("x-content-sha256")),
                token_line: line("x-security-token"),
            },
            SigV4Form::Tencent => SigV4Dialect {
                algorithm: "TC3-HMAC-SHA256",
                before_secret: "TC3",
                end: "tc3_request",
                day: "%Y-%m-%d",
                time: "",
                time_line: line("x-tc-timestamp"),
                hash_line: None,
                token_line: line("x-tc-token"),
            },
        }
    }

    /// The path as it is signed: at AWS each of its segments is encoded once more.
    fn path(&self, url: &Url) -> String {
        match self.form {
            SigV4Form::Aws => {
                let segments: Vec<String> = url.path().split('/').map(encoded).collect();
                segments.join("/")
            }
            SigV4Form::Volc | SigV4Form::Tencent => url.path().to_owned(),
        }
    }

    /// The parts of the scope below the day.
    fn places(&self) -> Vec<&str> {
        match self.form {
            SigV4Form::Tencent => vec![&self.service],
            SigV4Form::Aws | SigV4Form::Volc => vec![&self.region, &self.service],
        }
    }
}

impl RequestSigner for SigV4Signer {
    fn sign(&self, call: &mut UnsignedCall<'_>, now: u64) -> Result<(), Fault> {
        if self.secret.is_empty() {
            let why = "the credential must be a pair, access:secret";
            return Err(Fault::vendor(Class::Dead, why));
        }
        let unusable = |_| Fault::ours("a call to the vendor cannot be signed");
        let dialect = self.dialect();
        let at = Timestamp::from_second(now as i64).unwrap_or_default();
        let time = match dialect.time {
            "" => now.to_string(),
            form => at.strftime(form).to_string(),
        };
        let hash = hex(&Sha256::digest(call.body));
        let mut put = |name: &HeaderName, value: &str| {
            let value = HeaderValue::from_str(value);
            value.map(|value| call.headers.insert(name.clone(), value))
        };
        put(&dialect.time_line, &time).map_err(unusable)?;
        if let Some(name) = &dialect.hash_line {
            put(name, &hash).map_err(unusable)?;
        }
        if let Some(session) = &self.session {
            put(&dialect.token_line, session.reveal()).map_err(unusable)?;
        }
        let lines = signed_lines(&dialect, call);
        let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let heads = lines.iter().map(|(name, value)| [name, ":", value, "\n"]);
        let request = [
            call.method.as_str(),
            &self.path(call.url),
            &query(call.url),
            &heads.flatten().collect::<String>(),
            &names,
            &hash,
        ]
        .join("\n");
        let day = at.strftime(dialect.day).to_string();
        let mut scope = vec![&*day];
        scope.extend(self.places());
        scope.push(dialect.end);
        let text = [
            dialect.algorithm,
            &time,
            &scope.join("/"),
            &hex(&Sha256::digest(request)),
        ]
        .join("\n");
        let first = [dialect.before_secret, self.secret.reveal()].concat();
        let key = scope
            .iter()
            .fold(first.into_bytes(), |key, part| mac(&key, part));
        let line = format!(
            "{} Credential={}/{}, SignedHeaders={names}, Signature={}",
            dialect.algorithm,
            self.access,
            scope.join("/"),
            hex(&mac(&key, &text))
        );
        let mut line = HeaderValue::from_str(&line).map_err(unusable)?;
        line.set_sensitive(true);
        call.headers.insert(header::AUTHORIZATION, line);
        Ok(())
    }
}

/// The lines of the head that are signed, in their order: those without which the call would be another one.
fn signed_lines<'a>(dialect: &SigV4Dialect, call: &'a UnsignedCall<'_>) -> Vec<(&'a str, String)> {
    let host = call.url.host_str().unwrap_or_default();
    let host = match call.url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let own = [&dialect.time_line, &dialect.token_line];
    let own = own.into_iter().chain(&dialect.hash_line);
    // Tencent signs neither its time nor its token.
    let own = own.filter(|_| !dialect.time.is_empty());
    let own: Vec<_> = own.chain([&header::CONTENT_TYPE]).collect();
    let mut lines = vec![("host", host)];
    lines.extend(call.headers.iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?.trim();
        own.contains(&name)
            .then(|| (name.as_str(), value.to_owned()))
    }));
    lines.sort_unstable();
    lines
}

/// The query as it is signed: its pairs in their order.
fn query(url: &Url) -> String {
    let pairs = url.query_pairs();
    let mut pairs: Vec<_> = pairs
        .map(|(name, value)| (encoded(&name), encoded(&value)))
        .collect();
    pairs.sort_unstable();
    let pairs: Vec<_> = pairs
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};

    use super::*;

    struct Sample {
        method: Method,
        url: &'static str,
        media_type: Option<&'static str>,
        body: &'static str,
        now: u64,
    }

    fn signed(signer: &SigV4Signer, sample: &Sample) -> HeaderMap {
        let mut url = Url::parse(sample.url).expect("an address");
        let mut headers = HeaderMap::new();
        if let Some(media_type) = sample.media_type {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        let mut call = UnsignedCall {
            method: &sample.method,
            url: &mut url,
            headers: &mut headers,
            body: sample.body.as_bytes(),
        };
        signer.sign(&mut call, sample.now).expect("a signature");
        headers
    }

    fn signer(form: SigV4Form, keys: &str, region: &str, service: &str) -> SigV4Signer {
        let scope = SigV4Scope {
            region: region.to_owned(),
            service: service.to_owned(),
        };
        SigV4Signer::new(form, keys, scope)
    }

    /// The first example of the vendor's own test suite.
    #[test]
    fn the_example_of_aws_comes_out() {
        let keys = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let headers = signed(
            &signer(SigV4Form::Aws, keys, "us-east-1", "service"),
            &Sample {
                method: Method::GET,
                url: "https://example.amazonaws.com/",
                media_type: None,
                body: "",
                now: 1_440_938_160,
            },
        );
        assert_eq!(headers["x-amz-date"], "20150830T123600Z");
        assert_eq!(
            headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
    }

    #[test]
    fn a_credential_that_is_no_pair_is_dead_and_nothing_is_sent() {
        let signer = signer(SigV4Form::Aws, "AKIDEXAMPLE", "us-east-1", "service");
        let mut url = Url::parse("https://example.com/").expect("an address");
        let mut call = UnsignedCall {
            method: &Method::GET,
            url: &mut url,
            headers: &mut HeaderMap::new(),
            body: b"",
        };
        let fault = signer.sign(&mut call, 0).expect_err("no pair");
        assert_eq!(fault.class, Class::Dead);
    }
}
