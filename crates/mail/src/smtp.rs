//! The way to a mail server: SMTP with TLS, unless its address says otherwise. Every letter has a connection of its own, and so much
//! time and no more.

use std::time::{Duration, SystemTime};

use lettre::address::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use url::Url;

use crate::letter::{Letter, one_line};
use crate::mail_error::MailError;
use crate::settings::MailSettings;

/// How long a server may take for one step.
const STEP: Duration = Duration::from_secs(10);
/// How long it may take for a letter.
const WHOLE: Duration = Duration::from_secs(30);
/// Asks programs that answer by themselves not to.
const AUTOMATIC: &str = "Auto-Submitted";

const WRONG_URL: &str = "mail.url: must be smtp://user:password@host:587, smtps://… where TLS comes first, or smtp://host:25?tls=off \
     for a server beside this one";

/// A mail server that takes letters.
pub struct MailServer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl std::fmt::Debug for MailServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MailServer").field(&self.from).finish()
    }
}

impl MailServer {
    /// The server of the settings; `None` when there is none. Nobody is asked yet.
    pub fn connect(settings: &MailSettings) -> Result<Option<Self>, String> {
        if settings.url.is_empty() {
            return Ok(None);
        }
        let from: Mailbox = settings.from.parse().map_err(|_| {
            "mail.from: must be an address, as `Atelier <atelier@example.com>`".to_owned()
        })?;
        let url: Url = settings
            .url
            .reveal()
            .parse()
            .map_err(|_| WRONG_URL.to_owned())?;
        let host = url.host_str().ok_or(WRONG_URL)?;
        let tls = || TlsParameters::new(host.to_owned()).map_err(|why| format!("mail.url: {why}"));
        let off = match url.query() {
            None => false,
            Some("tls=off") => true,
            Some(_) => return Err(WRONG_URL.to_owned()),
        };
        let (tls, port) = match (url.scheme(), off) {
            ("smtp", true) => (Tls::None, 25),
            ("smtp", false) => (Tls::Required(tls()?), 587),
            ("smtps", false) => (Tls::Wrapper(tls()?), 465),
            _ => return Err(WRONG_URL.to_owned()),
        };
        let name = from.email.domain().to_owned();
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)
            .port(url.port().unwrap_or(port))
            .tls(tls)
            .hello_name(ClientId::Domain(name))
            .timeout(Some(STEP));
        if !url.username().is_empty() {
            let decoded = |text: &str| {
                let text = percent_decode_str(text).decode_utf8();
                text.map(String::from).map_err(|_| WRONG_URL.to_owned())
            };
            let password = decoded(url.password().unwrap_or_default())?;
            builder = builder.credentials(Credentials::new(decoded(url.username())?, password));
        }
        Ok(Some(Self {
            transport: builder.build(),
            from,
        }))
    }

    /// Sends a letter under an identifier, which must be used once, at a moment.
    pub async fn send(&self, letter: &Letter, id: &str, now_ms: i64) -> Result<(), MailError> {
        let message = self.message(letter, id, now_ms)?;
        match timeout(WHOLE, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(MailError {
                is_final: error.is_permanent(),
                what: described(&error),
            }),
            Err(_) => Err(MailError {
                is_final: false,
                what: format!("the mail server took longer than {} s", WHOLE.as_secs()),
            }),
        }
    }

    fn message(&self, letter: &Letter, id: &str, now_ms: i64) -> Result<Message, MailError> {
        let unusable = |what: String| MailError {
            is_final: true,
            what,
        };
        let to: Address = letter
            .to
            .as_str()
            .parse()
            .map_err(|why| unusable(format!("an address cannot be written to: {why}")))?;
        let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(now_ms.max(0) as u64);
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(letter.subject_line())
            .date(moment)
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())));
        let parts = MultiPart::alternative_plain_html(letter.plain(), letter.html());
        let mut message = message
            .multipart(parts)
            .map_err(|why| unusable(format!("a letter cannot be written: {why}")))?;
        let automatic = HeaderName::new_from_ascii_str(AUTOMATIC);
        let value = HeaderValue::new(automatic, "auto-generated".to_owned());
        message.headers_mut().insert_raw(value);
        Ok(message)
    }
}

/// What went wrong, with what lies beneath it, as one line.
fn described(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!(": {cause}"));
        source = cause.source();
    }
    one_line(&text)
}

#[cfg(test)]
mod tests {
    use atelier_contract::Secret;
    use atelier_contract::fields::MailAddress;
    use atelier_contract::pages::people::Language;

    use super::*;

    fn server(url: &str) -> Result<Option<MailServer>, String> {
        MailServer::connect(&MailSettings {
            url: Secret::new(url.to_owned()),
            from: "Atelier <atelier@example.com>".into(),
        })
    }

    #[test]
    fn a_server_is_spoken_to_with_tls_unless_its_address_says_otherwise() {
        assert!(server("").expect("none").is_none());
        for good in [
            "smtp://mail.example.com",
            "smtp://user:p%40ss@mail.example.com:2587",
            "smtps://mail.example.com",
            "smtp://127.0.0.1:2525?tls=off",
        ] {
            assert!(server(good).expect(good).is_some(), "{good}");
        }
        for wrong in [
            "mail.example.com",
            "http://mail.example.com",
            "smtps://mail.example.com?tls=off",
            "smtp://mail.example.com?tls=maybe",
            "smtp:",
        ] {
            let why = server(wrong).expect_err(wrong);
            assert!(why.starts_with("mail.url"), "{why}");
        }
    }

    /// The promise: nothing that somebody is called becomes a header.
    #[test]
    fn a_letter_has_the_headers_that_it_is_given_and_no_other() {
        let server = server("smtp://127.0.0.1:2525?tls=off")
            .expect("good")
            .expect("one");
        let letter = Letter {
            to: MailAddress::parse("ada@example.com").expect("an address"),
            language: Language::English,
            subject: "Invitation from x\r\nBcc: eve@example.com\r\n\r\nhello ünï".into(),
            title: "x".into(),
            paragraphs: Vec::new(),
            link: None,
            note: String::new(),
        };
        let message = server.message(&letter, "1", 0).expect("a message");
        let text = String::from_utf8(message.formatted()).expect("ASCII");
        let (head, _) = text.split_once("\r\n\r\n").expect("a head");
        let names: Vec<&str> = head
            .split("\r\n")
            .filter(|line| !line.starts_with([' ', '\t']))
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name)
            .collect();
        let expected = [
            "From",
            "To",
            "Subject",
            "Date",
            "Message-ID",
            "MIME-Version",
            "Content-Type",
            "Auto-Submitted",
        ];
        assert_eq!(names, expected, "{head}");
        assert_eq!(message.envelope().to().len(), 1);
    }
}
