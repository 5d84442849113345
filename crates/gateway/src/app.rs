//! What a request can reach. Beneath it lies the wiring, the one place that builds the store, the back ends and the
//! engine and hands them to the rest.

mod addresses;
mod build;
mod console_policy;
mod credentials;
mod outbound;
mod settings;
mod warnings;

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use atelier_contract::family::IMAGE_BODY;
use atelier_contract::hex;
use atelier_contract::models::{DatedModels, ModelCatalogue};
use atelier_engine::Engine;
use atelier_fairness::share::FairSemaphore;
use atelier_fairness::throughput::Throughput;
use hyper::header::HeaderValue;
use tokio_util::sync::CancellationToken;

use crate::access_log::AccessLog;
use crate::config::Config;
use crate::counts::Counts;
use crate::disk::Disk;
use crate::edition_cache::EditionCache;
use crate::http::answer_memory::AnswerMemory;
use crate::http::body_share::MOST_OPEN;
use crate::http::cors::Origins;
use crate::http::hosts::Hosts;
use crate::http::names::ServiceNames;
use crate::http::proxy_detector::ProxyDetector;
use crate::http::rate::Rates;
use crate::http::request_slots::RequestSlots;
use crate::http::static_content::StaticContent;
use crate::server::proxies::TrustedProxies;
use console_policy::console_policy;

pub(crate) use addresses::Addresses;
pub(crate) use atelier_store::{Store, check_address};
pub(crate) use build::{
    build_engine, check_asset_storage, open_files, open_store, open_store_for_archiving,
};
pub(crate) use credentials::{chain, is_own};
pub(crate) use outbound::outbound_rules;
pub(crate) use warnings::{Warning, warnings};

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
    pub(crate) names: ServiceNames,
    pub(crate) rates: Rates,
    pub(crate) proxies: TrustedProxies,
    pub(crate) origins: Origins,
    pub(crate) counts: Counts,
    pub(crate) admin_token_hash: [u8; 32],
    /// The same in hexadecimal, as sessions keep it.
    pub(crate) root_hash: String,
    /// Whether somebody unknown stands between a caller and the service.
    pub(crate) proxy_detector: ProxyDetector,
    /// Whether strangers can reach it.
    pub(crate) is_public: bool,
    /// What its start warned of.
    pub(crate) warnings: Vec<Warning>,
    /// Requests that are being answered.
    pub(crate) request_slots: RequestSlots,
    /// How fast bodies are read.
    pub(crate) body_throughput: Arc<Throughput>,
    /// Bytes of bodies that are neither accepted nor refused.
    pub(crate) body_memory: Arc<FairSemaphore>,
    /// The same of bodies to pages that need no key.
    pub(crate) open_body_memory: Arc<FairSemaphore>,
    /// Memory of answers until they are taken.
    pub(crate) answer_memory: AnswerMemory,
    /// Large bodies that are being worked on.
    pub(crate) large_requests: Arc<FairSemaphore>,
    /// Batches that are being worked on: one of each account.
    pub(crate) batches: Arc<FairSemaphore>,
    /// Lists of megabytes that are being written.
    pub(crate) long_answers: Arc<FairSemaphore>,
    /// Event streams that are open.
    pub(crate) event_streams: Arc<FairSemaphore>,
    /// Result files that are being sent.
    pub(crate) downloads: Arc<FairSemaphore>,
    /// How fast they are sent.
    pub(crate) download_throughput: Arc<Throughput>,
    /// Whether there is room for more results.
    pub(crate) disk: Disk,
    /// Where every request is written down, if anywhere.
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) stopping: CancellationToken,
    /// The OpenAPI document, which changes with the operator's models.
    document: EditionCache<StaticContent>,
    make_document: fn(DatedModels<'_>) -> StaticContent,
    /// What the console reads of it first.
    pub(crate) console_catalogue: EditionCache<StaticContent>,
    /// Where the console may take things from.
    pub(crate) console_policy: HeaderValue,
}

impl App {
    /// Puts an engine behind the doors.
    pub(crate) fn new(
        config: Config,
        engine: Arc<Engine>,
        admin_token_hash: [u8; 32],
        addresses: &Addresses,
        make_document: fn(DatedModels<'_>) -> StaticContent,
    ) -> Result<Arc<Self>> {
        let limits = &config.limits;
        let proxies = TrustedProxies::new(&config.proxies.trusted).map_err(|why| anyhow!(why))?;
        let (is_public, warnings) = (addresses.is_public(&config), warnings(&config, addresses));
        let app = Arc::new(Self {
            hosts: Hosts::new(&config),
            names: ServiceNames::new(&config),
            proxy_detector: ProxyDetector::new(&config, engine.reaches_own_machine()),
            rates: Rates::new(limits, engine.allowances()),
            origins: Origins::new(&config.cors.origins),
            proxies,
            counts: Counts::default(),
            request_slots: RequestSlots::new(limits.requests),
            open_body_memory: FairSemaphore::fixed(
                "open_body_memory",
                limits.body_memory_mib * 1024 * 1024 / OPEN_BODIES,
                MOST_OPEN as u64,
            ),
            answer_memory: AnswerMemory::new(limits.answer_memory_mib, limits.write_timeout_s),
            body_memory: FairSemaphore::fixed(
                "body_memory",
                limits.body_memory_mib * 1024 * 1024,
                IMAGE_BODY as u64,
            ),
            body_throughput: Arc::new(Throughput::new(limits.body_mib_per_s)),
            large_requests: FairSemaphore::elastic("large_requests", limits.large_requests),
            batches: FairSemaphore::fixed("batches", BATCHES, 1),
            long_answers: FairSemaphore::fixed("long_answers", LONG_ANSWERS, 1),
            event_streams: FairSemaphore::fixed("event_streams", limits.event_streams, 1),
            downloads: FairSemaphore::fixed("downloads", limits.downloads, 1),
            download_throughput: Arc::new(Throughput::new(limits.download_mib_per_s)),
            disk: Disk::default(),
            access_log: AccessLog::start(&config.log.access).context("log.access")?,
            stopping: CancellationToken::new(),
            document: EditionCache::new(),
            make_document,
            console_catalogue: EditionCache::new(),
            console_policy: console_policy(&config),
            root_hash: hex(&admin_token_hash),
            admin_token_hash,
            is_public,
            warnings,
            engine,
            config,
        });
        for shares in app.shares() {
            shares.set_limits(app.engine.allowances());
        }
        Ok(app)
    }

    /// The models that the operator sells now.
    pub(crate) fn models(&self) -> Arc<ModelCatalogue> {
        self.engine.admin().models().catalogue()
    }

    /// The OpenAPI document with these models.
    pub(crate) fn document(&self, models: &Arc<ModelCatalogue>) -> Arc<StaticContent> {
        self.document
            .get(models, self.engine.now_ms(), self.make_document)
    }

    /// Everything that accounts share.
    pub(crate) fn shares(&self) -> impl Iterator<Item = &Arc<FairSemaphore>> {
        let all = [
            &self.request_slots.accounts,
            &self.request_slots.operators,
            &self.request_slots.lookups,
            &self.request_slots.known_lookups,
            &self.request_slots.open,
            &self.body_memory,
            &self.open_body_memory,
            &self.answer_memory.memory,
            &self.large_requests,
            &self.batches,
            &self.long_answers,
            &self.event_streams,
            &self.downloads,
            self.engine.assets().input_memory(),
            self.engine.assets().thumbnails(),
        ];
        all.into_iter().chain(self.engine.read_shares())
    }
}
