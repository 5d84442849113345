//! The guarded client itself: its rules, its limits and what calls share.

use std::sync::Arc;
use std::time::Duration;

use atelier_fairness::share::FairSemaphore;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use url::Url;

use super::connect::{ConnectRules, GuardedConnector};
use super::fence::FencedBody;
use super::input_memory::InputMemory;
use super::limits::{HEAD_BYTES, Limits};
use super::memory::MemoryBudget;
use super::receivers::ReceiverPool;
use super::resolve::Resolver;
use super::slots::{FetchSlots, RequestSlots};
use super::tls;
use crate::guard::{Policy, Purpose};

/// What the service says it is.
pub(super) const USER_AGENT: &str = concat!("atelier/", env!("CARGO_PKG_VERSION"));

/// A client whose connections pass the guard.
pub(super) type HttpClient = Client<HttpsConnector<GuardedConnector>, FencedBody>;

/// The guarded client; clones share their limits.
#[derive(Clone)]
pub struct OutboundClient {
    pub(super) policy: Arc<Policy>,
    /// The same for those who are not on this machine.
    pub(super) outside: Arc<Policy>,
    pub(super) limits: Limits,
    pub(super) resolver: Resolver,
    pub(super) roots: Vec<CertificateDer<'static>>,
    /// Read once: the machine's certificate authorities take a while.
    pub(super) tls: rustls::ClientConfig,
    pub(super) callbacks: ReceiverPool,
    pub(super) fetches: HttpClient,
    pub(super) callback_places: RequestSlots,
    pub(super) reading: FetchSlots,
    pub(super) input_memory: Arc<FairSemaphore>,
    pub(super) vendor_memory: MemoryBudget,
    pub(super) stranger_memory: MemoryBudget,
}

impl OutboundClient {
    /// A client that looks names up the way the machine does and trusts the machine's certificate authorities.
    pub fn new(policy: Policy, limits: Limits) -> Result<Self, rustls::Error> {
        let tls = tls::config(&[])?;
        let policy = Arc::new(policy);
        let resolver = Resolver::system();
        Ok(Self::build(policy, limits, resolver, Vec::new(), tls))
    }

    /// The same client with other answers to names.
    pub fn with_resolver(self, resolver: Resolver) -> Result<Self, rustls::Error> {
        let (policy, limits) = (self.policy, self.limits);
        Ok(Self::build(policy, limits, resolver, self.roots, self.tls))
    }

    /// The same client that trusts these authorities besides the machine's.
    pub fn with_roots(self, roots: Vec<CertificateDer<'static>>) -> Result<Self, rustls::Error> {
        let tls = tls::config(&roots)?;
        let (policy, limits) = (self.policy, self.limits);
        Ok(Self::build(policy, limits, self.resolver, roots, tls))
    }

    /// The same client under other rules; the memory for vendors stays the one that all share.
    pub(super) fn with_policy(self, policy: Arc<Policy>) -> Self {
        let (vendor_memory, stranger_memory) = (self.vendor_memory, self.stranger_memory);
        let (roots, tls) = (self.roots, self.tls);
        Self {
            vendor_memory,
            stranger_memory,
            ..Self::build(policy, self.limits, self.resolver, roots, tls)
        }
    }

    /// The same client for somebody who runs the service: it may go to this one address wherever that is, as long as it is not the
    /// service itself; and the address in its normal form.
    pub fn reaching(&self, address: &str) -> Result<(Self, Url), String> {
        let url = Url::parse(address).map_err(|_| "must be an http or https URL".to_owned())?;
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or(0);
        let policy = self.policy.with_exception(&format!("{host}:{port}"))?;
        let url = policy.check_url(address, Purpose::Callback);
        let url = url.map_err(|why| why.to_string())?;
        Ok((self.clone().with_policy(Arc::new(policy)), url))
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
        roots: Vec<CertificateDer<'static>>,
        tls: rustls::ClientConfig,
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
pub(super) struct KeepAlive {
    /// How many idle connections are kept to one host.
    pub(super) most: usize,
    /// How long an idle connection is kept.
    pub(super) time: Duration,
}

impl KeepAlive {
    /// Closes every connection after its answer.
    pub(super) const NONE: Self = Self {
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

/// A client for one purpose.
pub(super) fn client(
    rules: ConnectRules,
    tls: rustls::ClientConfig,
    keep: KeepAlive,
) -> HttpClient {
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
