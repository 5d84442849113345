//! Signing in: somebody proves who they are, becomes a person if they may, and has a session. Whoever asks for a link is answered
//! before anybody looks whether there is such a person: that is found out behind the answer, so that nothing about it can be told from
//! the outside.

mod arrival;
mod browser;
#[cfg(feature = "people")]
mod known_providers;
mod link_queue;
mod links;
#[cfg(feature = "people")]
mod oidc;
#[cfg(feature = "people")]
mod provider_calls;
mod service;
#[cfg(not(feature = "people"))]
mod unavailable;

pub use arrival::SignedIn;
pub(crate) use browser::SIGN_IN_MS;
pub use browser::{ProviderReturn, SignInBrowser};
pub use link_queue::LinkRequest;
pub use links::LinkPage;
pub use service::SignIns;
