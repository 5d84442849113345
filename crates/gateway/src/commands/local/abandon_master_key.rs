//! `atelier local abandon-master-key`: goes on without a master key that is lost, while the service is stopped.

use std::process::ExitCode;

use anyhow::Result;
use atelier_engine::random_bytes;

use crate::app::{self, Addresses};
use crate::config::Config;
use crate::secrets::KEY_CHECK;

/// Gives up what the lost key has sealed. The next start takes the key that is configured, or makes one.
#[expect(clippy::print_stdout, reason = "the command's answer")]
pub(super) async fn run(config: Config) -> Result<ExitCode> {
    let store = app::open_store(&config).await?;
    let addresses = Addresses::new(&config, Vec::new());
    let engine = app::build_engine(&config, store.clone(), random_bytes(), &addresses).await?;
    let more = vec![KEY_CHECK.to_owned()];
    let secrets = engine.admin().secrets();
    let count = secrets.abandon("command line", more).await?;
    store.close().await;
    println!(
        "{count} sealed secrets are given up; enter the credentials of your worker accounts anew"
    );
    Ok(ExitCode::SUCCESS)
}
