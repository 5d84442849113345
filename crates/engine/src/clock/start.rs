//! Where a process begins with the service's own time: where the last one on this machine would be by now, or the other nodes
//! are. Only a machine that was switched on since, or another one, has to believe the wall clock, and then never backwards.

use std::time::Duration;

use atelier_store::{ClockNote, Store};

use super::source::Source;

/// Among several machines, a note this young is believed before those of others: no machine counts that wrongly.
const YOUNG_MS: i64 = 600_000;
/// Nodes at work note the time so often that the last note is no older than this.
const NOTED_MS: i64 = 30_000;
/// How long a node that cannot tell the time waits for another one to do so, and how often it looks.
const WAITS_MS: i64 = 12_000;
const LOOKS_AGAIN: Duration = Duration::from_millis(500);

/// The service's own time now.
pub(super) async fn steady_ms(source: &Source, store: &Store) -> Result<i64, atelier_store::Error> {
    let shared = matches!(source, Source::Database(_));
    begun_ms(source, store, shared).await
}

/// The same, where nodes share a store or where one is alone.
async fn begun_ms(
    source: &Source,
    store: &Store,
    shared: bool,
) -> Result<i64, atelier_store::Error> {
    let notes = store.nodes().clock_notes().await?;
    let counted = ElapsedNote::of(source, &notes);
    if let Some(counted) = &counted
        && (!shared || counted.is_believed(&notes))
    {
        return Ok(counted.steady_ms());
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
    if shared && !plausible {
        // The database's clock may have been set a moment ago: a node at work knows by how much.
        if !store.nodes().list(last_ms - NOTED_MS).await?.is_empty()
            && let Some(heard) = heard(source, store, &notes).await?
        {
            return Ok(by_wall(&heard));
        }
        // Nobody is at work, and the clock may have been set by hours since; a count is off by its drift at most.
        if let Some(counted) = counted {
            return Ok(counted.steady_ms().max(last_ms));
        }
    }
    Ok(by_wall(latest).max(last_ms))
}

/// What a node at work notes while this one waits for it.
async fn heard(
    source: &Source,
    store: &Store,
    notes: &[ClockNote],
) -> Result<Option<ClockNote>, atelier_store::Error> {
    let begun_ms = source.boot_ms();
    while source.boot_ms() - begun_ms < WAITS_MS {
        tokio::time::sleep(LOOKS_AGAIN).await;
        let now = store.nodes().clock_notes().await?;
        let heard = now.into_iter().find(|note| {
            let known = notes.iter().find(|old| old.machine == note.machine);
            !note.machine.is_empty() && known != Some(note)
        });
        if heard.is_some() {
            return Ok(heard);
        }
    }
    Ok(None)
}

/// Where the last process on this machine would be by now.
struct ElapsedNote<'a> {
    /// What it noted last.
    note: &'a ClockNote,
    /// What the machine has counted since.
    passed_ms: i64,
}

impl<'a> ElapsedNote<'a> {
    /// `None` when the machine was switched on since, or is another one.
    fn of(source: &Source, notes: &'a [ClockNote]) -> Option<Self> {
        let machine = source.machine();
        let note = notes.iter().find(|note| note.machine == machine)?;
        let passed_ms = source.boot_ms() - note.boot_ms;
        let known = machine != "unknown" && passed_ms >= 0;
        known.then_some(Self { note, passed_ms })
    }

    fn steady_ms(&self) -> i64 {
        self.note.steady_ms + self.passed_ms
    }

    /// Whether it goes before what all agree on, which is worth as much as the database's clock: unless another machine has
    /// worked on after it, whose nodes saw what became of that clock. What little it is off is drawn in.
    fn is_believed(&self, notes: &[ClockNote]) -> bool {
        let later = |note: &ClockNote| {
            let other = !note.machine.is_empty() && note.machine != self.note.machine;
            other && note.steady_ms > self.note.steady_ms + NOTED_MS
        };
        self.passed_ms < YOUNG_MS || !notes.iter().any(later)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicI64;

    use atelier_store::Options;
    use tokio::time::Instant;

    use super::*;
    use crate::clock::SimulatedMachine;
    use crate::ids::Ids;

    const MINUTE_MS: i64 = 60_000;
    /// When the last process noted the time, by the service's own.
    const NOTED_AT_MS: i64 = 1_700_000_000_000;
    /// What was agreed on of the database's clock: it was that far ahead.
    const AHEAD_MS: i64 = 5 * MINUTE_MS;

    fn note(machine: &str, noted_ms: i64) -> ClockNote {
        ClockNote {
            machine: machine.into(),
            boot_ms: noted_ms - NOTED_AT_MS,
            steady_ms: noted_ms,
            wall_ms: noted_ms + AHEAD_MS,
        }
    }

    /// How much of the service's own time has passed for a node that starts when so much really has, after the database's
    /// clock was set by something and with what machines noted; its own is called `here`.
    async fn passed(really_ms: i64, set_by_ms: i64, notes: &[ClockNote]) -> i64 {
        let folder = std::env::temp_dir().join(format!("atelier-clock-{}", Ids::Random.uuid()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let url = format!("sqlite:{}", folder.join("atelier.db").display());
        let store = Store::open(&url, Options::default())
            .await
            .expect("a store");
        for note in notes {
            store.nodes().note_clock(note.clone()).await.expect("noted");
        }
        let source = Source::Simulated(SimulatedMachine {
            name: "here".into(),
            counted: (really_ms, Instant::now()),
            wall_ahead_ms: Arc::new(AtomicI64::new(NOTED_AT_MS + AHEAD_MS + set_by_ms)),
        });
        let begun = begun_ms(&source, &store, true).await.expect("a time");
        store.close().await;
        let _ = std::fs::remove_dir_all(&folder);
        begun - NOTED_AT_MS
    }

    fn is_about(found_ms: i64, expected_ms: i64) -> bool {
        (found_ms - expected_ms).abs() < MINUTE_MS / 2
    }

    /// The promise: when all nodes are away and the database's clock is set meanwhile, nothing is overdue for it.
    #[tokio::test]
    async fn a_clock_that_was_set_while_all_were_away_is_not_believed_however_long_that_was() {
        let (agreed, here) = (note("", NOTED_AT_MS), note("here", NOTED_AT_MS));
        // The others stopped a moment later, or while the last of them was handing back its jobs.
        for later_ms in [0, 5_000, 3 * MINUTE_MS] {
            let notes = [
                agreed.clone(),
                here.clone(),
                note("there", NOTED_AT_MS + later_ms),
            ];
            for set_by_ms in [60 * MINUTE_MS, -60 * MINUTE_MS] {
                let passed = passed(20 * MINUTE_MS, set_by_ms, &notes).await;
                assert!(
                    is_about(passed, 20 * MINUTE_MS),
                    "{later_ms} {set_by_ms}: {passed}"
                );
            }
        }
    }

    /// The promise: a machine that others have worked on without goes by what they say, not by a count of its own.
    #[tokio::test]
    async fn a_machine_that_stood_still_goes_by_those_that_have_worked_on() {
        let noted = NOTED_AT_MS + 60 * MINUTE_MS;
        let notes = [
            note("", NOTED_AT_MS),
            note("here", NOTED_AT_MS),
            note("there", noted),
        ];
        // Its count is short of 40 minutes, which the database's clock knows.
        let passed = passed(20 * MINUTE_MS, 40 * MINUTE_MS, &notes).await;
        assert!(is_about(passed, 60 * MINUTE_MS), "{passed}");
    }
}
