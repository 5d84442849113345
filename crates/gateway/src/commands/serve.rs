//! `atelier serve`: binds, builds, runs until it is told to stop, and stops in order.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use atelier_cli::{Command, Group};
use atelier_fairness::background;
use clap::Args;
use tokio::net::TcpListener;

use super::instance_options::InstanceOptions;
use crate::app::{self, Addresses, App};
use crate::config::{Config, Role};
use crate::http::Reach;
use crate::server::signals::Signals;
use crate::server::tls::Tls;
use crate::server::{Listener, Server};
use crate::{first_run, logging, memory, openapi, secrets};

/// The engine gets at least this long to hand back its leases, whatever the requests took.
const TO_HAND_BACK: Duration = Duration::from_secs(5);
/// Answers about the last jobs get this long to go out.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Starts the service; so does no command at all.
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
        let config = self
            .instance
            .sources(listen.into_iter().collect())
            .config()?;
        logging::start(&config.log)?;
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
    let tls = Tls::load(&config.tls)?;
    let listeners = bind(&config).await?;
    let bound = listeners
        .iter()
        .map(|listener| listener.socket.local_addr())
        .collect::<Result<Vec<_>, _>>()?;
    let addresses = Addresses::new(&config, bound);
    let store = app::open_store(&config).await?;
    let token = secrets::admin_token(&config, &store).await?;
    let key = secrets::master_key(&config, &store).await?;
    let engine = app::build_engine(&config, store.clone(), key, &addresses).await?;
    let demo_key = first_run::demo_key(&config, &store, &engine).await?;
    let link = first_run::link(&engine, demo_key.as_deref()).await?;
    let running = engine.run().await.context("the engine cannot start")?;
    let stop_within = Duration::from_secs(config.stop_within_s);
    let drain = Duration::from_secs(config.drain_s);
    let schemes: Vec<&str> = listeners.iter().map(Listener::scheme).collect();
    let (is_public, data_dir) = (addresses.is_public(&config), config.data_dir.clone());
    let app = App::new(
        config,
        engine,
        token.hash,
        is_public,
        addresses.base_url.clone(),
        openapi::static_document,
    )?;
    let server = Server::start(Arc::clone(&app), listeners, tls);
    if let Some(welcome) = first_run::welcome(
        &addresses.base_url,
        demo_key.as_deref(),
        token.fresh.as_deref(),
        link.as_deref(),
    ) {
        say(&first_run::startup_message(welcome, &data_dir));
    }
    for (scheme, address) in schemes.iter().zip(&addresses.bound) {
        say(&format!("listening on {scheme}://{address}"));
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
            tracing::warn!("stopped although something hangs");
        }
        () = second_signal => {}
    }
    Ok(())
}

async fn bind(config: &Config) -> Result<Vec<Listener>> {
    let safe = config.tls.is_set();
    let mut listeners = vec![open(&config.listen, Role::Main, safe).await?];
    for one in config
        .listeners
        .iter()
        .filter(|one| !one.address.is_empty())
    {
        listeners.push(open(&one.address, one.role, safe && !one.plain).await?);
    }
    Ok(listeners)
}

/// What a listen address is.
pub(super) async fn resolve(address: &str) -> Result<Vec<SocketAddr>> {
    let resolved = tokio::net::lookup_host(address).await;
    let resolved = resolved.with_context(|| format!("listen address {address}"))?;
    Ok(resolved.collect())
}

async fn open(address: &str, role: Role, secure: bool) -> Result<Listener> {
    let resolved = resolve(address).await?;
    let listener = TcpListener::bind(resolved.as_slice())
        .await
        .with_context(|| format!("cannot listen on {address}"))?;
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

#[expect(
    clippy::print_stdout,
    reason = "a person or a script reads where the service listens"
)]
fn say(text: &str) {
    use std::io::Write as _;
    println!("{text}");
    let _ = std::io::stdout().flush();
}
