//! Issuing keys of an account, and what they may spend and do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Count, Moment, Text};
use crate::key_rules::{KeyRules, parse_network};
use crate::limit_window::LimitWindow;
use crate::quota::Quota;
use crate::refusal::{Code, Refusal};
use crate::scopes::Scopes;

/// Names, models or networks that a key may have.
const LISTED_MOST: usize = 50;
/// Seconds that a key may last at the most, counted from now: ten years.
const LASTS_MOST: i64 = 10 * 366 * 86_400;

/// How much a key may spend in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyLimit {
    /// The window it counts in: UTC, weeks begin on Monday.
    pub window: LimitWindow,
    /// Limit of the key and the keys below it in the window, including reserved quota.
    pub quota: Quota,
}

/// What a key shall be called, may spend and do, and when it ends. Of a key that is changed, what is left out stays, and null takes
/// it away.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// A name to tell keys apart; `key` when absent.
    #[serde(default)]
    pub name: Option<Text<100>>,
    /// Its scopes; all if absent.
    #[serde(default)]
    pub scopes: Option<Scopes>,
    /// When it stops working; never when absent, or when the key above it does.
    #[serde(default)]
    pub expires_at: Option<Moment>,
    /// The same in seconds from now, at least 60.
    #[serde(default)]
    pub expires_in: Option<Count<60, LASTS_MOST, 60>>,
    /// How much it may spend, at most once for each window.
    #[serde(default)]
    pub limits: Option<Vec<KeyLimit>>,
    /// The operations it may use, as `artgen.imagine` or `artgen.*`.
    #[serde(default)]
    pub operations: Option<Vec<String>>,
    /// The models it may use, as `image-1` or `image-*`; operations that name none are refused.
    #[serde(default)]
    pub models: Option<Vec<String>>,
    /// IP addresses and networks from which it may be used, such as `203.0.113.0/24`.
    #[serde(default)]
    pub addresses: Option<Vec<String>>,
    /// Submits in a second, those of keys below it included.
    #[serde(default)]
    pub submits_per_second: Option<Count<1, 100_000, 1>>,
    /// Unfinished jobs that it may have in a queue, those of keys below it included.
    #[serde(default)]
    pub max_queue: Option<Count<1, 1_000_000, 1>>,
    /// A note for its owner.
    #[serde(default)]
    pub note: Option<Text<500>>,
}

/// The fields of a [`NewKey`] that null takes away from a key.
pub const TAKEN_AWAY: [&str; 8] = [
    "limits",
    "operations",
    "models",
    "addresses",
    "submitsPerSecond",
    "maxQueue",
    "expiresAt",
    "note",
];

/// What a key may spend and do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyTerms {
    /// How much it may spend in windows.
    pub limits: Vec<KeyLimit>,
    /// Its permissions.
    pub rules: KeyRules,
    /// Unfinished jobs in a queue.
    pub max_queue: Option<i64>,
}

impl NewKey {
    /// When it ends, as far as that is said.
    pub fn ends_ms(&self, now_ms: i64) -> Result<Option<i64>, Refusal> {
        let lasts = self
            .expires_in
            .as_ref()
            .map(|seconds| now_ms + seconds.get() * 1000);
        if lasts.is_some() && self.expires_at.is_some() {
            let message = "is given beside expiresAt; give one of them";
            return Err(Refusal::invalid("expiresIn", message));
        }
        Ok(lasts.or_else(|| self.expires_at.map(Moment::ms)))
    }

    /// What it may spend and do: what there was, with this changed.
    pub fn terms_over(&self, old: KeyTerms) -> Result<KeyTerms, Refusal> {
        let KeyTerms {
            limits,
            rules,
            max_queue,
        } = old;
        let rate = self
            .submits_per_second
            .as_ref()
            .map(|rate| rate.get() as u32);
        Ok(KeyTerms {
            limits: self.limits.as_deref().map_or(Ok(limits), read_limits)?,
            rules: KeyRules {
                operations: match &self.operations {
                    // Families are taken in either spelling; no name of theirs has a hyphen.
                    Some(names) => {
                        let names = read_names("operations", names)?.into_iter();
                        names.map(|name| name.replace('-', "_")).collect()
                    }
                    None => rules.operations,
                },
                models: match &self.models {
                    Some(names) => read_names("models", names)?,
                    None => rules.models,
                },
                addresses: match &self.addresses {
                    Some(texts) => read_addresses(texts)?,
                    None => rules.addresses,
                },
                submits_per_second: rate.or(rules.submits_per_second),
            },
            max_queue: self.max_queue.as_ref().map(|most| most.get()).or(max_queue),
        })
    }
}

