//! The wiring: the one place that builds the store, the back ends and the engine and hands them to the rest.

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::{Arc, LazyLock};

use anyhow::{Context as _, Result, anyhow};
use atelier_backends::VENDORS;
#[cfg(feature = "studio")]
use atelier_backends::embedded::{Embedded, EmbeddedSettings, Tempo};
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits as OutboundLimits, Outbound};
use atelier_contract::Tariff;
use atelier_contract::family::IMAGE_BODY;
use atelier_engine::{Clock, Engine, Ids, Keyring, Parts, Settings, Worker};
use atelier_store::Options;
pub(crate) use atelier_store::Store;
use atelier_store::files::{Files, S3Settings};
use bytes::Bytes;
use hyper::header::HeaderValue;
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use crate::config::Config;
#[cfg(feature = "studio")]
use crate::config::StudioTempo;
use crate::counts::Counts;
use crate::http::cors::Origins;
use crate::http::hosts::Hosts;
use crate::http::rate::Rates;
use crate::server::proxies::Proxies;
use crate::shares::Shares;

/// The built-in prices.
const TARIFF: &str = include_str!("../../../config/tariff.toml");
/// The word in `outbound.allow` that stands for "loopback, when the service itself listens there".
const AUTO: &str = "auto";
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// What a request can reach.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) engine: Arc<Engine>,
    pub(crate) hosts: Hosts,
    pub(crate) rates: Rates,
    pub(crate) proxies: Proxies,
    pub(crate) origins: Origins,
    pub(crate) counts: Counts,
    pub(crate) admin_token_hash: [u8; 32],
    /// Whether strangers can reach it.
    pub(crate) is_public: bool,
    /// Requests that are being answered.
    pub(crate) places: Arc<Shares>,
    /// Bytes of bodies that are neither accepted nor refused.
    pub(crate) body_memory: Arc<Shares>,
    /// Large bodies that are being worked on.
    pub(crate) large_requests: Arc<Shares>,
    /// Event streams that are open.
    pub(crate) event_streams: Arc<Shares>,
    /// Result files that are being sent.
    pub(crate) downloads: Arc<Shares>,
    pub(crate) log_requests: bool,
    pub(crate) stopping: CancellationToken,
    /// The OpenAPI document; it never changes while the process runs, so it is made once.
    pub(crate) document: LazyLock<Bytes>,
    /// Where the console may take things from.
    pub(crate) console_policy: HeaderValue,
}

/// Where the service can be reached.
pub(crate) struct Addresses {
    /// The bound sockets, the main one first.
    pub(crate) bound: Vec<SocketAddr>,
    /// The public address.
    pub(crate) base_url: String,
}

impl Addresses {
    /// What follows from the bound sockets and the settings.
    pub(crate) fn new(config: &Config, bound: Vec<SocketAddr>) -> Self {
        let base_url = if config.base_url.is_empty() {
            bound
                .first()
                .map(|address| {
                    let scheme = if config.tls.is_set() { "https" } else { "http" };
                    format!("{scheme}://{}", reachable(*address))
                })
                .unwrap_or_default()
        } else {
            config.base_url.trim_end_matches('/').to_owned()
        };
        Self { bound, base_url }
    }

    /// Whether anything says that others than this machine can reach the service, be it through a proxy.
    pub(crate) fn is_public(&self) -> bool {
        let named = Url::parse(&self.base_url).ok();
        let on_loopback = match named.as_ref().and_then(Url::host) {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => true,
        };
        let mut bound = self.bound.iter();
        !on_loopback || bound.any(|address| !address.ip().is_loopback())
    }
}

/// An address that listens everywhere is reached on this machine by its loopback address.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => ([127, 0, 0, 1], v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            (std::net::Ipv6Addr::LOCALHOST, v6.port()).into()
        }
        other => other,
    }
}

impl App {
    /// Puts an engine behind the doors.
    pub(crate) fn new(
        config: Config,
        engine: Arc<Engine>,
        admin_token_hash: [u8; 32],
        is_public: bool,
        document: fn() -> Bytes,
    ) -> Result<Arc<Self>> {
        let limits = &config.limits;
        let proxies = Proxies::new(&config.proxies.trusted).map_err(|why| anyhow!(why))?;
        Ok(Arc::new(Self {
            hosts: Hosts::new(&config),
            rates: Rates::new(limits),
            origins: Origins::new(&config.cors.origins),
            proxies,
            counts: Counts::default(),
            places: Shares::fixed("requests", limits.requests, 1),
            body_memory: Shares::fixed(
                "body_memory",
                limits.body_memory_mib * 1024 * 1024,
                IMAGE_BODY as u64,
            ),
            large_requests: Shares::elastic("large_requests", limits.large_requests),
            event_streams: Shares::fixed("event_streams", limits.event_streams, 1),
            downloads: Shares::fixed("downloads", limits.downloads, 1),
            log_requests: config.log.requests,
            stopping: CancellationToken::new(),
            document: LazyLock::new(document),
            console_policy: console_policy(&config),
            admin_token_hash,
            is_public,
            engine,
            config,
        }))
    }

