//! Settings that several crates go by: the section `[limits]`. `config/default.toml` holds the defaults and says more.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// Bytes of a MiB.
const MIB: i64 = 1024 * 1024;
/// So many at once are more than any machine has.
const CROWD: i64 = 1_000_000;
/// A rate above this is none.
const OFTEN: i64 = 1_000_000_000;
/// The longest time in seconds that a caller may be waited for.
const DAY_S: i64 = 86_400;
/// A TiB and a PiB in MiB: more than any memory and any disk.
const MEMORY_MIB: i64 = 1024 * 1024;
const DISK_MIB: i64 = 1024 * 1024 * 1024;

/// Reads a whole number between two others, as a field says it: `within::<_, _, 1, 100>`.
pub fn within<'de, D, T, const LEAST: i64, const MOST: i64>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64>,
{
    let bounds = Bounds {
        least: LEAST,
        most: MOST,
    };
    let number = bounds.read(deserializer)?;
    T::try_from(number).map_err(|_| D::Error::custom(bounds.refusal()))
}

/// What a whole number has to be between.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The least that will do.
    pub least: i64,
    /// The most that will do.
    pub most: i64,
}

impl Bounds {
    /// Reads a number that is within.
    pub fn read<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<i64, D::Error> {
        deserializer.deserialize_i64(self)
    }

    fn refusal(self) -> String {
        format!("must be from {} to {}", self.least, self.most)
    }
}

