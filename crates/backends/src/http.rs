//! The one client that goes out on behalf of callers: callbacks, images, files. Every connection passes the guard,
//! and every wait, size and count has a limit. It follows no proxy setting and keeps no connection, so that each
//! request is judged on the address it really reaches.

mod callback;
mod connect;
mod fault;
mod fetch;
mod memory;
mod multipart;
mod resolve;
mod sift;
mod slots;
mod tls;
mod vendor;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;

use crate::guard::{Policy, Purpose};
use connect::{Guarded, Rules};
use memory::Budget;
use slots::Slots;

pub use callback::CallbackOutcome;
pub use fault::{FetchFault, Trouble};
pub use fetch::{Download, FetchedImage};
pub use memory::Share;
pub(crate) use memory::held;
pub(crate) use multipart::Form;
pub use resolve::{Lookup, Resolver};
pub(crate) use sift::Sifter;
pub(crate) use vendor::{Secrets, encoded, segment};
pub use vendor::{VendorAnswer, VendorCall, VendorHttp};

/// What the service says it is.
const USER_AGENT: &str = concat!("atelier/", env!("CARGO_PKG_VERSION"));
/// The most header lines of an answer.
const MOST_HEADERS: usize = 100;
/// The most bytes of an answer's head, and the size of one read.
const HEAD_BYTES: usize = 64 * 1024;

/// How long, how large, how many.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Looking up a name.
    pub lookup: Duration,
    /// Opening a connection, all addresses of a name together.
    pub connect: Duration,
    /// A callback until its answer's status is known.
    pub callback: Duration,
    /// Waiting for the start of a callback's answer once the status is known.
    pub answer: Duration,
    /// An image, from the first look-up to the last byte, redirects and waiting included.
    pub image: Duration,
    /// A file, likewise.
    pub file: Duration,
    /// The longest pause between two pieces of a file.
    pub stall: Duration,
    /// Waiting for a free slot of a destination.
    pub slot: Duration,
    /// The largest image.
    pub image_bytes: u64,
    /// The memory all inputs may take together, from their reading until the vendor has them.
    pub input_memory: u64,
    /// The largest result file of an operator's back end, and the most all files of one piece of work have together.
    pub vendor_file: u64,
    /// The memory that answers and files of operators' back ends may take together.
    pub vendor_memory: u64,
    /// The largest result file of a back end that a caller brought, and the most all files of one piece of work have.
    pub stranger_file: u64,
    /// The memory that answers and files of back ends that callers brought may take together.
    pub stranger_memory: u64,
    /// Images and files from one destination at a time.
    pub per_destination: usize,
    /// Callbacks to one destination at a time, whoever sends them; more than one account's share of it.
    pub per_receiver: usize,
    /// Callbacks at a time, and likewise images and files at a time.
    pub at_once: usize,
    /// Redirects an image or file may take.
    pub redirects: usize,
    /// Addresses one name may have.
    pub answers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lookup: Duration::from_secs(5),
            connect: Duration::from_secs(5),
            callback: Duration::from_secs(10),
            answer: Duration::from_secs(1),
            image: Duration::from_secs(20),
            file: Duration::from_mins(10),
            stall: Duration::from_secs(20),
            slot: Duration::from_secs(10),
            image_bytes: 30 * 1024 * 1024,
            input_memory: 512 * 1024 * 1024,
            vendor_file: 512 * 1024 * 1024,
            vendor_memory: 1024 * 1024 * 1024,
            stranger_file: 128 * 1024 * 1024,
            stranger_memory: 256 * 1024 * 1024,
            per_destination: 8,
            per_receiver: 128,
            at_once: 256,
            redirects: 3,
            answers: 16,
        }
    }
}

type HttpClient = Client<HttpsConnector<Guarded>, Full<Bytes>>;

/// The guarded client; clones share their limits.
#[derive(Clone)]
pub struct Outbound {
    policy: Arc<Policy>,
    limits: Limits,
    resolver: Resolver,
    roots: Vec<CertificateDer<'static>>,
    callbacks: HttpClient,
    fetches: HttpClient,
    callback_slots: Slots,
    fetch_slots: Slots,
    input_memory: Budget,
    vendor_memory: Budget,
    stranger_memory: Budget,
}

impl Outbound {
    /// A client that looks names up the way the machine does and trusts the machine's certificate authorities.
    pub fn new(policy: Policy, limits: Limits) -> Result<Self, rustls::Error> {
        Self::build(Arc::new(policy), limits, Resolver::system(), Vec::new())
    }

    /// The same client with other answers to names.
    pub fn with_resolver(self, resolver: Resolver) -> Result<Self, rustls::Error> {
        Self::build(self.policy, self.limits, resolver, self.roots)
    }

    /// The same client that trusts these authorities besides the machine's.
    pub fn with_roots(self, roots: Vec<CertificateDer<'static>>) -> Result<Self, rustls::Error> {
        Self::build(self.policy, self.limits, self.resolver, roots)
    }

    /// The same client under other rules; the memory for vendors stays the one that all share.
    fn with_policy(self, policy: Arc<Policy>) -> Result<Self, rustls::Error> {
        let (vendor_memory, stranger_memory) = (self.vendor_memory, self.stranger_memory);
        Ok(Self {
            vendor_memory,
            stranger_memory,
            ..Self::build(policy, self.limits, self.resolver, self.roots)?
        })
    }

    /// The rules it obeys.
    pub fn policy(&self) -> &Policy {
        &self.policy
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
    ) -> Result<Self, rustls::Error> {
        let tls = tls::config(&roots)?;
        let client = |purpose| {
            let rules = Rules {
                purpose,
                policy: Arc::clone(&policy),
                resolver: resolver.clone(),
                limits,
            };
            client(rules, tls.clone(), 0)
        };
        Ok(Self {
            callbacks: client(Purpose::Callback),
            fetches: client(Purpose::Image),
            callback_slots: Slots::new(limits.per_receiver, limits.at_once),
            fetch_slots: Slots::new(limits.per_destination, limits.at_once),
            input_memory: Budget::new(limits.input_memory),
            vendor_memory: Budget::new(limits.vendor_memory),
            stranger_memory: Budget::new(limits.stranger_memory),
            policy,
            limits,
            resolver,
            roots,
        })
    }
}

fn client(rules: Rules, tls: rustls::ClientConfig, idle: usize) -> HttpClient {
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(Guarded::new(rules));
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_max_idle_per_host(idle)
        .retry_canceled_requests(false)
        .http1_max_headers(MOST_HEADERS)
        .http1_max_buf_size(HEAD_BYTES)
        .build(connector)
}
