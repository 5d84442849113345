//! What is looked at, one after the other; what comes later needs what came before.

use std::path::Path;

use atelier_cli::screen;
use atelier_contract::pages::workers::WorkerState;
use rustix::fs::{Access, access, statvfs};

use super::super::rehearsal::{rehearse, warnings};
use super::finding::Finding;
use super::{certificate, credentials};
use crate::app::{self, Addresses, Store};
use crate::config::Config;
use crate::config::load::Sources;
use crate::secrets;
use crate::server::tls::Tls;

/// Less disk than this is too little to take work, as a part of the whole and in bytes.
const LEAST_PART: u64 = 20;
const LEAST_BYTES: u64 = 1024 * 1024 * 1024;
/// Nodes may be this far apart.
const MOST_APART_MS: i64 = 2000;
/// No clock that is right shows an earlier time: 2025.
const EARLIEST_MS: i64 = 1_735_689_600_000;

pub(super) async fn run_all(sources: &Sources, found: &mut Vec<Finding>) {
    let config = match sources.config() {
        Ok(config) => config,
        Err(error) => {
            let remedy = "`atelier config explain SETTING` shows what a setting accepts";
            found.push(Finding::bad("configuration", screen::cause(&error), remedy));
            return;
        }
    };
    let file = sources.file.as_ref().map(|file| file.display().to_string());
    found.push(Finding::good(
        "configuration",
        file.unwrap_or_else(|| "defaults and environment".into()),
    ));
    if let Err(error) = rehearse(&config).await {
        let remedy = "correct the named setting, then run `atelier config check`";
        found.push(Finding::bad("start", screen::cause(&error), remedy));
    }
    for warning in warnings(&config).await {
        found.push(Finding::fair(
            warning.setting,
            warning.cause,
            warning.remedy,
        ));
    }
    found.push(folder(&config.data_dir));
    found.extend(disk(&config.data_dir));
    found.push(outbound(&config));
    found.push(certificates(&config));
    let existed = !config.database.is_empty() || config.data_dir.join("atelier.db").exists();
    if !existed {
        found.push(Finding::good(
            "database",
            "does not exist yet; the first start creates it",
        ));
        return;
    }
    match app::open_store(&config).await {
        Ok(store) => {
            with_store(&config, &store, found).await;
            store.close().await;
        }
        Err(error) => {
            let remedy = if config.database.is_empty() {
                "check that the service's user owns the data folder and that the disk is not full"
            } else {
                "check that the server runs and that the URL in `database` names user, host and database"
            };
            found.push(Finding::bad("database", screen::cause(&error), remedy));
        }
    }
}

async fn with_store(config: &Config, store: &Store, found: &mut Vec<Finding>) {
    let kind = if store.is_postgres() {
        "PostgreSQL"
    } else {
        "SQLite"
    };
    found.push(match store.ping().await {
        Ok(()) => Finding::good(
            "database",
            format!("{kind} responds, its schema is up to date"),
        ),
        Err(error) => Finding::bad("database", error.to_string(), "check that the server runs"),
    });
    found.push(pages(store).await);
    found.push(clock(store));
    let key = match secrets::master_key(config, store).await {
        Ok(key) => {
            found.push(Finding::good("master key", "matches the database"));
            key
        }
        Err(error) => {
            found.push(Finding::bad(
                "master key",
                screen::cause(&error),
                "restore the key from your copy",
            ));
            return;
        }
    };
    found.push(match app::check_asset_storage(config).await {
        Ok(()) => Finding::good("assets", "a file was written, read and deleted"),
        Err(error) => Finding::bad(
            "assets",
            screen::cause(&error),
            "check [assets]: URL, keys, permission to write and delete",
        ),
    });
    found.push(credentials::check(config, store, key).await);
    backends(config, store, key, found).await;
}

async fn backends(config: &Config, store: &Store, key: [u8; 32], found: &mut Vec<Finding>) {
    let addresses = Addresses::new(config, Vec::new());
    let engine = match app::build_engine(config, store.clone(), key, &addresses).await {
        Ok(engine) => engine,
        Err(error) => {
            found.push(Finding::bad(
                "back ends",
                screen::cause(&error),
                "correct the named setting",
            ));
            return;
        }
    };
    let all = engine.admin().backends().list().await.unwrap_or_default();
    if all.is_empty() {
        let remedy = "create one with `atelier backends create …`, or set studio.enabled = true";
        found.push(Finding::bad("back ends", "none", remedy));
    }
    for one in all {
        let ready = one
            .accounts
            .iter()
            .filter(|account| account.spec.state == WorkerState::Active)
            .count();
        let name = format!("{} ({})", one.name, one.vendor);
        found.push(if !one.enabled {
            Finding::fair(
                "back ends",
                format!("{name} is disabled"),
                "`atelier backends change ID enabled=true`",
            )
        } else if one.base_url.is_some() && ready == 0 {
            Finding::fair(
                "back ends",
                format!("{name} has no active worker account"),
                "`atelier workers create ID …`",
            )
        } else {
            Finding::good("back ends", format!("{name} accepts jobs"))
        });
    }
}

