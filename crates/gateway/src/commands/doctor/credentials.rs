//! Whether what is made carries Content Credentials, and by whose certificate.

use atelier_engine::credentials::Signatory;
use atelier_engine::{Clock, Keyring};

use super::certificate;
use super::finding::Finding;
use crate::app::{self, Store};
use crate::config::Config;

const WHAT: &str = "credentials";
/// With less than this an operator should see to the next certificate.
const SOON_DAYS: i64 = 30;

/// Looks at what signs.
pub(super) async fn check(config: &Config, store: &Store, master_key: [u8; 32]) -> Finding {
    if !config.credentials.enabled {
        return Finding::good(
            WHAT,
            "disabled by credentials.enabled: results are not marked as generated",
        );
    }
    if !Signatory::BUILT && app::is_own(config) {
        let remedy =
            "use the packages, or build with `cargo build --release --features credentials`";
        let found = "none: this program was built without the feature `credentials`, so results are not marked as generated";
        return Finding::fair(WHAT, found, remedy);
    }
    let keyring = Keyring::new(master_key);
    let chain = match app::chain(config, store, &keyring).await {
        Ok(Some(chain)) => chain,
        Ok(None) => return Finding::good(WHAT, "none"),
        Err(error) => {
            return Finding::bad(WHAT, format!("{error:#}"), "correct the named setting");
        }
    };
    let signatory = match Signatory::new(&chain) {
        Ok(signatory) => signatory,
        Err(error) => {
            let remedy = "check that credentials.certificate is a chain for signing documents and credentials.key its key";
            return Finding::bad(WHAT, error.to_string(), remedy);
        }
    };
    let whose = if app::is_own(config) {
        "the service's own certificate, which is on no trust list"
    } else {
        "the operator's certificate"
    };
    let left = certificate::days_left_in(&chain.certificates, Clock::System.now_ms());
    let days = left.map_or("an unknown number of".to_owned(), |days| days.to_string());
    let found = format!("{}: {whose}, {days} days left", signatory.subject());
    if left.is_none_or(|days| days < SOON_DAYS) {
        return Finding::fair(
            WHAT,
            found,
            "install the next certificate and restart the service",
        );
    }
    Finding::good(WHAT, found)
}
