//! Links: whoever has one may see a file. A link is written on the row of its file, so that it ends with the file
//! and there is one at the most.

use crate::Result;
use crate::assets::Assets;
use crate::changes::asset::{ASSET_COLUMNS, Asset};
use crate::db::args;
use crate::row::{Columns, FromRow};

/// A link to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub id: String,
    /// When its address ends.
    pub ends_ms: i64,
    pub asset: Asset,
}

impl FromRow for Link {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            ends_ms: columns.int()?,
            asset: Asset::read(columns)?,
        })
    }
}

/// A link to be made.
#[derive(Clone, Debug)]
pub struct NewLink {
    pub id: String,
    pub account_id: String,
    /// The key of the file.
    pub key: String,
    pub ends_ms: i64,
    pub now_ms: i64,
}

impl Assets<'_> {
    /// Links to a file of an account that has not expired, no longer than it is kept; an earlier link to it ends. `None`
    /// without such a file.
    pub async fn link(self, link: NewLink) -> Result<Option<Link>> {
        self.0
            .change(link, |conn, link| {
                Box::pin(async move {
                    let sql = format!(
                        "UPDATE asset SET link_id = $1, \
                         link_ends_ms = CASE WHEN expires_ms < $2 THEN expires_ms ELSE $2 END \
                         WHERE key = $3 AND account_id = $4 AND expires_ms > $5 \
                         RETURNING link_id, link_ends_ms, {ASSET_COLUMNS}"
                    );
                    let values = args![
                        &link.id,
                        link.ends_ms,
                        &link.key,
                        &link.account_id,
                        link.now_ms
                    ];
                    conn.maybe(&sql, values).await
                })
            })
            .await
    }

    /// Ends a link of an account; whether there was one.
    pub async fn unlink(self, account_id: &str, id: &str) -> Result<bool> {
        let input = (account_id.to_owned(), id.to_owned());
        self.0
            .change(input, |conn, (account_id, id)| {
                Box::pin(async move {
                    let sql = "UPDATE asset SET link_id = NULL, link_ends_ms = NULL \
                         WHERE link_id = $1 AND account_id = $2";
                    let ended = conn.run(sql, args![&*id, &*account_id]).await?;
                    Ok(ended > 0)
                })
            })
            .await
    }

    /// The link with an identifier, while it and its file last.
    pub async fn linked(self, id: &str, now_ms: i64) -> Result<Option<Link>> {
        let sql = format!(
            "SELECT link_id, link_ends_ms, {ASSET_COLUMNS} FROM asset \
             WHERE link_id = $1 AND link_ends_ms > $2 AND expires_ms > $2"
        );
        self.0.db.maybe(&sql, args![id, now_ms]).await
    }

    /// A page of an account's links that last, those that end first behind, and how many there are.
    pub async fn links(
        self,
        account_id: &str,
        now_ms: i64,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Link>, i64)> {
        const WHICH: &str = "FROM asset WHERE account_id = $1 AND link_id IS NOT NULL \
             AND link_ends_ms > $2 AND expires_ms > $2";
        let total = format!("SELECT COUNT(*) {WHICH}");
        let reader = self.0.db.of(Some(account_id));
        let total = reader.one(&total, args![account_id, now_ms]).await?;
        let page = format!(
            "SELECT link_id, link_ends_ms, {ASSET_COLUMNS} {WHICH} \
             ORDER BY link_ends_ms DESC, link_id DESC LIMIT $3 OFFSET $4"
        );
        let values = args![account_id, now_ms, limit, offset];
        Ok((reader.all(&page, values).await?, total))
    }
}
