//! Settings that several crates go by: the section `[limits]`. `config/default.toml` holds the defaults and says more.

use serde::Deserialize;

/// Bytes of a MiB.
const MIB: i64 = 1024 * 1024;

/// What a caller may take of the machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Connections open at once.
    pub connections: usize,
    /// Connections open at once from one network.
    pub connections_per_address: usize,
    /// Seconds a caller has to send the head of a request.
    pub header_timeout_s: u64,
    /// Seconds a connection may stay open between requests.
    pub idle_timeout_s: u64,
    /// Seconds a caller may leave an answer untouched.
    pub write_timeout_s: u64,
    /// Seconds a body may fall behind the least speed.
    pub body_grace_s: u64,
    /// Least speed of a body.
    pub body_bytes_per_s: u64,
    /// Most speed of all bodies of one account together; 0 for no limit.
    pub body_mib_per_s: u32,
    /// Memory for all bodies until they are accepted or refused.
    pub body_memory_mib: u64,
    /// Memory for answers that their callers have not taken yet.
    pub answer_memory_mib: u64,
    /// Bytes of a request's path and query.
    pub target_bytes: usize,
    /// Header lines of a request.
    pub headers: usize,
    /// Bytes of a request's head.
    pub header_bytes: usize,
    /// Streams one HTTP/2 connection may have open at once.
    pub http2_streams: u32,
    /// Requests of accounts that may be answered at once.
    pub requests: u64,
    /// Large bodies that are read, decoded and stored at once.
    pub large_requests: u64,
    /// Submits per second that one account may make on average; 0 for no limit.
    pub submits_per_second: u32,
    /// Submits that one account may make at once after a pause.
    pub submits_burst: u32,
    /// Other calls per second that one account may make on average; 0 for no limit.
    pub calls_per_second: u32,
    /// Other calls that one account may make at once after a pause.
    pub calls_burst: u32,
    /// Pages without a key per second for one network on average; 0 for no limit.
    pub open_per_second: u32,
    /// Such pages that one network may ask for at once after a pause.
    pub open_burst: u32,
    /// Acts of one account on itself per hour on average; 0 for no limit.
    pub acts_per_hour: u32,
    /// Such acts at once after a pause.
    pub acts_burst: u32,
    /// Wrong keys per minute from one network before it is slowed down; 0 for no limit.
    pub wrong_keys_per_minute: u32,
    /// Keys of one account that may work at once.
    pub keys_per_account: i64,
    /// What may be kept for one account, unless its own record says otherwise.
    pub storage_mib: i64,
    /// With less free on the disk than this no work is taken; 0 for never.
    pub disk_free_mib: u64,
    /// The same in percent of the disk.
    pub disk_free_percent: u64,
    /// Event streams that may be open at once.
    pub event_streams: u64,
    /// Result files that may be sent at once.
    pub downloads: u64,
    /// Most speed of all result files to one network address together; 0 for no limit.
    pub download_mib_per_s: u32,
}

impl Limits {
    /// What may be kept for one account, in bytes.
    pub fn storage_bytes(&self) -> i64 {
        self.storage_mib.saturating_mul(MIB)
    }
}
