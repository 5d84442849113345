//! Building the store, the result files, what runs inside the process, and the engine over them.

use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use atelier_backends::VENDORS;
#[cfg(feature = "studio")]
use atelier_backends::embedded::EmbeddedEngine;
use atelier_contract::Tariff;
use atelier_engine::{Clock, EmbeddedWorker, Engine, Ids, Keyring, Parts, Settings};
use atelier_store::files::{AssetSettings, Files};
use atelier_store::{Options, Store};
use bytes::Bytes;

use super::addresses::Addresses;
use super::credentials::signatory;
use super::outbound::outbound;
use super::settings::settings;
use crate::config::Config;

/// The built-in prices.
const TARIFF: &str = include_str!("../../../../config/tariff.toml");

/// Opens the database, bringing its schema up to date.
pub(crate) async fn open_store(config: &Config) -> Result<Store> {
    open_store_with(config, Options::default()).await
}

/// Opens the database for whoever moves old rows out of it.
pub(crate) async fn open_store_for_archiving(config: &Config) -> Result<Store> {
    let options = Options {
        references: false,
        ..Options::default()
    };
    open_store_with(config, options).await
}

async fn open_store_with(config: &Config, options: Options) -> Result<Store> {
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
    let pooler = config.database_pooler.reveal();
    let options = Options {
        pooler: (!pooler.is_empty()).then(|| pooler.to_owned()),
        ..options
    };
    Store::open(&url, options)
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
        export_files: open_export_files(config)?,
        workers: workers(config),
        vendors: VENDORS,
        outbound: outbound(config, addresses)?,
        tariff: tariff(config)?,
        settings: Settings {
            signatory: signatory(config, &store, &keyring).await?,
            ..settings(config, addresses)
        },
        clock: Clock::of(&store).await.context("the time")?,
        node: ids.uuid(),
        ids,
        keyring,
        store,
    };
    let engine = Engine::new(parts);
    engine
        .admin()
        .prices()
        .load()
        .await
        .context("stored prices")?;
    engine
        .admin()
        .banned()
        .step()
        .await
        .context("stored words")?;
    engine
        .assets()
        .load_address_keys()
        .await
        .context("address keys")?;
    engine
        .admin()
        .backends()
        .declare(config.backends.clone())
        .await
        .map_err(|refusal| anyhow!("backends: {refusal}"))?;
    engine
        .admin()
        .models()
        .load()
        .await
        .context("stored models")?;
    engine
        .admin()
        .models()
        .declare(config.models.clone())
        .await
        .map_err(|refusal| anyhow!(refusal))?;
    Ok(engine)
}

/// Writes, reads and deletes a file, to see that the asset store would do.
pub(crate) async fn check_asset_storage(config: &Config) -> Result<()> {
    let files = open_files(config)?;
    let key = format!("doctor/{}", Ids::Random.uuid());
    let bytes = Bytes::from_static(b"atelier doctor");
    files.put(&key, bytes.clone()).await.context("writing")?;
    let read = files.read(&key).await.context("reading");
    files.delete(&key).await.context("deleting")?;
    anyhow::ensure!(read? == bytes, "what was read is not what was written");
    Ok(())
}

/// Opens the asset store.
pub(crate) fn open_files(config: &Config) -> Result<Files> {
    let named = if config.assets.url.is_empty() {
        "the folder for result files"
    } else {
        "assets.url"
    };
    Files::open(&config.assets, config.data_dir.join("assets")).context(named)
}

/// Opens where the exports of each day go: the asset store, a folder, or another bucket with the keys of the asset store.
fn open_export_files(config: &Config) -> Result<Files> {
    if config.exports.url.is_empty() {
        return open_files(config);
    }
    let settings = AssetSettings {
        url: config.exports.url.clone(),
        ..config.assets.clone()
    };
    Files::open(&settings, config.data_dir.join("assets")).context("exports.url")
}

/// What runs inside the process: nothing, in a binary built without the studio.
#[cfg(not(feature = "studio"))]
fn workers(_: &Config) -> Vec<EmbeddedWorker> {
    Vec::new()
}

/// What runs inside the process.
#[cfg(feature = "studio")]
fn workers(config: &Config) -> Vec<EmbeddedWorker> {
    let studio = &config.studio;
    if !studio.enabled {
        return Vec::new();
    }
    vec![EmbeddedWorker {
        name: "embedded".into(),
        slots: studio.slots,
        rank: studio.rank,
        last_resort: !studio.fallback,
        operations: studio.operations.clone(),
        backend: Arc::new(EmbeddedEngine::new(studio)),
    }]
}

fn tariff(config: &Config) -> Result<Tariff> {
    let mut tariff = Tariff::parse(TARIFF).context("config/tariff.toml")?;
    let file = &config.prices.file;
    if !file.as_os_str().is_empty() {
        let at = || format!("prices.file {}", file.display());
        let text = std::fs::read_to_string(file).with_context(at)?;
        tariff.overlay(&text).with_context(at)?;
    }
    Ok(tariff)
}
