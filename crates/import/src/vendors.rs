//! Where channels of other programs lead: which vendor here calls the same service, at which address and with which settings.

use serde_json::{Map, Value};

/// A vendor of this service, as a channel's operator would set it up here.
#[derive(Clone, Debug, PartialEq)]
pub struct VendorTarget {
    /// Its name here.
    pub vendor: &'static str,
    /// URL of its API.
    pub base_url: String,
    /// Its settings.
    pub settings: Map<String, Value>,
}

/// How the address of a channel becomes one of a back end.
#[derive(Clone, Copy)]
enum BaseUrl {
    /// As it is; what stands there when the channel has none.
    Plain(&'static str),
    /// With this version behind it, unless it ends with one.
    Versioned(&'static str, &'static str),
}

/// A service that a back end here calls.
struct KnownService {
    vendor: &'static str,
    base: BaseUrl,
    dialect: Option<&'static str>,
}

const OPENAI: KnownService = KnownService {
    vendor: "openai",
    base: BaseUrl::Versioned("https://api.openai.com", "/v1"),
    dialect: None,
};
const MIDJOURNEY: KnownService = KnownService {
    vendor: "midjourney-proxy",
    base: BaseUrl::Plain(""),
    dialect: None,
};
const GOOGLE: KnownService = KnownService {
    vendor: "google",
    base: BaseUrl::Versioned("https://generativelanguage.googleapis.com", "/v1"),
    dialect: None,
};
const XAI: KnownService = KnownService {
    vendor: "xai",
    base: BaseUrl::Versioned("https://api.x.ai", "/v1"),
    dialect: None,
};
const REPLICATE: KnownService = KnownService {
    vendor: "replicate",
    base: BaseUrl::Versioned("https://api.replicate.com", "/v1"),
    dialect: None,
};
const ARK: KnownService = KnownService {
    vendor: "roletask",
    base: BaseUrl::Versioned("https://ark.cn-beijing.volces.com", "/api/v3"),
    dialect: Some("ark"),
};
const DASHSCOPE: KnownService = KnownService {
    vendor: "roletask",
    base: BaseUrl::Versioned("https://dashscope.aliyuncs.com", "/api/v1"),
    dialect: Some("dashscope"),
};
const MINIMAX: KnownService = KnownService {
    vendor: "roletask",
    base: BaseUrl::Plain("https://api.minimax.chat"),
    dialect: Some("minimax_v1"),
};
const KLING: KnownService = KnownService {
    vendor: "roletask",
    base: BaseUrl::Plain("https://api.klingai.com"),
    dialect: Some("kling_v1"),
};
const SILICON_FLOW: KnownService = KnownService {
    base: BaseUrl::Versioned("https://api.siliconflow.cn", "/v1"),
    ..OPENAI
};
const RECRAFT: KnownService = KnownService {
    vendor: "recraft",
    base: BaseUrl::Versioned("https://external.api.recraft.ai", "/v1"),
    dialect: None,
};
const FAL: KnownService = KnownService {
    vendor: "fal",
    base: BaseUrl::Plain("https://queue.fal.run"),
    dialect: None,
};
const BFL: KnownService = KnownService {
    vendor: "bfl",
    base: BaseUrl::Versioned("https://api.bfl.ai", "/v1"),
    dialect: None,
};
const RUNWAY: KnownService = KnownService {
    vendor: "runway",
    base: BaseUrl::Versioned("https://api.dev.runwayml.com", "/v1"),
    dialect: None,
};

impl KnownService {
    fn at(&self, given: &str) -> Result<VendorTarget, String> {
        let given = given.trim().trim_end_matches('/');
        let base_url = match self.base {
            BaseUrl::Plain("") if given.is_empty() => {
                return Err("the channel has no address; give it one there or here".to_owned());
            }
            BaseUrl::Plain(usual) if given.is_empty() => usual.to_owned(),
            BaseUrl::Plain(_) => given.to_owned(),
            BaseUrl::Versioned(usual, version) => {
                let base = if given.is_empty() { usual } else { given };
                if ends_with_version(base) {
                    base.to_owned()
                } else {
                    format!("{base}{version}")
                }
            }
        };
        let mut settings = Map::new();
        if let Some(dialect) = self.dialect {
            settings.insert("dialect".to_owned(), dialect.into());
        }
        Ok(VendorTarget {
            vendor: self.vendor,
            base_url,
            settings,
        })
    }
}

/// Whether an address ends as in `/v1` or `/v1beta`.
fn ends_with_version(base: &str) -> bool {
    let last = base.rsplit('/').next().unwrap_or_default();
    let mut letters = last.chars();
    letters.next() == Some('v') && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// A kind of channel that nobody here can call.
fn foreign(name: &str) -> String {
    format!("no vendor here calls {name}; docs/backends.md lists those that there are")
}

/// Where a channel of new-api leads, by its type.
pub(crate) fn of_new_api(kind: i64, base_url: &str) -> Result<VendorTarget, String> {
    let service = match kind {
        1 | 6 | 7 | 8 | 10 | 12 | 13 | 20 | 55 | 58 | 59 | 60 => &OPENAI,
        2 | 5 => &MIDJOURNEY,
        17 => &DASHSCOPE,
        24 => &GOOGLE,
        35 => &MINIMAX,
        40 => &SILICON_FLOW,
        45 | 54 => &ARK,
        48 => &XAI,
        50 => &KLING,
        56 => &REPLICATE,
        3 => return azure(base_url),
        other => return Err(foreign(&format!("channels of type {other}"))),
    };
    service.at(base_url)
}

/// Where a channel of one-api leads, by its type.
pub(crate) fn of_one_api(kind: i64, base_url: &str) -> Result<VendorTarget, String> {
    let service = match kind {
        1 | 4 | 5 | 6 | 7 | 8 | 10 | 12 | 13 | 20 | 50 => &OPENAI,
        17 | 49 => &DASHSCOPE,
        24 => &GOOGLE,
        27 => &MINIMAX,
        40 => &ARK,
        44 => &SILICON_FLOW,
        45 => &XAI,
        46 => &REPLICATE,
        3 => return azure(base_url),
        other => return Err(foreign(&format!("channels of type {other}"))),
    };
    service.at(base_url)
}

/// Where a deployment of LiteLLM leads, by its provider.
pub(crate) fn of_litellm(provider: &str, base_url: &str) -> Result<VendorTarget, String> {
    let service = match provider {
        "openai" | "custom_openai" | "openai_like" | "litellm_proxy" | "hosted_vllm" => &OPENAI,
        "azure" | "azure_ai" => return azure(base_url),
        "gemini" => &GOOGLE,
        "xai" => &XAI,
        "replicate" => &REPLICATE,
        "recraft" => &RECRAFT,
        "fal_ai" => &FAL,
        "black_forest_labs" => &BFL,
        "runwayml" => &RUNWAY,
        "dashscope" => &DASHSCOPE,
        "volcengine" => &ARK,
        "minimax" => &MINIMAX,
        other => return Err(foreign(&format!("the provider {other}"))),
    };
    service.at(base_url)
}

/// Azure's deployments, whose key stands in a header of its own.
fn azure(base_url: &str) -> Result<VendorTarget, String> {
    let base = base_url.trim().trim_end_matches('/');
    if base.is_empty() {
        return Err("the channel has no address; give it one there or here".to_owned());
    }
    let base_url = if base.contains("/openai/") {
        base.to_owned()
    } else {
        format!("{base}/openai/v1")
    };
    let mut settings = Map::new();
    settings.insert("key_header".to_owned(), true.into());
    Ok(VendorTarget {
        vendor: "openai",
        base_url,
        settings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(target: &Result<VendorTarget, String>) -> &str {
        target.as_ref().map_or("", |target| &target.base_url)
    }

    #[test]
    fn an_address_has_its_version_once() {
        for (given, made) in [
            ("", "https://api.openai.com/v1"),
            ("https://api.example.com/", "https://api.example.com/v1"),
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ] {
            assert_eq!(url(&of_new_api(1, given)), made, "{given}");
        }
        assert_eq!(
            url(&of_new_api(24, "")),
            "https://generativelanguage.googleapis.com/v1"
        );
        assert_eq!(
            url(&of_one_api(3, "https://a.openai.azure.com")),
            "https://a.openai.azure.com/openai/v1"
        );
    }

    #[test]
    fn what_nobody_here_calls_is_said_by_its_kind() {
        let refused = of_new_api(36, "").expect_err("no vendor");
        assert!(refused.contains("type 36"), "{refused}");
        let refused = of_new_api(5, " ").expect_err("no address");
        assert!(refused.contains("no address"), "{refused}");
        assert!(of_litellm("anthropic", "").is_err());
    }
}
