//! Named operators and viewers beside the one of the configuration, who is called `root`.

use std::sync::Arc;

use atelier_contract::pages::operators::OperatorRole;
use atelier_contract::{Code, Refusal};
use atelier_store::{NewOperator, OperatorRow};

use super::callers::Callers;
use crate::context::{Context, unavailable};
use crate::key;

/// The operator whose token stands in the configuration.
pub const ROOT: &str = "root";
/// Characters of an operator's name at most.
const NAME_MOST: usize = 64;

/// Who looks or acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The name in the audit list.
    pub name: String,
    /// Its permissions.
    pub role: OperatorRole,
    /// The hash of its token, which its sessions are bound to.
    pub hash: String,
}

impl Operator {
    /// The operator of the configuration, by the hash of the token there.
    pub fn root(hash: &str) -> Self {
        Self {
            name: ROOT.to_owned(),
            role: OperatorRole::Operator,
            hash: hash.to_owned(),
        }
    }
}

/// Named operators and viewers.
pub struct Operators {
    context: Arc<Context>,
    callers: Arc<Callers>,
}

impl Operators {
    pub(super) fn new(context: Arc<Context>, callers: Arc<Callers>) -> Self {
        Self { context, callers }
    }

    /// The operator behind a token, unless that is the configuration's.
    pub async fn known(&self, token: &str) -> Result<Option<Operator>, Refusal> {
        if !key::well_formed_operator(token) {
            return Ok(None);
        }
        self.of_hash(&key::hash(token)).await
    }

    /// The operator behind the hash of a token.
    pub(super) async fn of_hash(&self, hash: &str) -> Result<Option<Operator>, Refusal> {
        // Asked every time: operators are few, and a revoked one is out at once on every node.
        let found = self.context.store().admin().operator_for_token(hash).await;
        let Some(row) = found.map_err(unavailable)? else {
            self.callers.unlearn(hash);
            return Ok(None);
        };
        let now_ms = self.context.now_ms();
        if self.callers.is_touch_due(hash) {
            let store = self.context.store().clone();
            self.context.tasks().spawn(async move {
                if let Err(error) = store.admin().touch_operator(&row.id, now_ms).await {
                    tracing::debug!(%error, "the last use of an operator token could not be stored");
                }
            });
        }
        Ok(Some(Operator {
            role: row.role,
            name: row.name,
            hash: hash.to_owned(),
        }))
    }

    /// A new operator with its token, which is shown this once.
    pub async fn create(
        &self,
        by: &str,
        name: &str,
        role: OperatorRole,
    ) -> Result<(OperatorRow, String), Refusal> {
        check_name(name)?;
        let token = key::generate_operator();
        let row = OperatorRow {
            id: self.context.ids().uuid(),
            name: name.to_owned(),
            role,
            prefix: key::display_prefix(&token),
            created_ms: self.context.now_ms(),
            last_used_ms: None,
            revoked_ms: None,
        };
        let new = NewOperator {
            id: row.id.clone(),
            name: row.name.clone(),
            role,
            hash: key::hash(&token),
            prefix: row.prefix.clone(),
            now_ms: row.created_ms,
        };
        let detail = format!("{name}, {}", role.word());
        let act = self.context.act(by, "operator.create", &row.id, &detail);
        let added = self.context.store().admin().add_operator(new, act).await;
        added.map_err(|error| match error {
            atelier_store::Error::Conflict(_) => {
                Refusal::field(Code::Conflict, "name", "is or was the name of an operator")
            }
            other => unavailable(other),
        })?;
        Ok((row, token))
    }

    /// Every operator that was ever made, oldest first.
    pub async fn list(&self) -> Result<Vec<OperatorRow>, Refusal> {
        let rows = self.context.store().admin().operators().await;
        rows.map_err(unavailable)
    }

    /// Revokes an operator's token on every node at once.
    pub async fn revoke(&self, by: &str, id: &str) -> Result<(), Refusal> {
        if id == ROOT {
            return Err(Refusal::new(
                Code::Conflict,
                "root is the token of the configuration (admin_token) and is changed there",
            ));
        }
        let act = self.context.act(by, "operator.revoke", id, "");
        let revoked = self
            .context
            .store()
            .admin()
            .revoke_operator(id, self.context.now_ms(), act)
            .await;
        if revoked.map_err(unavailable)? {
            return Ok(());
        }
        Err(Refusal::new(Code::NotFound, "no such operator"))
    }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-@".contains(&byte);
    if !(1..=NAME_MOST).contains(&name.len()) || !name.bytes().all(plain) {
        return Err(Refusal::invalid(
            "name",
            "must be 1 to 64 characters of a to z, 0 to 9 and . _ - @",
        ));
    }
    if name == ROOT {
        return Err(Refusal::invalid(
            "name",
            "root is the operator of the configuration",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_nobody_else_is_root() {
        for good in ["a", "ada.l@example.com", "night-shift_2", &"x".repeat(64)] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for wrong in [
            "",
            "root",
            "Ada",
            "a b",
            "command line",
            "ä",
            &"x".repeat(65),
        ] {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
    }
}
