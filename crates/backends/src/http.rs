//! The one client that goes out on behalf of callers: callbacks, images, files. Every connection passes the guard,
//! and every wait, size and count has a limit. It follows no proxy setting, and keeps no connection but to receivers of callbacks
//! for a moment, so that each request is judged on the address it really reaches.

mod base64_extractor;
mod callback;
mod connect;
mod connection;
mod error;
mod fence;
mod fetch;
mod input_memory;
mod limits;
mod memory;
mod multipart;
mod receivers;
mod resolve;
mod slots;
mod tls;
mod trace;
mod vendor;

use std::sync::Arc;
use std::time::Duration;

use atelier_fairness::share::FairSemaphore;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;

use crate::guard::{Policy, Purpose};
use connect::{ConnectRules, GuardedConnector};
use memory::MemoryBudget;
use receivers::ReceiverPool;
use slots::{FetchSlots, RequestSlots};

pub(crate) use base64_extractor::Base64Extractor;
pub use callback::CallbackOutcome;
pub use error::{FetchError, OutboundError};
use fence::FencedBody;
pub(crate) use fence::fence;
pub use fence::{Fence, with_fence};
pub use fetch::{Download, FetchedImage};
pub use input_memory::InputMemory;
use limits::HEAD_BYTES;
pub use limits::Limits;
pub use memory::MemoryShare;
pub(crate) use memory::with_share;
pub(crate) use multipart::MultipartForm;
pub use resolve::{DialFn, LookupFn, Resolver};
pub use trace::with_traceparent;
pub(crate) use vendor::{Secrets, encoded, segment};
pub use vendor::{VendorHttp, VendorRequest, VendorResponse};

/// What the service says it is.
const USER_AGENT: &str = concat!("atelier/", env!("CARGO_PKG_VERSION"));

type HttpClient = Client<HttpsConnector<GuardedConnector>, FencedBody>;

/// The guarded client; clones share their limits.
#[derive(Clone)]
pub struct OutboundClient {
    policy: Arc<Policy>,
    /// The same for those who are not on this machine.
    outside: Arc<Policy>,
    limits: Limits,
    resolver: Resolver,
    roots: Vec<CertificateDer<'static>>,
    /// Read once: the machine's certificate authorities take a while.
    tls: rustls::ClientConfig,
    callbacks: ReceiverPool,
    fetches: HttpClient,
    callback_places: RequestSlots,
    reading: FetchSlots,
    input_memory: Arc<FairSemaphore>,
    vendor_memory: MemoryBudget,
    stranger_memory: MemoryBudget,
}

impl OutboundClient {
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
    pub fn room(&self, whose: &Arc<str>) -> InputMemory {
        InputMemory::growing(&self.input_memory, whose)
    }

    /// Waits for its turn to have room for so many bytes of inputs, or for as many as one may have. Whoever has some must
    /// not wait for more: two who did could wait for each other.
    pub async fn reserve(&self, whose: &Arc<str>, bytes: u64) -> InputMemory {
        InputMemory::reserved(&self.input_memory, whose, bytes).await
    }

    /// The memory that all inputs share.
    pub fn input_memory(&self) -> &Arc<FairSemaphore> {
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
        let rules = |purpose, places| ConnectRules {
            purpose,
            policy: Arc::clone(&policy),
            resolver: resolver.clone(),
            limits,
            places,
        };
        // Many names may lead to one receiver.
        let addresses = RequestSlots::new(limits.per_address, limits.at_once);
        let callbacks = rules(Purpose::Callback, Some(addresses.clone()));
        let fetches = rules(Purpose::Image, None);
        Self {
            callbacks: ReceiverPool::new(connector(callbacks, tls.clone()), addresses),
            fetches: client(fetches, tls.clone(), KeepAlive::NONE),
            callback_places: RequestSlots::new(limits.per_receiver, limits.at_once),
            reading: FetchSlots::new(limits.per_destination, limits.per_receiver, limits.at_once),
            input_memory: FairSemaphore::fixed(
                "input_memory",
                limits.input_memory,
                limits.input_share,
            ),
            vendor_memory: MemoryBudget::new(limits.vendor_memory),
            stranger_memory: MemoryBudget::new(limits.stranger_memory),
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
struct KeepAlive {
    /// So many to one host,
    most: usize,
    /// for so long.
    time: Duration,
}

impl KeepAlive {
    const NONE: Self = Self {
        most: 0,
        time: Duration::ZERO,
    };
}

fn connector(rules: ConnectRules, tls: rustls::ClientConfig) -> HttpsConnector<GuardedConnector> {
    hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(GuardedConnector::new(rules))
}

fn client(rules: ConnectRules, tls: rustls::ClientConfig, keep: KeepAlive) -> HttpClient {
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
