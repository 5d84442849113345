//! Where a process begins with the service's own time: where the last one on this machine would be by now, or the other nodes
//! are. Only a machine that was switched on since, or another one, has to believe the wall clock, and then never backwards.

use std::sync::OnceLock;
use std::time::Duration;

use atelier_store::{ClockNote, Store};

use super::Source;

/// What tells one start of a machine from the next.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Among several machines, a note this young is believed before what all agree on: no machine counts that wrongly.
const YOUNG_MS: i64 = 600_000;
/// Nodes at work note the time so often that the last note is no older than this.
const NOTED_MS: i64 = 30_000;
/// How long a node that cannot tell the time waits for another one to do so, and how often it looks.
const WAITS_MS: i64 = 12_000;
const LOOKS_AGAIN: Duration = Duration::from_millis(500);

/// This machine since it was switched on; empty where nothing tells that.
pub(super) fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let text = std::fs::read_to_string(BOOT_ID).unwrap_or_default();
        let id = text.trim();
        // The empty name is that of what all agree on.
        if id.is_empty() { "unknown" } else { id }.to_owned()
    })
}

/// The service's own time now.
pub(super) async fn steady_ms(source: &Source, store: &Store) -> Result<i64, atelier_store::Error> {
    let shared = matches!(source, Source::Database(_));
    let notes = store.clock_notes().await?;
    if let Some(steady_ms) = went_on(source, &notes, shared) {
        return Ok(steady_ms);
    }
    let agreed = notes.iter().find(|note| shared && note.machine.is_empty());
    let Some(latest) = agreed.or(notes.first()) else {
        return Ok(source.wall_ms());
    };
    let last_ms = notes
        .first()
        .map_or(latest.steady_ms, |note| note.steady_ms);
    let by_wall = |note: &ClockNote| source.wall_ms() - note.ahead_ms();
    let steady_ms = by_wall(latest);
    let plausible = (last_ms - NOTED_MS..=last_ms + NOTED_MS).contains(&steady_ms);
    if shared && !plausible && !store.nodes(last_ms - NOTED_MS).await?.is_empty() {
        // The database's clock may have been set a moment ago: a node at work knows by how much.
        let begun_ms = source.boot_ms();
        while source.boot_ms() - begun_ms < WAITS_MS {
            tokio::time::sleep(LOOKS_AGAIN).await;
            let now = store.clock_notes().await?;
            let heard = now.iter().find(|note| {
                let known = notes.iter().find(|old| old.machine == note.machine);
                !note.machine.is_empty() && known != Some(note)
            });
            if let Some(heard) = heard {
                return Ok(by_wall(heard));
            }
        }
    }
    Ok(by_wall(latest).max(last_ms))
}

/// Where the last process on this machine would be by now.
fn went_on(source: &Source, notes: &[ClockNote], shared: bool) -> Option<i64> {
    let (machine, boot_ms) = (source.machine(), source.boot_ms());
    let own = notes.iter().find(|note| note.machine == machine)?;
    let passed_ms = boot_ms - own.boot_ms;
    let known = machine != "unknown" && passed_ms >= 0 && (!shared || passed_ms < YOUNG_MS);
    known.then_some(own.steady_ms + passed_ms)
}
