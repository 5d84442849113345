//! How often an account may call, over all its keys, how often it may change itself, how often a key may sign in, how often a
//! network may ask for pages that need no key, and how many wrong keys it may try. The answer to every call says how much is
//! left, in the fields of the IETF draft on rate limits.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atelier_contract::settings::Limits;
use atelier_engine::KeyPolicy;
use atelier_fairness::limits::LimitOverrides;
use atelier_fairness::rate::{BucketLevel, Rate, TokenBuckets};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use crate::network;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// So many keys of an account may each open as many sessions at once as one key may. More than one: a key that signs in all the
/// time leaves the others some.
const KEYS_AT_ONCE: u32 = 5;

/// Wrong voucher codes in an hour.
const WRONG_CODES: u32 = 20;

/// Sign-in links in an hour: to an address, and for a network.
const LINKS_TO_ADDRESS: u32 = 5;
const LINKS_FOR_NETWORK: u32 = 30;
/// Sign-ins of other kinds that a network begins in an hour: an office may be one.
const SIGN_INS_FOR_NETWORK: u32 = 300;

/// What is told of a key that had too many.
pub(crate) const TOO_MANY_BY_KEY: &str = "this key submits more often than it may";

/// What a call counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Submit,
    Call,
}

/// What a page that needs no key counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenPage {
    Page,
    /// A result file or a small picture of one, with its bytes.
    File,
}

/// The rate limits of accounts, networks and sessions.
pub(crate) struct Rates {
    /// Accounts whose rates are their own.
    allowances: Arc<LimitOverrides>,
    submits: Policy,
    calls: Policy,
    wrong: TokenBuckets<IpAddr>,
    /// Whether any network ever had too many: hardly ever, and every call asks.
    any_guessed: AtomicBool,
    wrong_rate: Rate,
    open: TokenBuckets<IpAddr>,
    open_rate: Rate,
    /// Files by network: a gallery asks for many at once, and small ones weigh nothing where bytes are paced.
    files: TokenBuckets<IpAddr>,
    files_rate: Rate,
    /// Keys that may submit less often than their account.
    keys: TokenBuckets<String>,
    /// Wrong voucher codes by account and by network.
    guesses: TokenBuckets<String>,
    network_guesses: TokenBuckets<IpAddr>,
    guess_rate: Rate,
    /// Sign-in links by address and by network.
    links: TokenBuckets<String>,
    links_rate: Rate,
    network_links: TokenBuckets<IpAddr>,
    network_links_rate: Rate,
    /// Other sign-ins that were begun, by network.
    sign_ins: TokenBuckets<IpAddr>,
    sign_ins_rate: Rate,
    acts: TokenBuckets<String>,
    /// Sessions of the console by key, as many as acts: any key may sign in, and shall use up nothing of the account's.
    sessions: TokenBuckets<String>,
    /// The same by account, over all its keys: each writes an act.
    account_sessions: TokenBuckets<String>,
    acts_rate: Rate,
    account_sessions_rate: Rate,
}

/// A rate with its name on the wire.
struct Policy {
    name: &'static str,
    rate: Rate,
    header: HeaderValue,
    buckets: TokenBuckets<String>,
}

/// Where an account stands after a call.
#[derive(Clone, Debug)]
pub(super) struct RateStatus {
    policy: HeaderValue,
    limit: HeaderValue,
    /// Seconds to wait, when the call was one too many.
    pub(super) wait_s: Option<u64>,
}

impl RateStatus {
    /// Says it in an answer.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        headers.insert(POLICY, self.policy.clone());
        headers.insert(LIMIT, self.limit.clone());
    }
}

impl Rates {
    pub(crate) fn new(limits: &Limits, allowances: &Arc<LimitOverrides>) -> Self {
        let wrong = limits.wrong_keys_per_minute;
        Self {
            allowances: Arc::clone(allowances),
            submits: Policy::new("submits", limits.submits_per_second, limits.submits_burst),
            calls: Policy::new("calls", limits.calls_per_second, limits.calls_burst),
            wrong: TokenBuckets::default(),
            any_guessed: AtomicBool::new(false),
            wrong_rate: Rate::new(wrong, Duration::from_mins(1), wrong),
            open: TokenBuckets::default(),
            open_rate: Rate::new(
                limits.open_per_second,
                Duration::from_secs(1),
                limits.open_burst,
            ),
            files: TokenBuckets::default(),
            files_rate: Rate::new(
                of_files(limits.open_per_second),
                Duration::from_secs(1),
                of_files(limits.open_burst),
            ),
            keys: TokenBuckets::default(),
            guesses: TokenBuckets::default(),
            network_guesses: TokenBuckets::default(),
            guess_rate: Rate::new(WRONG_CODES, Duration::from_hours(1), WRONG_CODES),
            links: TokenBuckets::default(),
            links_rate: Rate::new(LINKS_TO_ADDRESS, Duration::from_hours(1), LINKS_TO_ADDRESS),
            network_links: TokenBuckets::default(),
            network_links_rate: Rate::new(
                LINKS_FOR_NETWORK,
                Duration::from_hours(1),
                LINKS_FOR_NETWORK,
            ),
            sign_ins: TokenBuckets::default(),
            sign_ins_rate: Rate::new(
                SIGN_INS_FOR_NETWORK,
                Duration::from_hours(1),
                SIGN_INS_FOR_NETWORK,
            ),
            acts: TokenBuckets::default(),
            sessions: TokenBuckets::default(),
            account_sessions: TokenBuckets::default(),
            acts_rate: Rate::new(
                limits.acts_per_hour,
                Duration::from_hours(1),
                limits.acts_burst,
            ),
            account_sessions_rate: Rate::new(
                limits.acts_per_hour,
                Duration::from_hours(1),
                limits.acts_burst.saturating_mul(KEYS_AT_ONCE),
            ),
        }
    }

