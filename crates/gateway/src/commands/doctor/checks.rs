//! What is looked at, one after the other; what comes later needs what came before.

use std::path::Path;

use atelier_contract::pages::workers::WorkerState;
use rustix::fs::{Access, access, statvfs};

use super::super::rehearsal::rehearse;
use super::credentials;
use super::finding::Finding;
use crate::app::{self, Addresses, Store};
use crate::certificate;
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
            let remedy = "`atelier config explain SETTING` says what a setting may be";
            found.push(Finding::bad("configuration", format!("{error:#}"), remedy));
            return;
        }
    };
    let file = sources.file.as_ref().map(|file| file.display().to_string());
    found.push(Finding::good(
        "configuration",
        file.unwrap_or_else(|| "defaults and environment".into()),
    ));
    if let Err(error) = rehearse(&config).await {
        let remedy = "put the named setting right; `atelier config check` says the same";
        found.push(Finding::bad("start", format!("{error:#}"), remedy));
    }
    found.push(folder(&config.data_dir));
    found.extend(disk(&config.data_dir));
    found.push(outbound(&config));
    found.push(certificates(&config));
    let existed = !config.database.is_empty() || config.data_dir.join("atelier.db").exists();
    if !existed {
        found.push(Finding::good(
            "database",
            "not made yet; the first start makes it",
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
                "see that the data folder belongs to the user of the service and the disk is not full"
            } else {
                "see that the server runs and the address in `database` names user, host and database"
            };
            found.push(Finding::bad("database", format!("{error:#}"), remedy));
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
            format!("{kind} answers, its schema is up to date"),
        ),
        Err(error) => Finding::bad("database", error.to_string(), "see that the server runs"),
    });
    found.push(pages(store).await);
    found.push(clock(store));
    let key = match secrets::master_key(config, store).await {
        Ok(key) => {
            found.push(Finding::good(
                "master key",
                "the one the database was made with",
            ));
            key
        }
        Err(error) => {
            found.push(Finding::bad(
                "master key",
                format!("{error:#}"),
                "bring the key back from where it is kept safe",
            ));
            return;
        }
    };
    found.push(match app::check_asset_storage(config).await {
        Ok(()) => Finding::good("assets", "a file was written, read and deleted"),
        Err(error) => Finding::bad(
            "assets",
            format!("{error:#}"),
            "see [assets]: address, keys and rights to write and delete",
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
                format!("{error:#}"),
                "put the named setting right",
            ));
            return;
        }
    };
    let all = engine.admin().backends().list().await.unwrap_or_default();
    if all.is_empty() {
        let remedy = "make one: `atelier backends create …`, or leave studio.enabled on";
        found.push(Finding::bad("back ends", "there are none", remedy));
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
                format!("{name} is switched off"),
                "`atelier backends change ID enabled=true`",
            )
        } else if one.base_url.is_some() && ready == 0 {
            Finding::fair(
                "back ends",
                format!("{name} has no worker account that works"),
                "`atelier workers create ID …`",
            )
        } else {
            Finding::good("back ends", format!("{name} takes work"))
        });
    }
}

/// Whether the file of the database can be read from end to end.
async fn pages(store: &Store) -> Finding {
    if store.is_postgres() {
        let tool = "the server keeps them; pg_amcheck looks at them";
        return Finding::good("pages", tool);
    }
    let remedy = "stop the service, keep a copy of the folder and restore the latest backup";
    match store.invariants().check_pages().await {
        Ok(damage) if damage.is_empty() => Finding::good("pages", "all of the file can be read"),
        Ok(damage) => Finding::bad("pages", damage.join("; "), remedy),
        Err(error) => Finding::bad("pages", error.to_string(), remedy),
    }
}

/// Where everything is kept.
fn folder(path: &Path) -> Finding {
    if !path.exists() {
        return Finding::good("data folder", format!("{} will be made", path.display()));
    }
    if access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let remedy = "give it to the user of the service: chown -R USER DIR";
        return Finding::bad(
            "data folder",
            format!("{} cannot be written", path.display()),
            remedy,
        );
    }
    let mode = path
        .metadata()
        .map(|data| std::os::unix::fs::PermissionsExt::mode(&data.permissions()));
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        let remedy = "chmod 700 DIR: keys and results are nobody else's business";
        return Finding::fair(
            "data folder",
            format!("{} is open to others", path.display()),
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
    let remedy = "make room: with less than 5 % or 1 GiB no work is taken";
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
            "set it, and let NTP keep it",
        );
    }
    if apart.abs() > MOST_APART_MS {
        let remedy = "let NTP keep both clocks: signatures and what people see go by this one";
        return Finding::fair(
            "clock",
            format!("{apart} ms away from the database's"),
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
            format!("{error:#}"),
            "put outbound.allow or outbound.ports right",
        ),
        Ok(true) => Finding::good(
            "outbound",
            "addresses on this machine are allowed to callers on it, since only it can reach the service",
        ),
        Ok(false) => {
            let ports = match config.outbound.ports.as_slice() {
                [] => "every port that belongs to no other protocol".to_owned(),
                listed => format!("ports {listed:?}"),
            };
            let told = format!("public addresses at {ports}, and what outbound.allow lists");
            Finding::good("outbound", told)
        }
    }
}

fn certificates(config: &Config) -> Finding {
    if !config.tls.is_set() {
        return Finding::good(
            "certificates",
            "none; the service speaks plain HTTP or stands behind a proxy",
        );
    }
    if let Err(error) = Tls::load(&config.tls) {
        return Finding::bad(
            "certificates",
            format!("{error:#}"),
            "see that tls.certificate and tls.key belong together",
        );
    }
    match certificate::days_left(
        &config.tls.certificate,
        atelier_engine::Clock::System.now_ms(),
    ) {
        Some(days) if days < 0 => Finding::bad(
            "certificates",
            "the certificate is over",
            "renew it; it is taken up without a restart",
        ),
        Some(days) if days < 14 => Finding::fair(
            "certificates",
            format!("{days} days left"),
            "renew it; it is taken up without a restart",
        ),
        Some(days) => Finding::good("certificates", format!("{days} days left")),
        None => Finding::fair(
            "certificates",
            "its end could not be read",
            "look at it with openssl x509",
        ),
    }
}
