//! Sign-in by e-mail: a link works once, for a quarter of an hour, and in the browser in which it was asked for. In another browser it
//! shows a code to type in the first one. Whoever only looks at a link, as programs do that check mail, uses nothing up.

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::people::Language;
use atelier_contract::{Code, Refusal};
use atelier_store::{PendingInvitation, Person, SignInRow};
use subtle::ConstantTimeEq as _;
use tokio::sync::Notify;

use super::arrival::{Entrance, SignedIn};
use super::browser::{SIGN_IN_MS, SignInBrowser};
use super::link_queue::{AskedLink, LinkRequest};
use super::service::SignIns;
use crate::context::unavailable;
use crate::key;
use crate::people::letters::{self, LetterContext};

/// What links are called among sign-ins, and sessions that were opened with one.
const LINK: &str = "link";
/// Wrong codes after which a browser has to ask for another link.
const WRONG_MOST: i64 = 5;
/// Digits of a code.
const DIGITS: usize = 8;

/// What stands behind the link of an e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkPage {
    /// A sign-in of this browser: a button finishes it.
    Here { email: String },
    /// A sign-in of another browser, where this code is to be typed.
    Elsewhere { code: String },
    /// An invitation of somebody who is no person yet: a button accepts it.
    Invitation {
        email: String,
        account: Option<String>,
    },
    /// An invitation of a person, who signs in first.
    KnownInvitation {
        email: String,
        account: Option<String>,
    },
    /// The link is over, was used, or never was.
    Over,
}

impl SignIns {
    /// Begins a sign-in by link. What is answered, and when, is the same for every address.
    pub async fn ask_link(
        &self,
        request: LinkRequest,
        browser: &SignInBrowser,
    ) -> Result<(), Refusal> {
        let (context, word) = (&self.deps.context, key::generate_session());
        let now_ms = context.now_ms();
        let row = SignInRow {
            hash: key::hash(&word),
            kind: LINK.to_owned(),
            browser_hash: browser.hash(),
            person_id: None,
            email: Some(request.email.as_str().to_owned()),
            language: request.language.word().to_owned(),
            state: None,
            tries: 0,
            created_ms: now_ms,
        };
        let begun = context.store().people().sign_ins().begin(row).await;
        begun.map_err(unavailable)?;
        self.links.push(AskedLink {
            request,
            word,
            until_ms: now_ms + SIGN_IN_MS,
        });
        Ok(())
    }

    /// What wakes whoever sends links.
    pub(crate) fn hint(&self) -> &Notify {
        self.links.hint()
    }

    /// Sends the link that was asked for first, if it is for anybody; whether there was one.
    pub(crate) async fn send_link(&self) -> Result<bool, atelier_store::Error> {
        let Some(asked) = self.links.pop() else {
            return Ok(false);
        };
        let context = &self.deps.context;
        let address = &asked.request.email;
        let known = context.store().people().by_email(&address.key()).await?;
        let may = self.may_enter(address).await;
        if !may.is_ok_and(|may| may) {
            return Ok(true);
        }
        let language = known
            .as_ref()
            .and_then(|person| Language::from_word(&person.language));
        let to = LetterContext {
            to: address.clone(),
            language: language.unwrap_or(asked.request.language),
            base_url: &context.settings().urls.base,
        };
        let letter = match known {
            Some(_) => letters::sign_in(&to, &asked.word),
            None => letters::sign_up(&to, &asked.word),
        };
        self.deps.mail.post(letter, asked.until_ms);
        Ok(true)
    }

    /// What stands behind a link, for a browser that has such a word or none. Looking changes nothing.
    pub async fn look(&self, word: &str, browser: Option<&str>) -> Result<LinkPage, Refusal> {
        if !key::well_formed_session(word) {
            return Ok(LinkPage::Over);
        }
        let hash = key::hash(word);
        if let Some(row) = self.begun(&hash).await? {
            let is_here = browser.is_some_and(|word| key::hash(word) == row.browser_hash);
            return Ok(if is_here {
                LinkPage::Here {
                    email: row.email.unwrap_or_default(),
                }
            } else {
                LinkPage::Elsewhere {
                    code: self.code(&row.hash),
                }
            });
        }
        let Some((invitation, person)) = self.invited(&hash).await? else {
            return Ok(LinkPage::Over);
        };
        let (email, account) = (invitation.invitation.email, invitation.account);
        Ok(match person {
            None => LinkPage::Invitation { email, account },
            Some(_) => LinkPage::KnownInvitation { email, account },
        })
    }

