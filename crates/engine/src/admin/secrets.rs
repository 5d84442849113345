//! Changing the master key: every sealed secret is opened with the old key and sealed with the new one, in one commit.

use std::sync::Arc;

use super::receipts::RECEIPT_KEYS;
use crate::assets::{ADDRESS_KEYS, Assets};
use crate::callbacks::CALLBACK_SECRETS;
use crate::certificate::PREFIX as CREDENTIALS;
use crate::context::Context;
use crate::ids::random_bytes;
use crate::keyring::Keyring;
use crate::runner::credential_place;

/// Why secrets were not sealed anew; nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum ResealError {
    /// A secret was sealed with a key that nobody has any more.
    #[error("{0} cannot be opened with the present master key")]
    Unopened(String),
    /// The store did not answer.
    #[error("the database did not respond: {0}")]
    Store(#[from] atelier_store::Error),
}

/// The sealed secrets of the service.
pub struct SealedSecrets {
    context: Arc<Context>,
    assets: Arc<Assets>,
}

impl SealedSecrets {
    pub(super) fn new(context: Arc<Context>, assets: Arc<Assets>) -> Self {
        Self { context, assets }
    }

    /// Seals every stored secret with another master key, together with settings that belong to the change; says how
    /// many secrets there were.
    pub async fn reseal(
        &self,
        by: &str,
        new: &Keyring,
        more: Vec<(String, String)>,
    ) -> Result<usize, ResealError> {
        let (old, new) = (self.context.keyring().sealer(), new.sealer());
        let again = |name: &str, sealed: &str, place: &str| {
            let opened = old.open(sealed, place.as_bytes());
            let opened = opened.map_err(|_| ResealError::Unopened(name.to_owned()))?;
            Ok::<_, ResealError>(new.seal(&opened, place.as_bytes(), random_bytes()))
        };
        let mut credentials = Vec::new();
        for worker in self.context.store().workers().list().await? {
            if !worker.credential.is_empty() {
                let place = credential_place(&worker.id);
                let sealed = again(&place, &worker.credential, &place)?;
                credentials.push((worker.id, sealed));
            }
        }
        let mut settings = Vec::new();
        for prefix in [CALLBACK_SECRETS, ADDRESS_KEYS, CREDENTIALS, RECEIPT_KEYS] {
            for (name, sealed) in self.context.store().settings().list(prefix).await? {
                let sealed = again(&name, &sealed, &name)?;
                settings.push((name, sealed));
            }
        }
        let count = credentials.len() + settings.len();
        // What was derived from the old master key is kept, so that addresses it signed go on working.
        let (name, first) = self.assets.first_address_key();
        if !settings.iter().any(|(known, _)| *known == name) {
            let sealed = new.seal(&first, name.as_bytes(), random_bytes());
            settings.push((name, sealed));
        }
        settings.extend(more);
        let act = self
            .context
            .act(by, "master_key.rotate", "secrets", count.to_string());
        self.context
            .store()
            .workers()
            .reseal(credentials, settings, Some(act))
            .await?;
        Ok(count)
    }

    /// Gives up every stored secret, because the master key that sealed them is lost, together with more settings; how many there were. New
    /// ones are made where the service makes them itself. Credentials of worker accounts stay and have to be entered anew.
    pub async fn abandon(
        &self,
        by: &str,
        more: Vec<String>,
    ) -> Result<usize, atelier_store::Error> {
        let settings = self.context.store().settings();
        let mut names = Vec::new();
        for prefix in [CALLBACK_SECRETS, ADDRESS_KEYS, CREDENTIALS, RECEIPT_KEYS] {
            let found = settings.list(prefix).await?;
            names.extend(found.into_iter().map(|(name, _)| name));
        }
        let count = names.len();
        names.extend(more);
        let act = self
            .context
            .act(by, "master_key.abandon", "secrets", count.to_string());
        settings.remove_all(names, Some(act)).await?;
        Ok(count)
    }
}
