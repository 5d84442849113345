//! Why there is no statement.

use atelier_contract::month::Month;
use atelier_contract::{Code, Refusal};

use crate::context::unavailable;

/// Why there is no statement.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    #[error(transparent)]
    Store(#[from] atelier_store::Error),
    #[error("no such account")]
    NoAccount,
    #[error("{0} is not over; its statement can be made five minutes after its end (UTC)")]
    NotOver(Month),
    #[error("the account is younger than {0}")]
    Earlier(Month),
    #[error("the ledger of {0} is in the archive; there is no statement of it")]
    Archived(Month),
    #[error("the ledger of {account_id} for {month} does not add up; run `atelier audit`")]
    Apart { account_id: String, month: Month },
    #[error("statements of months beside {0} are being made; try again")]
    Crossed(Month),
}

impl StatementError {
    /// What a caller is told.
    pub(super) fn refusal(self) -> Refusal {
        let message = self.to_string();
        let code = match self {
            Self::Store(error) => return unavailable(error),
            Self::NoAccount | Self::Earlier(_) => Code::NotFound,
            Self::Apart { .. } => Code::Internal,
            Self::NotOver(_) | Self::Archived(_) | Self::Crossed(_) => Code::Conflict,
        };
        Refusal::new(code, message)
    }
}