    /// Signs in by the word of a link or by the code that it shows elsewhere, in the browser that asked for it; or by the word of an
    /// invitation, whoever is no person yet.
    pub async fn open_link(
        &self,
        given: &str,
        language: Language,
        browser: SignInBrowser,
    ) -> Result<SignedIn, Refusal> {
        let hash = if key::well_formed_session(given) {
            key::hash(given)
        } else {
            self.by_code(given, &browser).await?
        };
        let context = &self.deps.context;
        let since_ms = context.now_ms() - SIGN_IN_MS;
        let taken = context
            .store()
            .people()
            .sign_ins()
            .take(&hash, &browser.hash(), since_ms)
            .await;
        let taken = taken.map_err(unavailable)?.filter(|row| row.kind == LINK);
        let Some(row) = taken else {
            return self.open_invitation(&hash, language, browser).await;
        };
        let address = row.email.as_deref().and_then(MailAddress::parse);
        let address = address.ok_or_else(over)?;
        let language = Language::from_word(&row.language).unwrap_or_default();
        let entrance = Entrance {
            means: LINK.to_owned(),
            browser,
        };
        self.arrive(&address, language, entrance).await
    }

    /// Lets somebody in who was invited and is no person yet. The word came to their address; it is used up with the invitation.
    async fn open_invitation(
        &self,
        hash: &str,
        language: Language,
        browser: SignInBrowser,
    ) -> Result<SignedIn, Refusal> {
        let Some((pending, None)) = self.invited(hash).await? else {
            return Err(over());
        };
        let address = MailAddress::parse(&pending.invitation.email).ok_or_else(over)?;
        let person = self.person_of(&address, language).await?;
        if pending.invitation.account_id.is_some() {
            let id = &pending.invitation.id;
            self.invitations.accept(&person, id).await?;
        }
        let entrance = Entrance {
            means: LINK.to_owned(),
            browser,
        };
        self.let_in(&person, &address, entrance).await
    }

    async fn begun(&self, hash: &str) -> Result<Option<SignInRow>, Refusal> {
        let context = &self.deps.context;
        let since_ms = context.now_ms() - SIGN_IN_MS;
        let found = context
            .store()
            .people()
            .sign_ins()
            .find(hash, since_ms)
            .await;
        Ok(found.map_err(unavailable)?.filter(|row| row.kind == LINK))
    }

    /// The invitation of a word, by its hash, and the person who has its address already.
    async fn invited(
        &self,
        hash: &str,
    ) -> Result<Option<(PendingInvitation, Option<Person>)>, Refusal> {
        let context = &self.deps.context;
        let found = context.store().people().invitations();
        let found = found.of_word(hash, context.now_ms()).await;
        let Some(pending) = found.map_err(unavailable)? else {
            return Ok(None);
        };
        let Some(address) = MailAddress::parse(&pending.invitation.email) else {
            return Ok(None);
        };
        let person = context.store().people().by_email(&address.key()).await;
        Ok(Some((pending, person.map_err(unavailable)?)))
    }

    /// The hash of the link whose code somebody has typed in the browser that asked for it.
    async fn by_code(&self, given: &str, browser: &SignInBrowser) -> Result<String, Refusal> {
        let typed: String = given.chars().filter(char::is_ascii_digit).collect();
        if typed.len() != DIGITS {
            return Err(over());
        }
        let context = &self.deps.context;
        let since_ms = context.now_ms() - SIGN_IN_MS;
        let (sign_ins, hash) = (context.store().people().sign_ins(), browser.hash());
        let begun = sign_ins.try_code(&hash, LINK, since_ms).await;
        let begun = begun.map_err(unavailable)?;
        let right = |row: &&SignInRow| {
            let code = self.code(&row.hash);
            bool::from(code.as_bytes().ct_eq(typed.as_bytes()))
        };
        let mut open = begun.iter().filter(|row| row.tries <= WRONG_MOST);
        if let Some(row) = open.find(right) {
            return Ok(row.hash.clone());
        }
        let message = if begun.iter().any(|row| row.tries < WRONG_MOST) {
            "is not the code of a link that was asked for in this browser"
        } else {
            "is no code that works: ask for another link"
        };
        Err(Refusal::field(Code::Unauthorized, "code", message))
    }

    /// The code of a link, by the hash of its word.
    fn code(&self, hash: &str) -> String {
        let number = self.deps.context.keyring().link_code(hash);
        format!("{:0DIGITS$}", number % 10_u64.pow(DIGITS as u32))
    }
}

fn over() -> Refusal {
    let message = "the link is over, was used, or belongs to another browser; ask for another one";
    Refusal::new(Code::NotFound, message)
}
