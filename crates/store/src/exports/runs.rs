//! Exports that are made each day: who makes which, and how far it is.

use crate::Result;
use crate::db::args;
use crate::exports::Exports;
use crate::row::{Columns, FromRow};

/// An export of a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportRun {
    /// The day whose rows it has, counted from 1970.
    pub day: i64,
    /// What it is of.
    pub kind: String,
    /// How rows are written.
    pub format: String,
    /// Where it goes on, as whoever makes it wrote that down; empty at the beginning.
    pub place: String,
    /// How many parts are written.
    pub parts: i64,
    /// How many rows they have.
    pub entries: i64,
    /// Counts the nodes that have taken it; what another one notes counts no more.
    pub fence: i64,
    /// Why the last try to go on failed.
    pub error: Option<String>,
    pub created_ms: i64,
    /// When it was whole.
    pub ended_ms: Option<i64>,
}

impl FromRow for ExportRun {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            day: columns.int()?,
            kind: columns.text()?,
            format: columns.text()?,
            place: columns.text()?,
            parts: columns.int()?,
            entries: columns.int()?,
            fence: columns.int()?,
            error: columns.maybe_text()?,
            created_ms: columns.int()?,
            ended_ms: columns.maybe_int()?,
        })
    }
}

const COLUMNS: &str =
    "day, kind, format, place, parts, entries, fence, error, created_ms, ended_ms";

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportPart {
    pub part: i64,
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub hash: String,
    pub bytes: i64,
    /// How many rows it has.
    pub entries: i64,
}

impl FromRow for ExportPart {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            part: columns.int()?,
            name: columns.text()?,
            hash: columns.text()?,
            bytes: columns.int()?,
            entries: columns.int()?,
        })
    }
}

/// The wish to go on with an export that nobody works on.
#[derive(Clone, Debug)]
pub struct ExportClaim {
    pub node: String,
    pub now_ms: i64,
    /// Until when it is this node's.
    pub until_ms: i64,
}

/// How far an export is after another part.
#[derive(Clone, Debug)]
pub struct ExportProgress {
    pub day: i64,
    pub kind: String,
    pub fence: i64,
    /// Where it goes on.
    pub place: String,
    /// The part that was written, if that has rows.
    pub part: Option<ExportPart>,
    /// Until when it is this node's.
    pub until_ms: i64,
    /// When it was whole, if it is.
    pub ended_ms: Option<i64>,
}

/// What a claim does: it takes the oldest that nobody has, or that is this node's already.
const TAKE: &str = "UPDATE export_run SET fence = CASE WHEN owner = $1 THEN fence ELSE fence + 1 END, owner = $1, until_ms = $3 \
     WHERE (day, kind) IN (SELECT open.day, open.kind FROM export_run AS open WHERE open.ended_ms IS NULL \
       AND (open.owner = $1 OR open.until_ms <= $2) ORDER BY open.day, open.kind LIMIT 1 {lock free}) RETURNING";

