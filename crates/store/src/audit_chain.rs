//! The chain of the audit list: every act carries a number and the hash of the act before it, and one row knows both
//! ends. Whoever changes, removes or slips in an act has to redo everything after it.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::Result;
use crate::audit::{AUDIT_COLUMNS, Admin, AuditRow};
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};

/// Acts read at once.
const PAGE: i64 = 500;

const ENDS: &str = "SELECT oldest, newest, hash FROM audit_chain WHERE id = 1";

/// Both ends of the chain.
struct ChainEnds {
    oldest: i64,
    newest: i64,
    hash: String,
}

impl FromRow for ChainEnds {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            oldest: columns.int()?,
            newest: columns.int()?,
            hash: columns.text()?,
        })
    }
}

/// An act in its place.
struct ChainEntry {
    number: i64,
    previous: String,
    act: AuditRow,
}

impl FromRow for ChainEntry {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            number: columns.int()?,
            previous: columns.text()?,
            act: AuditRow::read(columns)?,
        })
    }
}

/// Adds an act at the end of the chain. The row of its ends is locked, so that nodes write one after the other.
pub(crate) async fn append(conn: &mut Conn, act: &AuditRow) -> Result<()> {
    let ends: Option<ChainEnds> = conn.maybe(&format!("{ENDS} {{lock}}"), &[]).await?;
    let (number, previous) = ends.map_or((1, String::new()), |ends| (ends.newest + 1, ends.hash));
    let sql = "INSERT INTO audit (id, time_ms, actor, action, target, detail, number, previous) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let args = args![
        &act.id,
        act.time_ms,
        &act.actor,
        &act.action,
        &act.target,
        &act.detail,
        number,
        &previous
    ];
    conn.run(sql, args).await?;
    let hash = hash(number, &previous, act);
    let sql = "UPDATE audit_chain SET newest = $1, hash = $2 WHERE id = 1";
    conn.run(sql, args![number, &hash]).await.map(|_| ())
}

/// Notes that the oldest acts were deleted.
pub(crate) async fn record_truncation(conn: &mut Conn) -> Result<()> {
    let sql = "UPDATE audit_chain SET oldest = \
         COALESCE((SELECT MIN(number) FROM audit), newest + 1) WHERE id = 1";
    conn.run(sql, &[]).await.map(|_| ())
}

/// The hash of an act in its place. Every part has its length in front, so that no two acts read the same.
fn hash(number: i64, previous: &str, act: &AuditRow) -> String {
    let (number, time) = (number.to_string(), act.time_ms.to_string());
    let parts = [
        number.as_str(),
        previous,
        &act.id,
        &time,
        &act.actor,
        &act.action,
        &act.target,
        &act.detail,
    ];
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(format!("{}:", part.len()));
        digest.update(part);
    }
    let digest = digest.finalize();
    digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Admin<'_> {
    /// Follows the chain of acts from its oldest to its newest; what is wrong with it in words, empty when all is well.
    pub async fn check_audit(self) -> Result<Vec<String>> {
        let ends: Option<ChainEnds> = self.0.db.maybe(ENDS, &[]).await?;
        let Some(ends) = ends else {
            return Ok(vec!["audit: the ends of the chain are not known".into()]);
        };
        let mut walk = ChainCheck::default();
        let sql = format!(
            "SELECT number, previous, {AUDIT_COLUMNS} FROM audit \
             WHERE number > $1 AND number <= $2 ORDER BY number LIMIT $3"
        );
        loop {
            let values = args![walk.number, ends.newest, PAGE];
            let page: Vec<ChainEntry> = self.0.db.all(&sql, values).await?;
            for link in &page {
                walk.step(link);
            }
            if (page.len() as i64) < PAGE {
                break;
            }
        }
        // Asked after the walk: acts may have grown too old in between.
        let now: Option<ChainEnds> = self.0.db.maybe(ENDS, &[]).await?;
        let oldest = now.map_or(ends.oldest, |now| now.oldest);
        walk.finish(&ends, oldest);
        Ok(walk.faults)
    }
}

/// A walk along the chain.
#[derive(Default)]
struct ChainCheck {
    /// The first act there was.
    first: Option<i64>,
    /// The act that was looked at last, and its hash.
    number: i64,
    hash: String,
    faults: Vec<String>,
}

impl ChainCheck {
    fn step(&mut self, link: &ChainEntry) {
        let (number, id) = (link.number, &link.act.id);
        if self.first.is_none() {
            self.first = Some(number);
        } else if number != self.number + 1 {
            let from = self.number + 1;
            self.faults
                .push(format!("audit: acts {from} to {} are missing", number - 1));
        } else if link.previous != self.hash {
            self.faults.push(format!(
                "audit: act {number} ({id}) does not follow from the act before it, which was changed"
            ));
        }
        (self.number, self.hash) = (number, hash(number, &link.previous, &link.act));
    }

    fn finish(&mut self, ends: &ChainEnds, oldest: i64) {
        let first = self.first.unwrap_or(self.number + 1);
        if self.first.is_some() && first > oldest {
            self.faults
                .push(format!("audit: acts {oldest} to {} are missing", first - 1));
        }
        let kept = oldest <= ends.newest;
        if kept && self.number < ends.newest {
            let from = self.number.max(oldest - 1) + 1;
            self.faults
                .push(format!("audit: acts {from} to {} are missing", ends.newest));
        } else if kept && self.hash != ends.hash {
            let number = self.number;
            self.faults
                .push(format!("audit: act {number}, the newest, was changed"));
        }
    }
}
