//! How long the first start takes, and how much memory an idle service holds.

use anyhow::Result;
use std::time::Duration;
use tokio::time::Instant;

use crate::report::{median, say};
use crate::service;

const ROUNDS: usize = 5;

/// Measures and prints.
pub(crate) async fn run() -> Result<()> {
    let (mut seconds, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let served = service::start(None).await?;
        seconds.push(begin.elapsed().as_secs_f64());
        tokio::time::sleep(Duration::from_secs(1)).await;
        memory.push(served.memory_mb()?);
    }
    say(&format!(
        "first start on an empty folder: {:.3} s (aim 0.1)",
        median(&seconds)
    ));
    say(&format!("idle memory: {:.1} MB (aim 25)", median(&memory)));
    Ok(())
}
