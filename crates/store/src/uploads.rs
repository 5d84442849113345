//! Uploads: files that callers sent to be used as inputs. They are assets with an identifier of their own, and end like
//! every other file.

use crate::Result;
use crate::assets::Assets;
use crate::batch::ledger_batch::storage_limit;
use crate::changes::asset::{ASSET_COLUMNS, Asset, NewAsset};
use crate::db::args;
use crate::row::{Columns, FromRow};

/// A file that a caller uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub id: String,
    pub asset: Asset,
}

impl FromRow for Upload {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            asset: Asset::read(columns)?,
        })
    }
}

impl Assets<'_> {
    /// Records an upload before it is stored. Nothing is recorded when there is no room for it: how much may be kept,
    /// which is so much unless the account's row says otherwise.
    pub async fn note_upload(
        self,
        id: &str,
        asset: NewAsset,
        max_storage: i64,
    ) -> Result<std::result::Result<(), i64>> {
        let input = (id.to_owned(), asset, max_storage);
        self.0.change_alone_in(self.0.try_write_slot()?, input, |conn, (id, asset, max_storage)| {
            Box::pin(async move {
                // Locked, so that two nodes cannot both give away the last room.
                let sql = "SELECT max_storage, COALESCE((SELECT bytes FROM stored WHERE account_id = account.id), 0) + words \
                     FROM account WHERE id = $1 {lock}";
                let standing: Option<(i64, i64)> =
                    conn.maybe(sql, args![&asset.account_id]).await?;
                let (own, stored) = standing.unwrap_or_default();
                let most = storage_limit(own, *max_storage);
                if stored + asset.bytes > most {
                    return Ok(Err(most));
                }
                let sql = "INSERT INTO asset (upload_id, key, job_id, account_id, media_type, bytes, expires_ms, \
                     created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
                let values = args![
                    &*id,
                    &asset.key,
                    &asset.job_id,
                    &asset.account_id,
                    &asset.media_type,
                    asset.bytes,
                    asset.expires_ms,
                    asset.created_ms
                ];
                conn.run(sql, values).await.map(|_| Ok(()))
            })
        })
        .await
    }

    /// A page of an account's uploads that have not expired, newest first, and how many there are.
    pub async fn uploads(
        self,
        account_id: &str,
        now_ms: i64,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Upload>, i64)> {
        const WHICH: &str =
            "FROM asset WHERE account_id = $1 AND upload_id IS NOT NULL AND expires_ms > $2";
        let total = format!("SELECT COUNT(*) {WHICH}");
        let reader = self.0.db.of(Some(account_id));
        let total = reader.one(&total, args![account_id, now_ms]).await?;
        let page = format!(
            "SELECT upload_id, {ASSET_COLUMNS} {WHICH} ORDER BY created_ms DESC, upload_id DESC LIMIT $3 OFFSET $4"
        );
        let values = args![account_id, now_ms, limit, offset];
        Ok((reader.all(&page, values).await?, total))
    }

    /// Has an upload of an account expire at once; whether there was one.
    pub async fn drop_upload(self, account_id: &str, id: &str, now_ms: i64) -> Result<bool> {
        let input = (account_id.to_owned(), id.to_owned(), now_ms);
        self.0
            .change_alone(input, |conn, (account_id, id, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE asset SET expires_ms = 0 \
                     WHERE upload_id = $1 AND account_id = $2 AND expires_ms > $3";
                    let dropped = conn.run(sql, args![&*id, &*account_id, *now_ms]).await?;
                    Ok(dropped > 0)
                })
            })
            .await
    }
}