impl KeyTerms {
    /// Without what null takes away.
    pub fn take_away(&mut self, field: &str) {
        match field {
            "limits" => self.limits.clear(),
            "operations" => self.rules.operations.clear(),
            "models" => self.rules.models.clear(),
            "addresses" => self.rules.addresses.clear(),
            "submitsPerSecond" => self.rules.submits_per_second = None,
            "maxQueue" => self.max_queue = None,
            _ => {}
        }
    }

    /// Refuses what allows more than a key above does. What is left out is limited by that key all the same.
    pub fn check_below(&self, above: &Self) -> Result<(), Refusal> {
        let wider = |field: &str| {
            let message = "allows more than the key above it does";
            Err(Refusal::field(Code::Forbidden, field, message))
        };
        for (place, limit) in self.limits.iter().enumerate() {
            let mut most = above
                .limits
                .iter()
                .filter(|other| other.window == limit.window);
            if most.any(|most| limit.quota > most.quota) {
                return wider(&format!("limits[{place}].quota"));
            }
        }
        if let Some(field) = self.rules.wider_than(&above.rules) {
            return wider(field);
        }
        let queues = self.max_queue.zip(above.max_queue);
        if queues.is_some_and(|(own, most)| own > most) {
            return wider("maxQueue");
        }
        Ok(())
    }
}

impl KeyTerms {
    /// Refuses what a key allows itself: what limits it stays, and may only become less.
    pub fn check_narrower(&self, before: &Self) -> Result<(), Refusal> {
        let stays = |field: &str, stays: bool| {
            let message = "a key takes no limit of its own away; ask whoever gave it";
            let refused = || Err(Refusal::field(Code::Forbidden, field, message));
            if stays { Ok(()) } else { refused() }
        };
        let kept = |limit: &KeyLimit| self.limits.iter().any(|own| own.window == limit.window);
        stays("limits", before.limits.iter().all(kept))?;
        let (own, old) = (&self.rules, &before.rules);
        stays(
            "operations",
            old.operations.is_empty() || !own.operations.is_empty(),
        )?;
        stays("models", old.models.is_empty() || !own.models.is_empty())?;
        stays(
            "addresses",
            old.addresses.is_empty() || !own.addresses.is_empty(),
        )?;
        let rate = old.submits_per_second.is_none() || own.submits_per_second.is_some();
        stays("submitsPerSecond", rate)?;
        stays(
            "maxQueue",
            before.max_queue.is_none() || self.max_queue.is_some(),
        )?;
        self.check_below(before)
    }

    /// Of these what is different from what was before, so that only a change is judged.
    #[must_use]
    pub fn changed_since(&self, before: &Self) -> Self {
        let limits = self.limits.iter().map(|limit| {
            let is_old = before.limits.contains(limit);
            // It keeps its place in the list, by which a refusal names it.
            let quota = if is_old { Quota::ZERO } else { limit.quota };
            KeyLimit { quota, ..*limit }
        });
        Self {
            limits: limits.collect(),
            rules: self.rules.changed_since(&before.rules),
            max_queue: self
                .max_queue
                .filter(|_| self.max_queue != before.max_queue),
        }
    }
}

fn read_limits(limits: &[KeyLimit]) -> Result<Vec<KeyLimit>, Refusal> {
    for (place, limit) in limits.iter().enumerate() {
        if limit.quota <= Quota::ZERO {
            let field = format!("limits[{place}].quota");
            return Err(Refusal::invalid(
                &field,
                "must be more than 0; null takes a limit away",
            ));
        }
        if limits[..place]
            .iter()
            .any(|other| other.window == limit.window)
        {
            let field = format!("limits[{place}].window");
            let message = format!("`{}` is given twice", limit.window.word());
            return Err(Refusal::invalid(&field, message));
        }
    }
    Ok(limits.to_vec())
}

fn read_names(field: &str, names: &[String]) -> Result<Vec<String>, Refusal> {
    check_count(field, names.len())?;
    let allowed = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'/' | b'-' | b'*')
    };
    for (place, name) in names.iter().enumerate() {
        if name.is_empty() || name.len() > 100 || !name.bytes().all(allowed) {
            let message = "must be a name, or a part of one with `*` for the rest";
            return Err(Refusal::invalid(&format!("{field}[{place}]"), message));
        }
    }
    Ok(names.to_vec())
}