    /// Everything that accounts share.
    pub(crate) fn shares(&self) -> impl Iterator<Item = &Arc<Shares>> {
        let all = [
            &self.places,
            &self.body_memory,
            &self.large_requests,
            &self.event_streams,
            &self.downloads,
        ];
        all.into_iter()
    }
}

/// The console takes scripts and styles from here alone, and pictures also from where results are.
fn console_policy(config: &Config) -> HeaderValue {
    let places = [
        &config.base_url,
        &config.origin_url,
        &config.cdn_url,
        &config.legacy_cdn_url,
    ];
    let mut media = String::from("'self'");
    for place in places {
        if let Ok(url) = url::Url::parse(place) {
            media.push(' ');
            media.push_str(&url.origin().ascii_serialization());
        }
    }
    if config.base_url.is_empty() {
        media.push_str(" http://127.0.0.1:* http://localhost:*");
    }
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src {media} data: blob:; media-src {media} blob:; \
         connect-src {media}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// Opens the database, bringing its schema up to date.
pub(crate) async fn open_store(config: &Config) -> Result<Store> {
    // What is kept there is for the service's own user alone.
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&config.data_dir)
        .with_context(|| format!("data_dir {}", config.data_dir.display()))?;
    let url = if config.database.is_empty() {
        format!("sqlite:{}", config.data_dir.join("atelier.db").display())
    } else {
        config.database.reveal().to_owned()
    };
    Store::open(&url, Options::default())
        .await
        .context("the database cannot be opened")
}

/// Builds the engine; nothing runs yet.
pub(crate) async fn build_engine(
    config: &Config,
    store: Store,
    master_key: [u8; 32],
    addresses: &Addresses,
) -> Result<Arc<Engine>> {
    let keyring = Keyring::new(master_key);
    let ids = Ids::Random;
    let parts = Parts {
        files: open_files(config)?,
        workers: workers(config),
        vendors: VENDORS,
        outbound: outbound(config, addresses)?,
        tariff: tariff(config)?,
        settings: settings(config, addresses),
        clock: Clock::of(&store),
        node: ids.uuid(),
        ids,
        keyring,
        store,
    };
    let engine = Engine::new(parts);
    engine.load_prices().await.context("stored prices")?;
    engine.load_address_keys().await.context("address keys")?;
    engine
        .declare_backends(config.backends.clone())
        .await
        .map_err(|refusal| anyhow!("backends: {refusal}"))?;
    Ok(engine)
}

fn open_files(config: &Config) -> Result<Files> {
    let assets = &config.assets;
    if assets.url.is_empty() {
        return Files::folder(config.data_dir.join("assets"))
            .context("the folder for result files");
    }
    let Some(place) = assets.url.strip_prefix("s3://") else {
        return Files::folder(&assets.url).context("assets.url");
    };
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let settings = S3Settings {
        bucket: bucket.to_owned(),
        prefix: prefix.trim_end_matches('/').to_owned(),
        endpoint: assets.endpoint.clone(),
        region: assets.region.clone(),
        path_style: assets.path_style,
        access_key: assets.access_key.reveal().to_owned(),
        secret_key: assets.secret_key.reveal().to_owned(),
        ..S3Settings::default()
    };
    Files::s3(&settings).context("assets.url")
}

/// What runs inside the process: nothing, in a binary built without the studio.
#[cfg(not(feature = "studio"))]
fn workers(_: &Config) -> Vec<Worker> {
    Vec::new()
}

/// What runs inside the process.
#[cfg(feature = "studio")]
fn workers(config: &Config) -> Vec<Worker> {
    let studio = &config.studio;
    if !studio.enabled {
        return Vec::new();
    }
    let usual = EmbeddedSettings::default();
    let settings = EmbeddedSettings {
        threads: if studio.threads == 0 {
            usual.threads
        } else {
            studio.threads
        },
        memory_megabytes: studio.memory_mib,
        tempo: match studio.pace {
            StudioTempo::Instant => Tempo::Instant,
            StudioTempo::Realistic => Tempo::Realistic,
        },
        sandbox: studio.sandbox,
    };
    vec![Worker {
        name: "embedded".into(),
        slots: studio.slots,
        rank: studio.rank,
        last_resort: !studio.fallback,
        operations: studio.operations.clone(),
        backend: Arc::new(Embedded::new(settings)),
    }]
}

fn tariff(config: &Config) -> Result<Tariff> {
    let mut tariff = Tariff::parse(TARIFF).context("config/tariff.toml")?;
    let file = &config.prices.file;
    if !file.as_os_str().is_empty() {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        tariff
            .overlay(&text)
            .with_context(|| file.display().to_string())?;
    }
    Ok(tariff)
}

