//! Where in the ledger of an account a moment is.

use crate::Result;
use crate::db::args;
use crate::readers::Reader;

/// The number of the first row of an account at a moment or later. Rows are written in the order of time but for what clocks were put
/// back; halving finds it among any number of them.
pub(crate) async fn first_at(
    reader: &Reader<'_>,
    account_id: &str,
    at_ms: i64,
    entries: i64,
) -> Result<i64> {
    let (mut low, mut high) = (1, entries + 1);
    let sql =
        "SELECT time_ms FROM ledger WHERE account_id = $1 AND number >= $2 ORDER BY number LIMIT 1";
    while low < high {
        let middle = low + (high - low) / 2;
        let time_ms: Option<i64> = reader.maybe(sql, args![account_id, middle]).await?;
        if time_ms.is_some_and(|time_ms| time_ms < at_ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
