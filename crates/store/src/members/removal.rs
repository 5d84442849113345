//! What goes with a member: its keys and its sessions. Its jobs go on, and what they hold is counted until they end.

use crate::Result;
use crate::db::{Conn, args};
use crate::keys;

/// A member whose account is locked, and who is one no more from now on.
#[derive(Clone, Copy)]
pub(crate) struct MemberEnd<'a> {
    pub(crate) account_id: &'a str,
    pub(crate) member_id: &'a str,
    pub(crate) now_ms: i64,
}

/// Ends a member; the hashes of the keys that work no more.
pub(crate) async fn end(conn: &mut Conn, end: MemberEnd<'_>) -> Result<Vec<String>> {
    let MemberEnd {
        account_id,
        member_id,
        now_ms,
    } = end;
    let sql = "DELETE FROM console_session WHERE key_hash = (SELECT hash FROM api_key WHERE account_id = $1 AND id = $2)";
    conn.run(sql, args![account_id, member_id]).await?;
    let sql = "UPDATE member SET removed_ms = $3 WHERE account_id = $1 AND id = $2 AND removed_ms IS NULL";
    conn.run(sql, args![account_id, member_id, now_ms]).await?;
    keys::end_line(conn, account_id, member_id, now_ms).await
}

/// Whether a member of an account whose row is locked is its only owner.
pub(crate) async fn is_last_owner(
    conn: &mut Conn,
    account_id: &str,
    member_id: &str,
) -> Result<bool> {
    let sql = "SELECT id FROM member WHERE account_id = $1 AND removed_ms IS NULL AND role = 'owner' ORDER BY id LIMIT 2";
    let owners: Vec<String> = conn.all(sql, args![account_id]).await?;
    Ok(owners == [member_id])
}

/// Whether nobody else is a member of the account.
pub(crate) async fn is_alone(conn: &mut Conn, account_id: &str, member_id: &str) -> Result<bool> {
    let sql =
        "SELECT COUNT(*) FROM member WHERE account_id = $1 AND removed_ms IS NULL AND id <> $2";
    let others: Option<i64> = conn.maybe(sql, args![account_id, member_id]).await?;
    Ok(others == Some(0))
}
