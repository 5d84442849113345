//! Settings: small named texts the nodes share.

use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{args, json};
use crate::store_core::StoreCore;
use crate::{Error, Result};

/// Named values that all nodes share.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a>(pub(crate) &'a StoreCore);

impl Settings<'_> {
    /// The value of a setting.
    pub async fn get(self, name: &str) -> Result<Option<String>> {
        self.0
            .db
            .maybe("SELECT value FROM setting WHERE name = $1", args![name])
            .await
    }

    /// The value of a setting that belongs to an account, read on its behalf.
    pub async fn get_for(self, account_id: &str, name: &str) -> Result<Option<String>> {
        let reader = self.0.db.of(Some(account_id));
        let sql = "SELECT value FROM setting WHERE name = $1";
        reader.maybe(sql, args![name]).await
    }

    pub async fn put(self, name: &str, value: &str) -> Result<()> {
        self.put_all(vec![(name.to_owned(), value.to_owned())], None)
            .await
    }

    /// Stores some settings, all or none.
    pub async fn put_all(
        self,
        settings: Vec<(String, String)>,
        audit: Option<AuditRow>,
    ) -> Result<()> {
        audited_change::run(
            self.0,
            settings,
            audit,
            |conn, settings| {
                Box::pin(async move {
                    let sql = "INSERT INTO setting (name, value) VALUES ($1, $2) \
                         ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                    for (name, value) in settings {
                        conn.run(sql, args![name, value]).await?;
                    }
                    Ok(())
                })
            },
            |()| true,
        )
        .await
    }

    /// Removes settings, with the act of whoever did; how many there were.
    pub async fn remove_all(self, names: Vec<String>, audit: Option<AuditRow>) -> Result<u64> {
        audited_change::run(
            self.0,
            names,
            audit,
            |conn, names| {
                Box::pin(async move {
                    let sql = "DELETE FROM setting WHERE name IN ({list:$1})";
                    conn.run(sql, args![&json(names)]).await
                })
            },
            |_| true,
        )
        .await
    }

    /// Stores a setting unless there is one; the value that stands.
    pub async fn put_if_absent(self, name: &str, value: &str) -> Result<String> {
        self.add(name, value, None).await
    }

    /// Stores a setting unless there is one, and who did it; the value that stands.
    pub async fn add(self, name: &str, value: &str, audit: Option<AuditRow>) -> Result<String> {
        let (stands, _) = audited_change::run(
            self.0,
            (name.to_owned(), value.to_owned()),
            audit,
            |conn, (name, value)| {
                Box::pin(async move {
                    let sql = "INSERT INTO setting (name, value) VALUES ($1, $2) \
                             ON CONFLICT (name) DO NOTHING";
                    let added = conn.run(sql, args![name, value]).await? == 1;
                    let stands = "SELECT value FROM setting WHERE name = $1";
                    let stands = conn.maybe(stands, args![name]).await?;
                    Ok((stands.ok_or(Error::NotFound)?, added))
                })
            },
            |(_, added): &(String, bool)| *added,
        )
        .await?;
        Ok(stands)
    }

    /// Stores a setting if it still has the value that was read, together with the act of whoever did it; whether it had.
    pub async fn replace(
        self,
        name: &str,
        old: &str,
        new: &str,
        act: Option<AuditRow>,
    ) -> Result<bool> {
        let input = (name.to_owned(), old.to_owned(), new.to_owned());
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (name, old, new)| {
                Box::pin(async move {
                    let sql = "UPDATE setting SET value = $3 WHERE name = $1 AND value = $2";
                    Ok(conn.run(sql, args![name, old, new]).await? == 1)
                })
            },
            |replaced| *replaced,
        )
        .await
    }

    /// Every setting whose name begins so, by name.
    pub async fn list(self, prefix: &str) -> Result<Vec<(String, String)>> {
        let sql = "SELECT name, value FROM setting WHERE substr(name, 1, length($1)) = $1 \
             ORDER BY name";
        self.0.db.all(sql, args![prefix]).await
    }
}