impl Visitor<'_> for Bounds {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} to {}", self.least, self.most)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
        let is_within = (self.least..=self.most).contains(&number);
        is_within
            .then_some(number)
            .ok_or_else(|| E::custom(self.refusal()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// What a caller may take of the machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Connections open at once.
    #[serde(deserialize_with = "within::<_, _, 1, { CROWD }>")]
    pub connections: usize,
    /// Connections open at once from one network.
    #[serde(deserialize_with = "within::<_, _, 1, { CROWD }>")]
    pub connections_per_address: usize,
    /// Seconds a caller has to send the head of a request.
    #[serde(deserialize_with = "within::<_, _, 1, { DAY_S }>")]
    pub header_timeout_s: u64,
    /// Seconds a connection may stay open between requests.
    #[serde(deserialize_with = "within::<_, _, 1, { DAY_S }>")]
    pub idle_timeout_s: u64,
    /// Seconds a caller may leave an answer untouched.
    #[serde(deserialize_with = "within::<_, _, 1, { DAY_S }>")]
    pub write_timeout_s: u64,
    /// Seconds a body may fall behind the least speed.
    #[serde(deserialize_with = "within::<_, _, 0, { DAY_S }>")]
    pub body_grace_s: u64,
    /// Least speed of a body.
    #[serde(deserialize_with = "within::<_, _, 1, { OFTEN }>")]
    pub body_bytes_per_s: u64,
    /// Most speed of all bodies of one account together; 0 for no limit.
    #[serde(deserialize_with = "within::<_, _, 0, { CROWD }>")]
    pub body_mib_per_s: u32,
    /// Memory for all bodies until they are accepted or refused.
    #[serde(deserialize_with = "within::<_, _, 64, { MEMORY_MIB }>")]
    pub body_memory_mib: u64,
    /// Memory for answers that their callers have not taken yet.
    #[serde(deserialize_with = "within::<_, _, 1, { MEMORY_MIB }>")]
    pub answer_memory_mib: u64,
    /// Bytes of a request's path and query.
    #[serde(deserialize_with = "within::<_, _, 256, { MIB }>")]
    pub target_bytes: usize,
    /// Header lines of a request.
    #[serde(deserialize_with = "within::<_, _, 1, 10_000>")]
    pub headers: usize,
    /// Bytes of a request's head.
    #[serde(deserialize_with = "within::<_, _, 1024, { MIB }>")]
    pub header_bytes: usize,
    /// Streams one HTTP/2 connection may have open at once.
    #[serde(deserialize_with = "within::<_, _, 1, 10_000>")]
    pub http2_streams: u32,
    /// Requests of accounts that may be answered at once.
    #[serde(deserialize_with = "within::<_, _, 1, { CROWD }>")]
    pub requests: u64,
    /// Large bodies that are read, decoded and stored at once.
    #[serde(deserialize_with = "within::<_, _, 1, 10_000>")]
    pub large_requests: u64,
    /// Submits per second that one account may make on average; 0 for no limit.
    #[serde(deserialize_with = "within::<_, _, 0, { OFTEN }>")]
    pub submits_per_second: u32,
    /// Submits that one account may make at once after a pause.
    #[serde(deserialize_with = "within::<_, _, 1, { OFTEN }>")]
    pub submits_burst: u32,
    /// Other calls per second that one account may make on average; 0 for no limit.
    #[serde(deserialize_with = "within::<_, _, 0, { OFTEN }>")]
    pub calls_per_second: u32,
    /// Other calls that one account may make at once after a pause.
    #[serde(deserialize_with = "within::<_, _, 1, { OFTEN }>")]
    pub calls_burst: u32,
    /// Pages without a key per second for one network on average; 0 for no limit.
    #[serde(deserialize_with = "within::<_, _, 0, { OFTEN }>")]
    pub open_per_second: u32,
    /// Such pages that one network may ask for at once after a pause.
    #[serde(deserialize_with = "within::<_, _, 1, { OFTEN }>")]
    pub open_burst: u32,
    /// Acts of one account on itself per hour on average; 0 for no limit.
    #[serde(deserialize_with = "within::<_, _, 0, { OFTEN }>")]
    pub acts_per_hour: u32,
    /// Such acts at once after a pause.
    #[serde(deserialize_with = "within::<_, _, 1, { OFTEN }>")]
    pub acts_burst: u32,
    /// Wrong keys per minute from one network before it is slowed down; 0 for no limit.
    #[serde(deserialize_with = "within::<_, _, 0, { OFTEN }>")]
    pub wrong_keys_per_minute: u32,
    /// Keys of one account that may work at once.
    #[serde(deserialize_with = "within::<_, _, 1, { CROWD }>")]
    pub keys_per_account: i64,
    /// What may be kept for one account, unless its own record says otherwise.
    #[serde(deserialize_with = "within::<_, _, 0, { DISK_MIB }>")]
    pub storage_mib: i64,
    /// With less free on the disk than this no work is taken; 0 for never.
    #[serde(deserialize_with = "within::<_, _, 0, { DISK_MIB }>")]
    pub disk_free_mib: u64,
    /// The same in percent of the disk.
    #[serde(deserialize_with = "within::<_, _, 0, 99>")]
    pub disk_free_percent: u64,
    /// Event streams that may be open at once.
    #[serde(deserialize_with = "within::<_, _, 1, { CROWD }>")]
    pub event_streams: u64,
    /// Result files that may be sent at once.
    #[serde(deserialize_with = "within::<_, _, 1, { CROWD }>")]
    pub downloads: u64,
    /// Most speed of all result files to one network address together; 0 for no limit.
    #[serde(deserialize_with = "within::<_, _, 0, { CROWD }>")]
    pub download_mib_per_s: u32,
}

impl Limits {
    /// What may be kept for one account, in bytes.
    pub fn storage_bytes(&self) -> i64 {
        self.storage_mib.saturating_mul(MIB)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer as _;
    use serde::de::value::{Error, I64Deserializer};

    use super::*;

    #[test]
    fn a_number_outside_of_its_bounds_is_refused_with_them() {
        let read = |number: i64| {
            let number: I64Deserializer<Error> = number.into_deserializer();
            within::<_, u32, 1, 10>(number).map_err(|error| error.to_string())
        };
        assert_eq!((read(1), read(10)), (Ok(1), Ok(10)));
        for number in [0, -1, 11, i64::MAX] {
            assert_eq!(read(number), Err("must be from 1 to 10".into()));
        }
    }
}
