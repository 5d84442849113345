//! A build that cannot sign.

use super::statement::{Chain, CredentialsError, Ingredient, Statement};

/// Nobody: there is none in this build.
#[derive(Debug)]
pub enum AbsentSignatory {}

impl AbsentSignatory {
    /// Whether this build can sign.
    pub const BUILT: bool = false;

    /// Says that this build cannot sign.
    pub fn new(_: &Chain) -> Result<Self, CredentialsError> {
        Err(CredentialsError::NotBuilt)
    }

    /// Whom the certificate names.
    pub fn subject(&self) -> &str {
        match *self {}
    }

    /// Never called: no value of this type exists.
    pub fn sign(
        &self,
        _: &[u8],
        _: &str,
        _: &Statement<'_>,
        _: &[Ingredient<'_>],
    ) -> Result<Vec<u8>, CredentialsError> {
        match *self {}
    }
}

/// Says that this build makes no certificates.
pub fn own_chain(_: &str, _: i64) -> Result<Chain, CredentialsError> {
    Err(CredentialsError::NotBuilt)
}