/// Whether the file of the database can be read from end to end.
async fn pages(store: &Store) -> Finding {
    if store.is_postgres() {
        let tool = "on the server; check them with pg_amcheck";
        return Finding::good("pages", tool);
    }
    let remedy = "stop the service, keep a copy of the folder, and restore the latest backup";
    match store.invariants().check_pages().await {
        Ok(damage) if damage.is_empty() => Finding::good("pages", "the whole file is readable"),
        Ok(damage) => Finding::bad("pages", damage.join("; "), remedy),
        Err(error) => Finding::bad("pages", error.to_string(), remedy),
    }
}

/// Where everything is kept.
fn folder(path: &Path) -> Finding {
    if !path.exists() {
        return Finding::good("data folder", format!("{} will be created", path.display()));
    }
    if access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let remedy = "make the service's user its owner: chown -R USER DIR";
        return Finding::bad(
            "data folder",
            format!("{} is not writable", path.display()),
            remedy,
        );
    }
    let mode = path
        .metadata()
        .map(|data| std::os::unix::fs::PermissionsExt::mode(&data.permissions()));
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        let remedy = "it contains keys and results; run chmod 700 DIR";
        return Finding::fair(
            "data folder",
            format!("{} is readable by other users", path.display()),
            remedy,
        );
    }
    Finding::good("data folder", path.display().to_string())
}

fn disk(path: &Path) -> Option<Finding> {
    let existing = path
        .ancestors()
        .find(|path| path.exists())
        .unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() {
        Path::new(".")
    } else {
        existing
    };
    let disk = statvfs(existing).ok()?;
    let (free, whole) = (disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
    let said = format!("{} of {} MiB free", free >> 20, whole >> 20);
    let little = free < LEAST_BYTES || free < whole / LEAST_PART;
    let remedy = "free some space: below 5 % or 1 GiB no jobs are accepted";
    Some(if little {
        Finding::bad("disk", said, remedy)
    } else {
        Finding::good("disk", said)
    })
}

fn clock(store: &Store) -> Finding {
    let here = atelier_engine::Clock::System.now_ms();
    let apart = store.database_now_ms().map_or(0, |there| here - there);
    if here < EARLIEST_MS {
        return Finding::bad(
            "clock",
            "this machine's clock is years behind",
            "set it and keep it synchronized (NTP)",
        );
    }
    if apart.abs() > MOST_APART_MS {
        let remedy =
            "synchronize both clocks (NTP): signatures and shown times follow this machine's";
        return Finding::fair(
            "clock",
            format!("differs from the database's by {apart} ms"),
            remedy,
        );
    }
    Finding::good(
        "clock",
        format!("within {} ms of the database's", apart.abs()),
    )
}

fn outbound(config: &Config) -> Finding {
    match app::outbound_rules(config) {
        Err(error) => Finding::bad(
            "outbound",
            screen::cause(&error),
            "correct outbound.allow or outbound.ports",
        ),
        Ok(true) => Finding::good(
            "outbound",
            "callers may name URLs on this machine, because only this machine reaches the service",
        ),
        Ok(false) => {
            let ports = match config.outbound.ports.as_slice() {
                [] => "all ports but those of other protocols".to_owned(),
                listed => format!("ports {listed:?}"),
            };
            let told = format!("public IP addresses, {ports}, and the entries of outbound.allow");
            Finding::good("outbound", told)
        }
    }
}

fn certificates(config: &Config) -> Finding {
    if !config.tls.is_set() {
        return Finding::good(
            "certificates",
            "none; the service speaks plain HTTP or is behind a proxy",
        );
    }
    if let Err(error) = Tls::load(&config.tls) {
        return Finding::bad(
            "certificates",
            screen::cause(&error),
            "check that tls.certificate and tls.key belong together",
        );
    }
    match certificate::days_left(
        &config.tls.certificate,
        atelier_engine::Clock::System.now_ms(),
    ) {
        Some(days) if days < 0 => Finding::bad(
            "certificates",
            "the certificate has expired",
            "renew it; the service reloads it without a restart",
        ),
        Some(days) if days < 14 => Finding::fair(
            "certificates",
            format!("{days} days left"),
            "renew it; the service reloads it without a restart",
        ),
        Some(days) => Finding::good("certificates", format!("{days} days left")),
        None => Finding::fair(
            "certificates",
            "its expiry could not be read",
            "inspect it with openssl x509",
        ),
    }
}