fn read_addresses(texts: &[String]) -> Result<Vec<ipnet::IpNet>, Refusal> {
    check_count("addresses", texts.len())?;
    let read = |(place, text): (usize, &String)| {
        parse_network(text).ok_or_else(|| {
            let message =
                "must be an IP address or a network, such as 203.0.113.0/24 or 2001:db8::/32";
            Refusal::invalid(&format!("addresses[{place}]"), message)
        })
    };
    texts.iter().enumerate().map(read).collect()
}

fn check_count(field: &str, count: usize) -> Result<(), Refusal> {
    if count > LISTED_MOST {
        return Err(Refusal::invalid(
            field,
            format!("must be at most {LISTED_MOST}"),
        ));
    }
    Ok(())
}

/// How a key gets a new secret.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRotation {
    /// Seconds for which the old secret works beside the new one; none when absent.
    #[serde(default)]
    pub overlap_seconds: Option<Count<0, 2_592_000, 0>>,
}

impl KeyRotation {
    /// For how long the old secret works.
    pub fn overlap_s(&self) -> i64 {
        self.overlap_seconds.map_or(0, Count::get)
    }
}

/// A key that was just issued.
#[derive(Serialize, JsonSchema)]
pub struct IssuedKey {
    /// Identifier of the key, to revoke it by.
    pub id: String,
    /// The key itself; no other answer shows it.
    pub api_key: String,
}

/// The thing that was revoked, removed or sent again.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Named")]
pub struct ResourceId {
    /// Identifier of the thing.
    pub id: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn terms(value: Value) -> Result<KeyTerms, Refusal> {
        let Value::Object(fields) = value else {
            panic!("an object")
        };
        let new: NewKey = crate::body::read(fields)?;
        new.terms_over(KeyTerms::default())
    }

    #[test]
    fn nonsense_is_refused_by_its_field() {
        let many: Vec<String> = (0..51).map(|number| format!("m{number}")).collect();
        for (wrong, field) in [
            (
                json!({"limits": [{"window": "day", "quota": 0}]}),
                "limits[0].quota",
            ),
            (
                json!({"limits": [{"window": "day", "quota": -1}]}),
                "limits[0].quota",
            ),
            (
                json!({"limits": [{"window": "day", "quota": 2_000_000_000}]}),
                "limits[0].quota",
            ),
            (
                json!({"limits": [{"window": "year", "quota": 1}]}),
                "limits[0].window",
            ),
            (
                json!({"limits": [{"window": "day", "quota": 1}, {"window": "day", "quota": 2}]}),
                "limits[1].window",
            ),
            (json!({"operations": ["a b"]}), "operations[0]"),
            (json!({"models": many}), "models"),
            (
                json!({"addresses": ["10.0.0.0/8", "10.0.0.0/33"]}),
                "addresses[1]",
            ),
            (json!({"submitsPerSecond": 0}), "submitsPerSecond"),
            (json!({"maxQueue": 0}), "maxQueue"),
            (json!({"expiresIn": 59}), "expiresIn"),
        ] {
            let refusal = terms(wrong.clone()).expect_err("refused");
            assert_eq!(
                refusal.field.as_deref(),
                Some(field),
                "{wrong}: {}",
                refusal.message
            );
            assert_eq!(refusal.code, Code::InvalidParameter, "{wrong}");
        }
    }

    #[test]
    fn operations_are_taken_in_both_spellings() {
        let terms = terms(json!({"operations": ["vidgen-partner.*", "artgen.imagine"]}));
        let rules = terms.expect("terms").rules;
        assert_eq!(rules.operations, ["vidgen_partner.*", "artgen.imagine"]);
    }

    #[test]
    fn a_key_below_is_never_wider() {
        let above = terms(json!({
            "limits": [{"window": "day", "quota": 10}], "operations": ["artgen.*"], "maxQueue": 3
        }))
        .expect("terms");
        for fine in [
            json!({}),
            json!({"limits": [{"window": "day", "quota": 10}, {"window": "total", "quota": 99}], "maxQueue": 3}),
        ] {
            assert_eq!(terms(fine).expect("terms").check_below(&above), Ok(()));
        }
        for (wide, field) in [
            (
                json!({"limits": [{"window": "total", "quota": 1}, {"window": "day", "quota": 10.001}]}),
                "limits[1].quota",
            ),
            (json!({"operations": ["*"]}), "operations"),
            (json!({"maxQueue": 4}), "maxQueue"),
        ] {
            let refusal = terms(wide)
                .expect("terms")
                .check_below(&above)
                .expect_err("wider");
            assert_eq!(
                (refusal.code, refusal.field.as_deref()),
                (Code::Forbidden, Some(field))
            );
        }
    }
}