impl Exports<'_> {
    /// The latest day that has exports.
    pub async fn latest_day(self) -> Result<Option<i64>> {
        self.0.db.one("SELECT MAX(day) FROM export_run", &[]).await
    }

    /// Notes that the exports of a day are to be made, once.
    pub async fn plan(
        self,
        day: i64,
        kinds: &[&'static str],
        format: &str,
        now_ms: i64,
    ) -> Result<()> {
        let input = (day, kinds.to_vec(), format.to_owned(), now_ms);
        self.0
            .change(input, |conn, (day, kinds, format, now_ms)| {
                Box::pin(async move {
                    let sql = "INSERT INTO export_run (day, kind, format, place, parts, entries, until_ms, fence, created_ms) \
                         VALUES ($1, $2, $3, '', 0, 0, 0, 0, $4) ON CONFLICT (day, kind) DO NOTHING";
                    for kind in kinds {
                        conn.run(sql, args![*day, *kind, format, *now_ms]).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Takes the oldest export that is not whole and that nobody works on.
    pub async fn claim(self, claim: ExportClaim) -> Result<Option<ExportRun>> {
        // Nearly always there is none, and nobody has to wait for a commit to know.
        let open = "SELECT COUNT(*) FROM export_run WHERE ended_ms IS NULL";
        if self.0.db.one::<i64>(open, &[]).await? == 0 {
            return Ok(None);
        }
        self.0
            .change(claim, |conn, claim| {
                Box::pin(async move {
                    let sql = format!("{TAKE} {COLUMNS}");
                    let values = args![&claim.node, claim.now_ms, claim.until_ms];
                    conn.maybe(&sql, values).await
                })
            })
            .await
    }

    /// Has an export stay this node's for longer; false when it is another node's by now.
    pub async fn renew(self, run: &ExportRun, until_ms: i64) -> Result<bool> {
        let input = (run.clone(), until_ms);
        self.0
            .change(input, |conn, (run, until_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE export_run SET until_ms = $4 WHERE day = $1 AND kind = $2 AND fence = $3 AND ended_ms IS NULL";
                    let values = args![run.day, &run.kind, run.fence, *until_ms];
                    Ok(conn.run(sql, values).await? == 1)
                })
            })
            .await
    }

    /// Notes a part and where the next one begins; false when the export is another node's by now.
    pub async fn record_part(self, progress: ExportProgress) -> Result<bool> {
        self.0
            .change(progress, |conn, progress| {
                Box::pin(async move {
                    let (part, entries) = progress
                        .part
                        .as_ref()
                        .map_or((0, 0), |part| (1, part.entries));
                    let sql = "UPDATE export_run SET place = $4, parts = parts + $5, entries = entries + $6, until_ms = $7, \
                         ended_ms = $8, error = NULL WHERE day = $1 AND kind = $2 AND fence = $3 AND ended_ms IS NULL";
                    let values = args![
                        progress.day,
                        &progress.kind,
                        progress.fence,
                        &progress.place,
                        part,
                        entries,
                        progress.until_ms,
                        progress.ended_ms
                    ];
                    if conn.run(sql, values).await? == 0 {
                        return Ok(false);
                    }
                    if let Some(part) = &progress.part {
                        let sql = "INSERT INTO export_part (day, kind, part, name, hash, bytes, entries) \
                             VALUES ($1, $2, $3, $4, $5, $6, $7)";
                        let values = args![
                            progress.day,
                            &progress.kind,
                            part.part,
                            &part.name,
                            &part.hash,
                            part.bytes,
                            part.entries
                        ];
                        conn.run(sql, values).await?;
                    }
                    Ok(true)
                })
            })
            .await
    }

    /// Notes why an export did not go on; it is tried again when this node's time with it is over.
    pub async fn record_error(self, run: &ExportRun, why: &str, until_ms: i64) -> Result<()> {
        let input = (run.clone(), why.to_owned(), until_ms);
        self.0
            .change(input, |conn, (run, why, until_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE export_run SET error = $4, owner = NULL, until_ms = $5 \
                         WHERE day = $1 AND kind = $2 AND fence = $3 AND ended_ms IS NULL";
                    let values = args![run.day, &run.kind, run.fence, why, *until_ms];
                    conn.run(sql, values).await.map(|_| ())
                })
            })
            .await
    }

    /// The files of an export, in their order.
    pub async fn parts(self, day: i64, kind: &str) -> Result<Vec<ExportPart>> {
        let sql = "SELECT part, name, hash, bytes, entries FROM export_part WHERE day = $1 AND kind = $2 ORDER BY part";
        self.0.db.all(sql, args![day, kind]).await
    }

    /// A page of the exports that were made each day, the latest first, and how many there are.
    pub async fn runs(self, offset: i64, limit: i64) -> Result<(Vec<ExportRun>, i64)> {
        let sql =
            format!("SELECT {COLUMNS} FROM export_run ORDER BY day DESC, kind LIMIT $1 OFFSET $2");
        let rows = self.0.db.all(&sql, args![limit, offset]).await?;
        let total = self
            .0
            .db
            .one("SELECT COUNT(*) FROM export_run", &[])
            .await?;
        Ok((rows, total))
    }
}
