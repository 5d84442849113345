//! What the service's own time was last, so that the next process, and every other node, goes on from there.

use crate::Result;
use crate::db::args;
use crate::nodes::Nodes;
use crate::row::{Columns, FromRow};

/// The service's own time at a moment, beside the clocks of that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockNote {
    /// The machine since it was switched on; empty for what all nodes agree on.
    pub machine: String,
    /// Its count of time, see [`crate::boot_ms`].
    pub boot_ms: i64,
    /// The service's own time.
    pub steady_ms: i64,
    /// The wall clock: the database's, where nodes share one.
    pub wall_ms: i64,
}

impl ClockNote {
    /// How far the wall clock is ahead of the service's own time.
    pub fn ahead_ms(&self) -> i64 {
        self.wall_ms - self.steady_ms
    }
}

impl FromRow for ClockNote {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            machine: columns.text()?,
            boot_ms: columns.int()?,
            steady_ms: columns.int()?,
            wall_ms: columns.int()?,
        })
    }
}

const NOTE: &str = "INSERT INTO clock (machine, boot_ms, steady_ms, wall_ms) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (machine) DO UPDATE SET boot_ms = excluded.boot_ms, steady_ms = excluded.steady_ms, \
     wall_ms = excluded.wall_ms";
/// What nobody has noted for as long as a month is of no use: a machine that is back by then has another start.
const FORGET: &str = "DELETE FROM clock WHERE machine <> '' AND steady_ms < $1 - 2678400000";
const AGREE_FIRST: &str = "INSERT INTO clock (machine, boot_ms, steady_ms, wall_ms) VALUES ('', 0, $1, $2) \
     ON CONFLICT (machine) DO NOTHING";
const AGREE: &str = "UPDATE clock SET steady_ms = $1, wall_ms = $2 \
     WHERE machine = '' AND steady_ms = $3 AND wall_ms = $4";

impl Nodes<'_> {
    /// Every note, the latest first.
    pub async fn clock_notes(self) -> Result<Vec<ClockNote>> {
        let sql = "SELECT machine, boot_ms, steady_ms, wall_ms FROM clock ORDER BY steady_ms DESC, machine";
        self.0.db.all(sql, &[]).await
    }

    /// Replaces the note of a machine, and forgets those of machines that have long been gone.
    pub async fn note_clock(self, note: ClockNote) -> Result<()> {
        self.0
            .change(note, |conn, note| {
                Box::pin(async move {
                    let args = args![&note.machine, note.boot_ms, note.steady_ms, note.wall_ms];
                    conn.run(NOTE, args).await?;
                    conn.run(FORGET, args![note.steady_ms]).await.map(|_| ())
                })
            })
            .await
    }

    /// Replaces what all nodes agree on, if it is still what was read; whether it was.
    pub async fn agree_on_clock(self, old: Option<ClockNote>, new: ClockNote) -> Result<bool> {
        self.0
            .change((old, new), |conn, (old, new)| {
                Box::pin(async move {
                    let changed = match old {
                        None => {
                            let args = args![new.steady_ms, new.wall_ms];
                            conn.run(AGREE_FIRST, args).await?
                        }
                        Some(old) => {
                            let (new_ms, old_ms) = (new.steady_ms, old.steady_ms);
                            let args = args![new_ms, new.wall_ms, old_ms, old.wall_ms];
                            conn.run(AGREE, args).await?
                        }
                    };
                    Ok(changed == 1)
                })
            })
            .await
    }
}
