//! `atelier serve`: binds, builds, runs until it is told to stop, and stops in order.

use std::io::{self, ErrorKind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use atelier_cli::{Command, ExitReason, Fault, Group, screen};
use atelier_fairness::background;
use clap::Args;
use tokio::net::TcpListener;

use super::first_run::{self, Welcome};
use super::instance_options::InstanceOptions;
use super::start_checks::{check_databases, refuse_warnings, resolve};
use crate::app::{self, Addresses, App};
use crate::config::{Config, Role};
use crate::http::Reach;
use crate::server::signals::Signals;
use crate::server::tls::Tls;
use crate::server::{Listener, Server};
use crate::{logging, memory, openapi, secrets};

/// The engine gets at least this long to hand back its leases, whatever the requests took.
const TO_HAND_BACK: Duration = Duration::from_secs(5);
/// Answers about the last jobs get this long to go out.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Starts the service; so does `atelier` without a command.
#[derive(Args)]
pub(super) struct Serve {
    #[command(flatten)]
    instance: InstanceOptions,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
}

impl Command for Serve {
    const NAME: &str = "serve";
    const GROUP: Group = Group::Service;
    const EXAMPLES: &str = "\
atelier serve
atelier serve --listen 0.0.0.0:8080 --data-dir /var/lib/atelier
atelier serve --config atelier.toml --database postgres://atelier@db/atelier";

    fn run(self) -> Result<ExitCode> {
        memory::keep_pages_small();
        let listen = self.listen.map(|address| ("listen", address));
        let sources = self.instance.sources(listen.into_iter().collect());
        let config = sources.config().map_err(refused)?;
        logging::start(&config.log).map_err(refused)?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        if config.worker_threads > 0 {
            runtime.worker_threads(config.worker_threads);
        }
        let runtime = runtime.enable_all().build()?;
        background::enable_low_priority();
        let served = runtime.block_on(serve(config));
        // Whatever hangs in a thread of its own does not hold up the end.
        runtime.shutdown_background();
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn serve(config: Config) -> Result<()> {
    let mut signals = Signals::listen()?;
    let tls = Tls::load(&config.tls).map_err(refused)?;
    check_databases(&config).map_err(refused)?;
    let listeners = bind(&config).await?;
    let bound = listeners
        .iter()
        .map(|listener| listener.socket.local_addr())
        .collect::<Result<Vec<_>, _>>()?;
    let addresses = Addresses::new(&config, bound);
    refuse_warnings(&config, &addresses).map_err(refused)?;
    let store = app::open_store(&config).await?;
    let token = secrets::admin_token(&config, &store).await?;
    let key = secrets::master_key(&config, &store).await?;
    let engine = app::build_engine(&config, store.clone(), key, &addresses).await;
    let engine = engine.map_err(refused)?;
    let demo_key = first_run::demo_key(&config, &store, &engine).await?;
    let link = first_run::link(&engine, demo_key.as_deref()).await?;
    let running = engine.run().await.context("the engine cannot start")?;
    let stop_within = Duration::from_secs(config.stop_within_s);
    let drain = Duration::from_secs(config.drain_s);
    let schemes: Vec<&str> = listeners.iter().map(Listener::scheme).collect();
    let welcome = Welcome {
        base_url: addresses.base_url.clone(),
        data_dir: config.data_dir.clone(),
        key: demo_key,
        operator_token: token.fresh,
        link,
    };
    let place = first_run::place(&config.log);
    let app = App::new(
        config,
        engine,
        token.hash,
        &addresses,
        openapi::static_document,
    );
    let app = app.map_err(refused)?;
    let server = Server::start(Arc::clone(&app), listeners, tls);
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        data_dir = %welcome.data_dir.display(),
        "started"
    );
    for warning in &app.warnings {
        tracing::warn!("{warning}");
    }
    welcome.show(place);
    for (scheme, address) in schemes.iter().zip(&addresses.bound) {
        let line = format!("listening on {scheme}://{address}");
        if let Err(error) = screen::try_say(&line) {
            tracing::warn!(%error, "{line}; standard output cannot be written");
        }
    }

    signals.next().await;
    tracing::info!("stopping");
    let second_signal = signals.exit_on_next();
    let stop = async {
        app.stopping.cancel();
        let spare = stop_within.saturating_sub(TO_HAND_BACK);
        let others = spare.max(stop_within / 2);
        tokio::join!(server.stop(others), running.drain(others, drain));
        server.stop(LAST_ANSWERS).await;
        running.close().await;
    };
    tokio::select! {
        () = stop => tracing::info!("stopped"),
        () = tokio::time::sleep(drain + stop_within) => {
            tracing::warn!("stopped before everything had ended");
        }
        () = second_signal => {}
    }
    Ok(())
}

/// Has a start end as `atelier config check` does for the same cause.
fn refused(error: anyhow::Error) -> anyhow::Error {
    let refusal = Fault::new(ExitReason::Refused, screen::cause(&error));
    refusal.into()
}

async fn bind(config: &Config) -> Result<Vec<Listener>> {
    let safe = config.tls.is_set();
    let mut listeners = vec![open("listen", &config.listen, Role::Main, safe).await?];
    for (place, one) in config.listeners.iter().enumerate() {
        if !one.address.is_empty() {
            let setting = format!("listeners[{place}].address");
            listeners.push(open(&setting, &one.address, one.role, safe && !one.plain).await?);
        }
    }
    Ok(listeners)
}

async fn open(setting: &str, address: &str, role: Role, secure: bool) -> Result<Listener> {
    let resolved = resolve(setting, address).await.map_err(refused)?;
    let bound = TcpListener::bind(resolved.as_slice()).await;
    let listener = bound.map_err(|error| anyhow!(cannot_listen(setting, address, &error)))?;
    let bound = listener.local_addr()?.ip().to_canonical();
    let reach = if bound.is_loopback() {
        Reach::Machine
    } else {
        Reach::Network
    };
    Ok(Listener {
        socket: listener,
        role,
        reach,
        secure,
    })
}

/// Why an address cannot be listened on, and what to do.
fn cannot_listen(setting: &str, address: &str, error: &io::Error) -> String {
    let (why, remedy) = match error.kind() {
        ErrorKind::AddrInUse => (
            "another program listens there already",
            "stop it, or choose another address (--listen)",
        ),
        ErrorKind::AddrNotAvailable => (
            "this machine does not have that address",
            "choose one of its own, or 0.0.0.0 for all of them",
        ),
        ErrorKind::PermissionDenied => (
            "this user may not listen there",
            "choose a port from 1024, or give the program CAP_NET_BIND_SERVICE",
        ),
        _ => return format!("{setting}: cannot listen on {address}: {error}"),
    };
    format!("{setting}: cannot listen on {address}: {why}; {remedy}")
}
