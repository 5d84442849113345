//! Models that are not official are run by a version and not by their names: the latest one is looked up when a name is
//! refused, and remembered until it is refused itself.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::backend::{Acceptance, Fault};
use crate::http::{VendorHttp, VendorRequest, encoded};

/// Names that are remembered; routes may lead to any.
const MOST: usize = 200;

/// The latest versions of models, by their names.
#[derive(Debug, Default)]
pub(super) struct LatestVersions(Mutex<BTreeMap<String, String>>);

impl LatestVersions {
    /// What a model is run by: its name, until that was refused.
    pub(super) fn of(&self, name: &str) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).map_or(name, String::as_str).to_owned()
    }

    /// The latest version of the model that was refused under a name or under the version that was remembered for it; `None`
    /// where there is no other. A vendor that cannot be asked just now has not said that it does not know the model.
    pub(super) async fn latest(
        &self,
        http: &VendorHttp,
        refused: &str,
    ) -> Result<Option<String>, Fault> {
        let Some(name) = self.name_of(refused) else {
            return Ok(None);
        };
        let Some((owner, model)) = name.split_once('/') else {
            return Ok(None);
        };
        let path = format!("models/{}/{}", encoded(owner), encoded(model));
        let answer = http.ask(VendorRequest::get(path)).await;
        let body = match answer.and_then(|answer| answer.document()) {
            Ok(body) => body,
            // Nothing was ordered by the question.
            Err(fault) if fault.class.may_pass() => {
                let taken = Acceptance::No;
                return Err(Fault { taken, ..fault });
            }
            Err(_) => return Ok(None),
        };
        Ok(self.remembered(&name, refused, &body))
    }

    /// The version that a model's document names, if it is another than the refused one.
    fn remembered(&self, name: &str, refused: &str, body: &Value) -> Option<String> {
        let latest = body["latest_version"]["id"].as_str()?;
        if latest == refused {
            return None;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(name.to_owned(), latest.to_owned());
        Some(latest.to_owned())
    }

    fn name_of(&self, refused: &str) -> Option<String> {
        if refused.contains('/') {
            return Some(refused.to_owned());
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(_, version)| *version == refused);
        found.map(|(name, _)| name.clone())
    }
}
