//! The one client that goes out on behalf of callers: callbacks, images, files. Every connection passes the guard,
//! and every wait, size and count has a limit. It follows no proxy setting, and keeps no connection but to receivers of callbacks
//! for a moment, so that each request is judged on the address it really reaches.

mod callback;
mod connect;
mod fault;
mod fence;
mod fetch;
mod limits;
mod line;
mod memory;
mod multipart;
mod places;
mod receivers;
mod resolve;
mod room;
mod sift;
mod tls;
mod trace;
mod vendor;

use std::sync::Arc;
use std::time::Duration;

use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;

use crate::guard::{Policy, Purpose};
use crate::shares::Shares;
use connect::{Guarded, Rules};
use memory::Budget;
use places::{Places, Reading};
use receivers::Receivers;

pub use callback::CallbackOutcome;
pub use fault::{FetchFault, Trouble};
use fence::Outgoing;
pub(crate) use fence::fence;
pub use fence::{Fence, fenced};
pub use fetch::{Download, FetchedImage};
use limits::HEAD_BYTES;
pub use limits::Limits;
pub use memory::Share;
pub(crate) use memory::with_share;
pub(crate) use multipart::Form;
pub use resolve::{Dial, Lookup, Resolver};
pub use room::Room;
pub(crate) use sift::Sifter;
pub use trace::carrying;
pub(crate) use vendor::{Secrets, encoded, segment};
pub use vendor::{VendorAnswer, VendorCall, VendorHttp};

/// What the service says it is.
const USER_AGENT: &str = concat!("atelier/", env!("CARGO_PKG_VERSION"));

type HttpClient = Client<HttpsConnector<Guarded>, Outgoing>;

/// The guarded client; clones share their limits.
#[derive(Clone)]
pub struct Outbound {
    policy: Arc<Policy>,
    /// The same for those who are not on this machine.
    outside: Arc<Policy>,
    limits: Limits,
    resolver: Resolver,
    roots: Vec<CertificateDer<'static>>,
    /// Read once: the machine's certificate authorities take a while.
    tls: rustls::ClientConfig,
    callbacks: Receivers,
    fetches: HttpClient,
    callback_places: Places,
    reading: Reading,
    input_memory: Arc<Shares>,
    vendor_memory: Budget,
    stranger_memory: Budget,
}

impl Outbound {
    /// A client that looks names up the way the machine does and trusts the machine's certificate authorities.
    pub fn new(policy: Policy, limits: Limits) -> Result<Self, rustls::Error> {
        let tls = tls::config(&[])?;
        let trusted = (Vec::new(), tls);
        Ok(Self::build(
            Arc::new(policy),
            limits,
            Resolver::system(),
            trusted,
        ))
    }

    /// The same client with other answers to names.
    pub fn with_resolver(self, resolver: Resolver) -> Result<Self, rustls::Error> {
        let trusted = (self.roots, self.tls);
        Ok(Self::build(self.policy, self.limits, resolver, trusted))
    }

    /// The same client that trusts these authorities besides the machine's.
    pub fn with_roots(self, roots: Vec<CertificateDer<'static>>) -> Result<Self, rustls::Error> {
        let tls = tls::config(&roots)?;
        let trusted = (roots, tls);
        Ok(Self::build(
            self.policy,
            self.limits,
            self.resolver,
            trusted,
        ))
    }

    /// The same client under other rules; the memory for vendors stays the one that all share.
    fn with_policy(self, policy: Arc<Policy>) -> Self {
        let (vendor_memory, stranger_memory) = (self.vendor_memory, self.stranger_memory);
        let trusted = (self.roots, self.tls);
        Self {
            vendor_memory,
            stranger_memory,
            ..Self::build(policy, self.limits, self.resolver, trusted)
        }
    }

    /// The rules it obeys.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The rules for addresses that somebody names, who may come from outside this machine.
    pub fn policy_for(&self, outside: bool) -> &Policy {
        if outside { &self.outside } else { &self.policy }
    }

    /// Room for inputs that grows as their bytes come, as long as there is any.
    pub fn room(&self, whose: &Arc<str>) -> Room {
        Room::growing(&self.input_memory, whose)
    }

    /// Waits for its turn to have room for so many bytes of inputs, or for as many as one may have. Whoever has some must
    /// not wait for more: two who did could wait for each other.
    pub async fn reserve(&self, whose: &Arc<str>, bytes: u64) -> Room {
        Room::reserved(&self.input_memory, whose, bytes).await
    }

    /// The memory that all inputs share.
    pub fn input_memory(&self) -> &Arc<Shares> {
        &self.input_memory
    }

    /// The limits it obeys.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn build(
        policy: Arc<Policy>,
        limits: Limits,
        resolver: Resolver,
        (roots, tls): (Vec<CertificateDer<'static>>, rustls::ClientConfig),
    ) -> Self {
        let rules = |purpose, places| Rules {
            purpose,
            policy: Arc::clone(&policy),
            resolver: resolver.clone(),
            limits,
            places,
        };
        // Many names may lead to one receiver.
        let addresses = Places::new(limits.per_address, limits.at_once);
        let callbacks = rules(Purpose::Callback, Some(addresses.clone()));
        let fetches = rules(Purpose::Image, None);
        Self {
            callbacks: Receivers::new(connector(callbacks, tls.clone()), addresses),
            fetches: client(fetches, tls.clone(), Keep::NONE),
            callback_places: Places::new(limits.per_receiver, limits.at_once),
            reading: Reading::new(limits.per_destination, limits.per_receiver, limits.at_once),
            input_memory: Shares::fixed("input_memory", limits.input_memory, limits.input_share),
            vendor_memory: Budget::new(limits.vendor_memory),
            stranger_memory: Budget::new(limits.stranger_memory),
            outside: Arc::new(policy.from_outside()),
            policy,
            limits,
            resolver,
            roots,
            tls,
        }
    }
}

/// What is kept of connections on which nothing is asked.
#[derive(Clone, Copy)]
struct Keep {
    /// So many to one host,
    most: usize,
    /// for so long.
    time: Duration,
}

impl Keep {
    const NONE: Self = Self {
        most: 0,
        time: Duration::ZERO,
    };
}

fn connector(rules: Rules, tls: rustls::ClientConfig) -> HttpsConnector<Guarded> {
    hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(Guarded::new(rules))
}

fn client(rules: Rules, tls: rustls::ClientConfig, keep: Keep) -> HttpClient {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_max_idle_per_host(keep.most)
        .pool_idle_timeout(keep.time)
        // What is asked again on another connection has not been sent at all.
        .retry_canceled_requests(keep.most > 0)
        // hyper takes a hundred header lines and no more; told so, it would fill two tables for every answer.
        .http1_max_buf_size(HEAD_BYTES)
        .build(connector(rules, tls))
}
