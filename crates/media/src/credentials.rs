//! Content Credentials: a signed manifest (C2PA) inside a picture or clip that says how it came to be. Signing is the
//! feature `credentials`; without it there is no signatory, and files go on as they are.

#[cfg(not(feature = "credentials"))]
mod absent;
mod marks;
#[cfg(feature = "credentials")]
mod self_signed;
#[cfg(feature = "credentials")]
mod signing;
mod statement;
#[cfg(feature = "credentials")]
mod words;

#[cfg(not(feature = "credentials"))]
pub use absent::{AbsentSignatory as Signatory, own_chain};
pub use marks::{can_carry, carries_manifest};
#[cfg(feature = "credentials")]
pub use self_signed::own_chain;
#[cfg(feature = "credentials")]
pub use signing::Signatory;
pub use statement::{Act, Chain, CredentialsError, Ingredient, Relation, Statement};
