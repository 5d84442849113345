//! What a request can reach. Beneath it lies the wiring, the one place that builds the store, the back ends and the
//! engine and hands them to the rest.

mod addresses;
mod build;
mod console_policy;
mod credentials;
mod outbound;
mod settings;

use std::sync::{Arc, LazyLock, OnceLock};

use anyhow::{Context as _, Result, anyhow};
use atelier_contract::family::IMAGE_BODY;
use atelier_engine::{Engine, key};
use hyper::header::HeaderValue;
use tokio_util::sync::CancellationToken;

use crate::access_log::AccessLog;
use crate::config::Config;
use crate::counts::Counts;
use crate::disk::Disk;
use crate::http::between::Between;
use crate::http::body_share::MOST_OPEN;
use crate::http::cors::Origins;
use crate::http::hosts::Hosts;
use crate::http::kept::Kept;
use crate::http::names::Names;
use crate::http::places::Places;
use crate::http::rate::Rates;
use crate::http::throughput::Throughput;
use crate::http::untaken::Untaken;
use crate::server::proxies::Proxies;
use atelier_engine::shares::Shares;
use console_policy::console_policy;

pub(crate) use addresses::Addresses;
pub(crate) use atelier_store::Store;
pub(crate) use build::{build_engine, open_files, open_store, open_store_for_archiving, try_vault};
pub(crate) use credentials::{chain, is_own};
pub(crate) use outbound::outbound_rules;

/// Batches that are worked on at once, one of each account.
const BATCHES: u64 = 8;
/// Long answers that are written at once; one account has an eighth.
const LONG_ANSWERS: u64 = 16;

/// Bodies to pages that need no key have one in so many of the bytes that all bodies may have, beside those.
const OPEN_BODIES: u64 = 8;

/// What a request can reach.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) engine: Arc<Engine>,
    pub(crate) hosts: Hosts,
    pub(crate) names: Names,
    pub(crate) rates: Rates,
    pub(crate) proxies: Proxies,
    pub(crate) origins: Origins,
    pub(crate) counts: Counts,
    pub(crate) admin_token_hash: [u8; 32],
    /// The same in hexadecimal, as sessions keep it.
    pub(crate) root_hash: String,
    /// Whether somebody unknown stands between a caller and the service.
    pub(crate) between: Between,
    /// Whether strangers can reach it.
    pub(crate) is_public: bool,
    /// Requests that are being answered.
    pub(crate) places: Places,
    /// How fast bodies are read.
    pub(crate) body_throughput: Arc<Throughput>,
    /// Bytes of bodies that are neither accepted nor refused.
    pub(crate) body_memory: Arc<Shares>,
    /// The same of bodies to pages that need no key.
    pub(crate) open_body_memory: Arc<Shares>,
    /// Memory of answers until they are taken.
    pub(crate) untaken: Untaken,
    /// Large bodies that are being worked on.
    pub(crate) large_requests: Arc<Shares>,
    /// Batches that are being worked on: one of each account.
    pub(crate) batches: Arc<Shares>,
    /// Lists of megabytes that are being written.
    pub(crate) long_answers: Arc<Shares>,
    /// Event streams that are open.
    pub(crate) event_streams: Arc<Shares>,
    /// Result files that are being sent.
    pub(crate) downloads: Arc<Shares>,
    /// How fast they are sent.
    pub(crate) download_throughput: Arc<Throughput>,
    /// Whether there is room for more results.
    pub(crate) disk: Disk,
    /// Where every request is written down, if anywhere.
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) stopping: CancellationToken,
    /// The OpenAPI document; it never changes while the process runs, so it is made once.
    pub(crate) document: LazyLock<Kept>,
    /// What the console reads of it first.
    pub(crate) console_catalogue: OnceLock<Kept>,
    /// Where the console may take things from.
    pub(crate) console_policy: HeaderValue,
}

impl App {
    /// Puts an engine behind the doors.
    pub(crate) fn new(
        config: Config,
        engine: Arc<Engine>,
        admin_token_hash: [u8; 32],
        is_public: bool,
        document: fn() -> Kept,
    ) -> Result<Arc<Self>> {
        let limits = &config.limits;
        let proxies = Proxies::new(&config.proxies.trusted).map_err(|why| anyhow!(why))?;
        let app = Arc::new(Self {
            hosts: Hosts::new(&config),
            names: Names::new(&config),
            between: Between::new(&config, engine.reaches_own_machine()),
            rates: Rates::new(limits, engine.allowances()),
            origins: Origins::new(&config.cors.origins),
            proxies,
            counts: Counts::default(),
            places: Places::new(limits.requests),
            open_body_memory: Shares::fixed(
                "open_body_memory",
                limits.body_memory_mib * 1024 * 1024 / OPEN_BODIES,
                MOST_OPEN as u64,
            ),
            untaken: Untaken::new(limits.answer_memory_mib, limits.write_timeout_s),
            body_memory: Shares::fixed(
                "body_memory",
                limits.body_memory_mib * 1024 * 1024,
                IMAGE_BODY as u64,
            ),
            body_throughput: Arc::new(Throughput::new(limits.body_mib_per_s)),
            large_requests: Shares::elastic("large_requests", limits.large_requests),
            batches: Shares::fixed("batches", BATCHES, 1),
            long_answers: Shares::fixed("long_answers", LONG_ANSWERS, 1),
            event_streams: Shares::fixed("event_streams", limits.event_streams, 1),
            downloads: Shares::fixed("downloads", limits.downloads, 1),
            download_throughput: Arc::new(Throughput::new(limits.download_mib_per_s)),
            disk: Disk::default(),
            access_log: AccessLog::start(&config.log.access).context("log.access")?,
            stopping: CancellationToken::new(),
            document: LazyLock::new(document),
            console_catalogue: OnceLock::new(),
            console_policy: console_policy(&config),
            root_hash: key::hex(&admin_token_hash),
            admin_token_hash,
            is_public,
            engine,
            config,
        });
        for shares in app.shares() {
            shares.heed(app.engine.allowances());
        }
        Ok(app)
    }

    /// Everything that accounts share.
    pub(crate) fn shares(&self) -> impl Iterator<Item = &Arc<Shares>> {
        let all = [
            &self.places.accounts,
            &self.places.operators,
            &self.places.lookups,
            &self.places.open,
            &self.body_memory,
            &self.open_body_memory,
            &self.untaken.memory,
            &self.large_requests,
            &self.batches,
            &self.long_answers,
            &self.event_streams,
            &self.downloads,
            self.engine.vault().input_memory(),
            self.engine.vault().thumbnails(),
        ];
        all.into_iter().chain(self.engine.read_shares())
    }
}
