//! Proofs of who somebody is: a provider of OpenID Connect vouches for them. What that means here is others' business.
//!
//! Invariants: the crate reaches nobody by itself, stores nothing and reads no clock: calls, states and moments are given.

#[cfg(feature = "oidc")]
mod oidc;

#[cfg(feature = "oidc")]
pub use oidc::{
    AuthorizedVisitor, BegunAuthorization, CallError, OidcAnswer, OidcClient, OidcError, Provider,
    ProviderCall, ProviderRequest, ProviderResponse,
};
