//! Settings: small named texts the nodes share.

use crate::db::args;
use crate::{Error, Result, Store};

impl Store {
    /// The value of a setting.
    pub async fn setting(&self, name: &str) -> Result<Option<String>> {
        self.db()
            .maybe("SELECT value FROM setting WHERE name = $1", args![name])
            .await
    }

    /// Stores a setting.
    pub async fn put_setting(&self, name: &str, value: &str) -> Result<()> {
        self.change(
            (name.to_owned(), value.to_owned()),
            |conn, (name, value)| {
                Box::pin(async move {
                    let sql = "INSERT INTO setting (name, value) VALUES ($1, $2) \
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                    conn.run(sql, args![name, value]).await.map(|_| ())
                })
            },
        )
        .await
    }

    /// Stores a setting unless there is one; the value that stands.
    pub async fn put_setting_if_absent(&self, name: &str, value: &str) -> Result<String> {
        self.change(
            (name.to_owned(), value.to_owned()),
            |conn, (name, value)| {
                Box::pin(async move {
                    let sql = "INSERT INTO setting (name, value) VALUES ($1, $2) \
                     ON CONFLICT (name) DO NOTHING";
                    conn.run(sql, args![name, value]).await?;
                    let stands = "SELECT value FROM setting WHERE name = $1";
                    conn.maybe(stands, args![name])
                        .await?
                        .ok_or(Error::NotFound)
                })
            },
        )
        .await
    }

    /// Stores a setting if it still has the value that was read; whether it had.
    pub async fn replace_setting(&self, name: &str, old: &str, new: &str) -> Result<bool> {
        let input = (name.to_owned(), old.to_owned(), new.to_owned());
        self.change(input, |conn, (name, old, new)| {
            Box::pin(async move {
                let sql = "UPDATE setting SET value = $3 WHERE name = $1 AND value = $2";
                Ok(conn.run(sql, args![name, old, new]).await? == 1)
            })
        })
        .await
    }

    /// Every setting whose name begins so, by name.
    pub async fn settings(&self, prefix: &str) -> Result<Vec<(String, String)>> {
        let sql = "SELECT name, value FROM setting WHERE substr(name, 1, length($1)) = $1 \
             ORDER BY name";
        self.db().all(sql, args![prefix]).await
    }
}
