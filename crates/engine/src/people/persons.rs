//! Persons: looked at and deleted, by themselves or by an operator.

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::operators::OperatorRole;
use atelier_contract::pages::people::Language;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{
    NewPerson, OperatorRow, Person, PersonOutcome, PersonRemoval, PersonRemovalOutcome,
};

use super::letters::{self, LetterContext};
use super::people_deps::{LACKS, PeopleDeps};
use crate::admin::older_node;
use crate::context::unavailable;
use crate::crash;

/// Characters of a name at most.
const NAME_MOST: usize = 100;
/// How long it is tried to tell somebody what they have become.
const TOLD_MS: i64 = 3_600_000;

/// Whom to write to, and how.
#[derive(Clone, Debug)]
pub struct AddressedPerson {
    pub email: MailAddress,
    pub language: Language,
}

/// Persons, whatever they are members of.
pub struct Persons {
    deps: PeopleDeps,
}

impl Persons {
    pub(super) fn new(deps: PeopleDeps) -> Self {
        Self { deps }
    }

    /// A page of the people with a text in their address or name, the latest first, and how many there are.
    pub async fn list(
        &self,
        text: &str,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<Person>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let people = self.deps.context.store().people();
        let page = people.list(text, offset, limit).await;
        page.map_err(unavailable)
    }

    /// One person who was not deleted.
    pub async fn one(&self, id: &str) -> Result<Person, Refusal> {
        let found = self.deps.context.store().people().find(id).await;
        let found = found.map_err(unavailable)?;
        found
            .filter(|person| person.deleted_ms.is_none())
            .ok_or_else(no_person)
    }

    /// Changes what a person is called, and in which language they are written to.
    pub async fn rename(
        &self,
        id: &str,
        name: Option<&str>,
        language: Option<Language>,
    ) -> Result<Person, Refusal> {
        let person = self.one(id).await?;
        let name = name.unwrap_or(&person.name).trim();
        check_name(name)?;
        let language = match language {
            Some(language) => language.word(),
            None => &person.language,
        };
        let people = self.deps.context.store().people();
        let renamed = people.rename(id, name, language).await;
        if !renamed.map_err(unavailable)? {
            return Err(no_person());
        }
        self.one(id).await
    }

    /// Makes whoever has an address an operator, and tells them. They sign in like everybody.
    pub async fn appoint(
        &self,
        by: &str,
        name: &str,
        role: OperatorRole,
        to: &AddressedPerson,
    ) -> Result<OperatorRow, Refusal> {
        let context = &self.deps.context;
        let new = NewPerson {
            id: context.ids().uuid(),
            email: to.email.as_str().to_owned(),
            email_key: to.email.key(),
            name: String::new(),
            language: to.language.word().to_owned(),
            verified_ms: None,
            now_ms: context.now_ms(),
            alive_since_ms: context.alive_since_ms(),
        };
        let made = context.store().people().ensure(new).await;
        let person = match made.map_err(unavailable)? {
            PersonOutcome::Done(person) => person,
            PersonOutcome::OlderNode(node) => return Err(older_node(&node, LACKS)),
        };
        let operators = self.deps.admin.operators();
        let operator = operators.appoint(by, &person.id, name, role).await?;
        let letter = letters::appointed(&LetterContext {
            to: to.email.clone(),
            language: to.language,
            base_url: &context.settings().urls.base,
        });
        self.deps.mail.post(letter, context.now_ms() + TOLD_MS);
        Ok(operator)
    }

    /// Deletes the person who asks for it.
    pub async fn delete_own(&self, id: &str) -> Result<(), Refusal> {
        self.delete(id, None).await
    }

    /// Deletes a person in the name of an operator. Accounts of which nobody else is a member stay, with their keys.
    pub async fn delete_by(&self, by: &str, id: &str) -> Result<(), Refusal> {
        self.delete(id, Some(by)).await
    }

    async fn delete(&self, id: &str, by: Option<&str>) -> Result<(), Refusal> {
        let context = &self.deps.context;
        let removal = PersonRemoval {
            person_id: id.to_owned(),
            leaves_accounts: by.is_some(),
            now_ms: context.now_ms(),
        };
        // Whoever deletes themselves is in nobody's list.
        let act = by.map(|by| context.act(by, "person.delete", id, ""));
        let deleted = context.store().people().delete(removal, act).await;
        crash::point("admin.acted");
        match deleted.map_err(unavailable)? {
            PersonRemovalOutcome::Done(ended) => {
                for (account_id, hash) in ended {
                    self.deps.admin.callers().void_key(&hash);
                    let account_id = AccountId::new(account_id);
                    self.deps.admin.callers().void_account(&account_id);
                }
                Ok(())
            }
            PersonRemovalOutcome::LastOwner(accounts) => {
                let message = format!(
                    "nobody else is an owner of {}; make another member one first, or have an operator delete the account",
                    accounts.join(", ")
                );
                Err(Refusal::new(Code::Conflict, message))
            }
            PersonRemovalOutcome::NoPerson => Err(no_person()),
        }
    }
}

/// Refuses a name that could be taken for something else than a name.
fn check_name(name: &str) -> Result<(), Refusal> {
    let odd = |c: char| c.is_control() || "<>\"@".contains(c);
    if name.chars().count() > NAME_MOST || name.contains(odd) {
        let message = format!(
            "must be at most {NAME_MOST} characters, without < > \" @ and control characters"
        );
        return Err(Refusal::invalid("name", message));
    }
    Ok(())
}

pub(super) fn no_person() -> Refusal {
    Refusal::new(Code::NotFound, "no such person")
}
