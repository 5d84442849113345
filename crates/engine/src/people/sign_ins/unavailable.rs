//! What stands in for providers in a program that was built without them.

use atelier_contract::{Code, Refusal};

use super::arrival::SignedIn;
use super::browser::{ProviderReturn, SignInBrowser};
use super::service::SignIns;

impl SignIns {
    /// Begins nothing.
    pub async fn begin_oidc(&self, _: &str, _: &SignInBrowser) -> Result<String, Refusal> {
        Err(absent())
    }

    /// Finishes nothing.
    pub async fn finish_oidc(
        &self,
        _: &str,
        _: ProviderReturn,
        _: SignInBrowser,
    ) -> Result<SignedIn, Refusal> {
        Err(absent())
    }
}

fn absent() -> Refusal {
    Refusal::new(
        Code::NotFound,
        "this program was built without the feature `people`",
    )
}
