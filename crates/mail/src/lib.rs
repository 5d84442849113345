//! E-mail that goes out: a letter is one layout, written as plain text and as HTML, and a mail server takes it by SMTP.
//!
//! Invariants: nothing of a letter can become a header of its message; the crate knows neither who writes nor why, and reads no clock.

mod layout;
mod letter;
mod mail_error;
mod settings;
#[cfg(feature = "smtp")]
mod smtp;
#[cfg(not(feature = "smtp"))]
mod unavailable;

pub use letter::{Letter, LetterLink};
pub use mail_error::MailError;
pub use settings::MailSettings;
#[cfg(feature = "smtp")]
pub use smtp::MailServer;
#[cfg(not(feature = "smtp"))]
pub use unavailable::NoMailServer as MailServer;