    /// Counts a call; nothing when calls of this kind have no limit.
    pub(super) fn call(&self, kind: CallKind, account_id: &str) -> Option<RateStatus> {
        let own = self.allowances.of(account_id);
        let (policy, own) = match kind {
            CallKind::Submit => (&self.submits, own.submits_per_second),
            CallKind::Call => (&self.calls, own.calls_per_second),
        };
        policy.call(account_id, own)
    }

    /// Counts further submits of an account as far as its rate allows; how many.
    pub(super) fn submits(&self, account_id: &str, wanted: usize) -> usize {
        let own = self.allowances.of(account_id).submits_per_second;
        let usual = self.submits.rate;
        let rate = own.map_or(usual, |own| usual.of(own));
        self.submits.buckets.take_some(account_id, rate, wanted)
    }

    /// Counts a submit of a key that has a rate of its own, and of those above it; the number of seconds to wait when there were too
    /// many.
    pub(crate) fn key_submit(&self, policy: &KeyPolicy) -> Result<(), u64> {
        // What one of those above refuses is to cost the others nothing.
        let mut rates = policy.rates();
        let wait_s =
            rates.find_map(|(key_id, per_second)| self.keys.look(&**key_id, key_rate(per_second)));
        wait_s.map_or(Ok(()), Err)?;
        for (key_id, per_second) in policy.rates() {
            let level = self.keys.take(&**key_id, key_rate(per_second));
            if let Some(wait_s) = level.and_then(|level| level.wait_s) {
                return Err(wait_s);
            }
        }
        Ok(())
    }

    /// Counts further submits of such keys as far as their rates allow; how many.
    pub(super) fn key_submits(&self, policy: &KeyPolicy, wanted: usize) -> usize {
        policy.rates().fold(wanted, |wanted, (key_id, per_second)| {
            self.keys.take_some(&**key_id, key_rate(per_second), wanted)
        })
    }

    /// Counts an act of an account on itself; the number of seconds to wait when there were too many.
    pub(super) fn act(&self, account_id: &str) -> Result<(), u64> {
        let level = self.acts.take(account_id, self.acts_rate);
        level.and_then(|level| level.wait_s).map_or(Ok(()), Err)
    }

    /// Counts a session that a key of an account opens; the number of seconds to wait when the key or the account had too many.
    /// One that is too many for its key takes nothing from the account.
    pub(super) fn session(&self, key_id: &str, account_id: &str) -> Result<(), u64> {
        let of_key = self.sessions.take(key_id, self.acts_rate);
        of_key.and_then(|level| level.wait_s).map_or(Ok(()), Err)?;
        let rate = self.account_sessions_rate;
        let of_account = self.account_sessions.take(account_id, rate);
        of_account
            .and_then(|level| level.wait_s)
            .map_or(Ok(()), Err)
    }

    /// Whether a network may try another key; the number of seconds to wait when it had too many wrong ones. Nothing is counted.
    pub(super) fn may_try(&self, peer: IpAddr) -> Result<(), u64> {
        if !self.any_guessed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let wait_s = self.wrong.look(&network::of(peer), self.wrong_rate);
        wait_s.map_or(Ok(()), Err)
    }

    /// Counts a wrong key; the number of seconds to wait when there were too many.
    pub(super) fn wrong_key(&self, peer: IpAddr) -> Result<(), u64> {
        let level = self.wrong.take(&network::of(peer), self.wrong_rate);
        let wait_s = level.and_then(|level| level.wait_s);
        if wait_s.is_some() {
            self.any_guessed.store(true, Ordering::Relaxed);
        }
        wait_s.map_or(Ok(()), Err)
    }

    /// Counts a voucher code as a wrong one until it is known to be right; the number of seconds to wait when there were too many of an
    /// account, or of a network.
    pub(super) fn guess(&self, account_id: &str, peer: IpAddr) -> Result<(), u64> {
        let (network, rate) = (network::of(peer), self.guess_rate);
        let of_network = self.network_guesses.take(&network, rate);
        of_network
            .and_then(|level| level.wait_s)
            .map_or(Ok(()), Err)?;
        let of_account = self.guesses.take(account_id, rate);
        let wait_s = of_account.and_then(|level| level.wait_s);
        if wait_s.is_some() {
            self.network_guesses.give_back(&network, rate);
        }
        wait_s.map_or(Ok(()), Err)
    }

