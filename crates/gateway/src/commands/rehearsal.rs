//! What a start would refuse, found without one.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use atelier_contract::Secret;
use rustix::fs::{Access, access};

use super::start_checks::{check_databases, refuse_warnings, resolve};
use crate::app::{self, Addresses, App, Warning};
use crate::config::{Config, Log};
use crate::server::tls::Tls;
use crate::{logging, openapi, secrets};

/// Builds everything that the service builds before it listens, over a new database in a folder that goes again: nothing of what the
/// service keeps is opened.
pub(super) async fn rehearse(config: &Config) -> Result<()> {
    let folder = tempfile::tempdir().context("a folder to try in")?;
    rehearse_in(folder.path(), config).await
}

async fn rehearse_in(folder: &Path, config: &Config) -> Result<()> {
    logging::check(&config.log)?;
    check_access_log(&config.log.access).context("log.access")?;
    check_data_dir(&config.data_dir).context("data_dir")?;
    Tls::load(&config.tls)?;
    let bound = bound(config).await?;
    check_databases(config)?;
    refuse_warnings(config, &Addresses::new(config, bound.clone()))?;
    let apart = Config {
        data_dir: folder.to_owned(),
        database: Secret::default(),
        database_pooler: Secret::default(),
        log: Log {
            access: PathBuf::new(),
            ..config.log.clone()
        },
        ..config.clone()
    };
    build(apart, bound).await
}

/// What a start with these settings warns of; nothing for settings that it refuses.
pub(super) async fn warnings(config: &Config) -> Vec<Warning> {
    let bound = bound(config).await.unwrap_or_default();
    app::warnings(config, &Addresses::new(config, bound))
}

/// The addresses that would be listened on.
async fn bound(config: &Config) -> Result<Vec<SocketAddr>> {
    let mut bound = Vec::new();
    for (setting, address) in config.addresses() {
        // Any of those that a name has will do to see what follows from it.
        bound.extend(resolve(&setting, address).await?.into_iter().take(1));
    }
    Ok(bound)
}

async fn build(config: Config, bound: Vec<SocketAddr>) -> Result<()> {
    let addresses = Addresses::new(&config, bound);
    let store = app::open_store(&config).await?;
    let token = secrets::admin_token(&config, &store).await?;
    let key = secrets::master_key(&config, &store).await?;
    let engine = app::build_engine(&config, store.clone(), key, &addresses).await?;
    App::new(
        config,
        engine,
        token.hash,
        &addresses,
        openapi::static_document,
    )?;
    store.close().await;
    Ok(())
}

/// Whether the file can be written to; its folder is not made by a start.
fn check_access_log(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|one| !one.as_os_str().is_empty());
    if let Some(folder) = folder {
        let named = || folder.display().to_string();
        folder.metadata().with_context(named)?;
    }
    if file.as_os_str().is_empty() {
        return Ok(());
    }
    check_place(file)
}

/// Whether the folder is there, or can be made.
fn check_data_dir(folder: &Path) -> Result<()> {
    if folder.is_file() {
        bail!("{} is a file", folder.display());
    }
    check_place(folder)
}

/// Whether a file or folder can be written to, or made; it is not made.
fn check_place(place: &Path) -> Result<()> {
    for there in place.ancestors() {
        let there = if there.as_os_str().is_empty() {
            Path::new(".")
        } else {
            there
        };
        let named = || there.display().to_string();
        match there.metadata() {
            Ok(_) => return access(there, Access::WRITE_OK).with_context(named),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(named),
        }
    }
    bail!("{} is nowhere", place.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use futures_util::{StreamExt as _, stream};
    use tempfile::TempDir;

    use super::*;
    use crate::config::explain::settings;
    use crate::config::load::Sources;

    /// Rehearsals at once.
    const AT_ONCE: usize = 4;

    /// What becomes of the service when a variable says this.
    async fn outcome(made: &Path, variable: &str, value: &str) -> Result<()> {
        let sources = Sources {
            environment: vec![(variable.to_owned(), value.to_owned())],
            ..Sources::default()
        };
        let config = sources.config()?;
        let folder = TempDir::new()?;
        fs::copy(made.join("atelier.db"), folder.path().join("atelier.db"))?;
        rehearse_in(folder.path(), &config).await
    }

    /// The promise: whatever a setting says, it is refused by its name, or the service works with it.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_setting_is_refused_by_its_name_or_works() {
        let made = TempDir::new().expect("a folder");
        let mut config = Sources::default().config().expect("the defaults");
        config.data_dir = made.path().to_owned();
        // Made once: a new database takes longer than all of the rest.
        app::open_store(&config)
            .await
            .expect("a store")
            .close()
            .await;
        let long = "x".repeat(100_000);
        let values = ["0", "-1", "9223372036854775807", "", "many", "[1]", &long];
        let all = settings(&Sources::default()).expect("the settings");
        let tried = all.iter().flat_map(|one| values.map(|value| (one, value)));
        let tried = tried.map(|(setting, value)| {
            let made = made.path();
            async move {
                (
                    setting,
                    value,
                    outcome(made, &setting.variable, value).await,
                )
            }
        });
        let tried: Vec<_> = stream::iter(tried)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let (mut refused, mut nameless) = (0, Vec::new());
        for (setting, value, outcome) in &tried {
            let Err(error) = outcome else { continue };
            refused += 1;
            let said = format!("{error:#}");
            // A pair is named by its section.
            let section = setting.path.split('.').next().unwrap_or_default();
            if !said.contains(&setting.variable) && !said.contains(section) {
                let value = &value[..value.len().min(20)];
                let said = &said[..said.len().min(200)];
                nameless.push(format!("{}={value}: {said}", setting.path));
            }
        }
        assert!(nameless.is_empty(), "{nameless:#?}");
        assert!(
            tried.len() > 700 && refused > 300,
            "{refused} of {}",
            tried.len()
        );
    }
}