/// Whether only this machine can know of the service: it listens on loopback, and nothing says that somebody in front of
/// it lets strangers in.
fn is_private(config: &Config, addresses: &Addresses, names: &[String]) -> bool {
    let on_loopback = |address: &SocketAddr| address.ip().is_loopback();
    let names_loopback = |name: &String| {
        let url = Url::parse(name).ok();
        match url.as_ref().and_then(Url::host) {
            Some(Host::Domain(host)) => host == "localhost" || host.ends_with(".localhost"),
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        }
    };
    config.proxies.trusted.is_empty()
        && addresses.bound.iter().all(on_loopback)
        && names.iter().all(names_loopback)
}

fn outbound(config: &Config, addresses: &Addresses) -> Result<Outbound> {
    let rules = &config.outbound;
    let explicit = (rules.allow != [AUTO]).then_some(rules.allow.as_slice());
    let names = [
        &addresses.base_url,
        &config.origin_url,
        &config.cdn_url,
        &config.legacy_cdn_url,
    ];
    let names: Vec<String> = names
        .into_iter()
        .filter(|name| !name.is_empty())
        .cloned()
        .collect();
    let policy = Policy::from_settings(
        &rules.ports,
        explicit,
        is_private(config, addresses, &names),
        &addresses.bound,
        &names,
    )
    .map_err(|why| anyhow!(why))?;
    let (usual, callbacks) = (OutboundLimits::default(), &config.callbacks);
    let limits = OutboundLimits {
        at_once: usual.at_once.max(callbacks.parallel),
        // Room for several accounts whose receivers share a host.
        per_receiver: usual
            .per_receiver
            .max(4 * usize::try_from(callbacks.parallel_per_host).unwrap_or(0)),
        ..usual
    };
    Outbound::new(policy, limits).context("the client for outbound requests")
}

fn settings(config: &Config, addresses: &Addresses) -> Settings {
    let or_base = |url: &String| {
        if url.is_empty() {
            addresses.base_url.clone()
        } else {
            url.clone()
        }
    };
    let (jobs, retention) = (&config.jobs, &config.retention);
    Settings {
        lease_ms: jobs.lease_s * 1000,
        renew_ms: jobs.renew_s * 1000,
        progress_ms: jobs.progress_ms,
        idle_ms: jobs.idle_ms,
        sweep_ms: jobs.sweep_ms,
        tries_most: jobs.tries,
        retry_pause_ms: jobs.retry_pause_ms,
        idempotency_ms: retention.idempotency_hours * HOUR_MS,
        max_queue: jobs.max_queue,
        keys_most: config.limits.keys_per_account,
        callback_schedule_s: config.callbacks.schedule_s.clone(),
        callbacks_at_once: config.callbacks.parallel,
        callbacks_per_host: config.callbacks.parallel_per_host,
        keep_ms: [
            retention.answer_minutes * MINUTE_MS,
            retention.image_hours * HOUR_MS,
            retention.video_hours * HOUR_MS,
            retention.small_image_days * DAY_MS,
        ],
        input_keep_ms: retention.input_days * DAY_MS,
        log_keep_ms: retention.log_days * DAY_MS,
        audit_keep_ms: retention.audit_days * DAY_MS,
        key_keep_ms: retention.key_days * DAY_MS,
        orphan_ms: retention.orphan_minutes * MINUTE_MS,
        tidy_ms: jobs.tidy_s * 1000,
        banned_words: config.prompts.banned.clone(),
        origin_url: or_base(&config.origin_url),
        cdn_url: or_base(&config.cdn_url),
        own_urls: vec![addresses.base_url.clone(), config.legacy_cdn_url.clone()],
        polls_at_once: jobs.polls_at_once,
        refresh_ms: jobs.refresh_ms,
        hook_base_url: addresses.base_url.clone(),
        result_cache_bytes: jobs.result_cache_mib * 1024 * 1024,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_private_only_while_nothing_says_otherwise() {
        let private = |change: fn(&mut Config), bound: &str| {
            let mut config = Config::defaults();
            change(&mut config);
            let addresses = Addresses::new(&config, vec![bound.parse().expect("an address")]);
            let names = [addresses.base_url.clone(), config.cdn_url.clone()];
            let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
            is_private(&config, &addresses, &names)
        };
        assert!(private(|_| {}, "127.0.0.1:8080"));
        assert!(private(|_| {}, "[::1]:8080"));
        assert!(!private(|_| {}, "0.0.0.0:8080"));
        let here: fn(&mut Config) = |config| config.base_url = "http://localhost:8080".into();
        assert!(private(here, "127.0.0.1:8080"));
        let public: [fn(&mut Config); 4] = [
            |config| config.base_url = "https://media.example.com".into(),
            |config| config.base_url = "http://192.0.2.1".into(),
            |config| config.cdn_url = "https://cdn.example.com".into(),
            |config| config.proxies.trusted = vec!["127.0.0.1".into()],
        ];
        for change in public {
            assert!(!private(change, "127.0.0.1:8080"));
        }
    }
}