    /// It was right.
    pub(super) fn guessed(&self, account_id: &str, peer: IpAddr) {
        let (network, rate) = (network::of(peer), self.guess_rate);
        self.network_guesses.give_back(&network, rate);
        self.guesses.give_back(account_id, rate);
    }

    /// Counts a sign-in link that a network asks for, whoever the address is; the number of seconds to wait when there were too many to
    /// the address or for the network. What the network may not have costs the address nothing.
    pub(crate) fn link(&self, address_key: &str, peer: IpAddr) -> Result<(), u64> {
        let of_network = self
            .network_links
            .take(&network::of(peer), self.network_links_rate);
        of_network
            .and_then(|level| level.wait_s)
            .map_or(Ok(()), Err)?;
        let of_address = self.links.take(address_key, self.links_rate);
        of_address
            .and_then(|level| level.wait_s)
            .map_or(Ok(()), Err)
    }

    /// Counts another sign-in that a network begins; the number of seconds to wait when there were too many.
    pub(crate) fn begin_sign_in(&self, peer: IpAddr) -> Result<(), u64> {
        let level = self.sign_ins.take(&network::of(peer), self.sign_ins_rate);
        level.and_then(|level| level.wait_s).map_or(Ok(()), Err)
    }

    /// Counts a page that needs no key; the number of seconds to wait when there were too many.
    pub(super) fn open_page(&self, page: OpenPage, peer: IpAddr) -> Result<(), u64> {
        let (buckets, rate) = match page {
            OpenPage::Page => (&self.open, self.open_rate),
            OpenPage::File => (&self.files, self.files_rate),
        };
        let level = buckets.take(&network::of(peer), rate);
        level.and_then(|level| level.wait_s).map_or(Ok(()), Err)
    }
}

impl Policy {
    fn new(name: &'static str, per_second: u32, burst: u32) -> Self {
        let rate = Rate::new(per_second, Duration::from_secs(1), burst);
        Self {
            name,
            rate,
            header: policy(name, rate.burst(), per_second),
            buckets: TokenBuckets::default(),
        }
    }

    /// Counts a call of an account, which may have a rate of its own.
    fn call(&self, account_id: &str, own: Option<u32>) -> Option<RateStatus> {
        let rate = own.map_or(self.rate, |own| self.rate.of(own));
        let level = self.buckets.take(account_id, rate)?;
        let limit = limit(self.name, level);
        Some(RateStatus {
            policy: own.map_or_else(
                || self.header.clone(),
                |own| policy(self.name, rate.burst(), own),
            ),
            limit: HeaderValue::try_from(limit).unwrap_or(HeaderValue::from_static("")),
            wait_s: level.wait_s,
        })
    }
}

/// How often a key may submit; so many at once as in a second.
fn key_rate(per_second: u32) -> Rate {
    Rate::new(per_second, Duration::from_secs(1), per_second)
}

/// Files that a network may ask for where it may ask for so many pages: five for every two.
fn of_files(pages: u32) -> u32 {
    pages.saturating_mul(5).div_ceil(2)
}

/// How it is told what is left; every call is told.
fn limit(name: &str, level: BucketLevel) -> String {
    let (mut left, mut full_in_s) = (itoa::Buffer::new(), itoa::Buffer::new());
    [
        "\"",
        name,
        "\";r=",
        left.format(level.left),
        ";t=",
        full_in_s.format(level.full_in_s),
    ]
    .concat()
}

/// How a rate is told.
fn policy(name: &str, burst: u32, per_second: u32) -> HeaderValue {
    let window = burst.div_ceil(per_second.max(1));
    let header = format!("\"{name}\";q={burst};w={window}");
    HeaderValue::try_from(header).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_says_what_is_left() {
        let policy = Policy::new("submits", 20, 100);
        let standing = policy.call("a", None).expect("a limit");
        let mut headers = HeaderMap::new();
        standing.tell(&mut headers);
        assert_eq!(headers[POLICY], "\"submits\";q=100;w=5");
        assert_eq!(headers[LIMIT], "\"submits\";r=99;t=1");
        assert!(Policy::new("calls", 0, 1).call("a", None).is_none());
        // One who has a rate of its own has as many at once as that is worth, from now on.
        let own = policy.call("a", Some(40)).expect("a limit");
        own.tell(&mut headers);
        assert_eq!(headers[POLICY], "\"submits\";q=200;w=5");
        // The call before was worth two of these.
        assert_eq!(headers[LIMIT], "\"submits\";r=197;t=1");
        let slow = Policy::new("calls", 0, 1).call("b", Some(1));
        assert!(slow.is_some_and(|one| one.wait_s.is_none()));
    }
}
