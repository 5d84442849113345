//! Sign-in at a provider of OpenID Connect. Who somebody is there is its issuer and subject; the address only says who a newcomer is, and
//! only if the provider has proved it.

use std::sync::Arc;

use atelier_contract::fields::MailAddress;
use atelier_contract::models::DEFAULT_GROUP;
use atelier_contract::pages::people::{Language, MemberRole};
use atelier_contract::{AccountId, Code, Refusal};
use atelier_identity::{
    AuthorizedVisitor, OidcAnswer, OidcClient, OidcError, Provider, ProviderCall,
};
use atelier_store::{AccountPatch, IdentityRow, Membership, Person, SignInRow};

use super::arrival::{Entrance, SignedIn};
use super::browser::{ProviderReturn, SIGN_IN_MS, SignInBrowser};
use super::known_providers::KnownProvider;
use super::provider_calls::provider_calls;
use super::service::SignIns;
use crate::context::unavailable;
use crate::ids::random_bytes;
use crate::key;
use crate::settings::OidcSettings;

/// What such sign-ins are called, and sessions that were opened with one: then the provider's name.
const OIDC: &str = "oidc:";
/// How long the addresses and keys of a provider are believed.
const KNOWN_MS: i64 = 3_600_000;
/// A key that is not known is looked for this often, at most.
const RENEWED_MS: i64 = 60_000;

impl SignIns {
    /// Begins a sign-in at a provider; the page to lead the browser to.
    pub async fn begin_oidc(&self, name: &str, browser: &SignInBrowser) -> Result<String, Refusal> {
        let settings = self.provider_settings(name)?;
        let provider = self.provider(settings, KNOWN_MS).await?;
        let word = key::generate_session();
        let begun = provider.authorize(&word);
        let context = &self.deps.context;
        let hash = key::hash(&word);
        let sealer = context.keyring().sealer();
        let row = SignInRow {
            state: Some(sealer.seal(begun.state.as_bytes(), hash.as_bytes(), random_bytes())),
            hash,
            kind: format!("{OIDC}{name}"),
            browser_hash: browser.hash(),
            person_id: None,
            email: None,
            language: Language::default().word().to_owned(),
            tries: 0,
            created_ms: context.now_ms(),
        };
        let stored = context.store().people().sign_ins().begin(row).await;
        stored.map_err(unavailable)?;
        Ok(begun.url)
    }

    /// Signs in whoever a provider led back: the browser that was led there, once.
    pub async fn finish_oidc(
        &self,
        name: &str,
        given: ProviderReturn,
        browser: SignInBrowser,
    ) -> Result<SignedIn, Refusal> {
        let settings = self.provider_settings(name)?;
        let context = &self.deps.context;
        let hash = key::hash(&given.state);
        let since_ms = context.now_ms() - SIGN_IN_MS;
        let sign_ins = context.store().people().sign_ins();
        let taken = sign_ins.take(&hash, &browser.hash(), since_ms).await;
        // What was begun at one provider is not finished at another.
        let kind = format!("{OIDC}{name}");
        let row = taken.map_err(unavailable)?.filter(|row| row.kind == kind);
        let state = row.and_then(|row| row.state).ok_or_else(strange)?;
        let state = context
            .keyring()
            .sealer()
            .open(&state, hash.as_bytes())
            .map_err(|_| strange())?;
        if let Some(error) = given.error {
            tracing::info!(provider = name, error, "a provider let nobody in");
            return Err(Refusal::new(Code::Forbidden, "the provider let nobody in"));
        }
        let answer = OidcAnswer {
            code: given.code,
            issuer: given.issuer,
            state: String::from_utf8_lossy(&state).into_owned(),
            now_ms: context.now_ms(),
        };
        let call = provider_calls(context);
        let provider = self.provider(settings, KNOWN_MS).await?;
        let visitor = match provider.visitor(answer, call).await {
            Ok(visitor) => visitor,
            Err(error) => {
                if matches!(error, OidcError::UnknownKey(_)) {
                    // The provider has a new key: whoever comes next is let in with it. The code of this one is used up.
                    self.provider(settings, RENEWED_MS).await?;
                }
                tracing::warn!(provider = name, %error, "a provider vouched for nobody");
                return Err(unproved());
            }
        };
        let means = format!("{OIDC}{name}");
        self.arrive_from(settings, visitor, Entrance { means, browser })
            .await
    }

    fn provider_settings(&self, name: &str) -> Result<&OidcSettings, Refusal> {
        let all = &self.deps.context.settings().people.oidc;
        let found = all.iter().find(|one| one.name == name);
        found.ok_or_else(|| Refusal::new(Code::NotFound, "no such provider"))
    }

    /// A provider with its addresses and keys, which are no older than so much.
    async fn provider(
        &self,
        settings: &OidcSettings,
        most_ms: i64,
    ) -> Result<Arc<Provider>, Refusal> {
        let context = &self.deps.context;
        let now_ms = context.steady_ms();
        let known = self.providers.find(&settings.name);
        let fresh = known.filter(|known| now_ms - known.since_ms < most_ms);
        if let Some(known) = fresh {
            return Ok(known.provider);
        }
        let client = OidcClient {
            issuer: settings.issuer.clone(),
            client_id: settings.client_id.clone(),
            client_secret: settings.client_secret.reveal().to_owned(),
            redirect_url: format!(
                "{}/auth/v1/oidc/{}/callback",
                context.settings().urls.base,
                settings.name
            ),
            scopes: settings.scopes.clone(),
            groups_claim: settings.groups_claim.clone(),
        };
        let call: ProviderCall = provider_calls(context);
        let found = Provider::discover(client, call).await.map_err(|error| {
            tracing::warn!(provider = settings.name, %error, "a provider cannot be asked");
            let message = "the provider cannot be reached now; try again, or sign in another way";
            Refusal::new(Code::Overloaded, message)
        })?;
        let provider = Arc::new(found);
        let known = KnownProvider {
            provider: Arc::clone(&provider),
            since_ms: now_ms,
        };
        self.providers.keep(&settings.name, known);
        Ok(provider)
    }

    /// Lets in whoever a provider vouches for.
    async fn arrive_from(
        &self,
        settings: &OidcSettings,
        visitor: AuthorizedVisitor,
        entrance: Entrance,
    ) -> Result<SignedIn, Refusal> {
        let person = self.person_behind(settings, &visitor).await?;
        let address = person.email.as_deref().and_then(MailAddress::parse);
        let address = address.ok_or_else(unproved)?;
        if settings.account.is_empty() {
            let signed_in = self.let_in(&person, &address, entrance).await?;
            self.regroup(settings, &visitor, &person).await?;
            return Ok(signed_in);
        }
        self.enroll(settings, &visitor, &person).await?;
        self.let_in(&person, &address, entrance).await
    }

    /// The person whom a provider knows by a subject. One who is not known yet is whoever has the address, if the provider has proved
    /// that it is theirs.
    async fn person_behind(
        &self,
        settings: &OidcSettings,
        visitor: &AuthorizedVisitor,
    ) -> Result<Person, Refusal> {
        let context = &self.deps.context;
        let store = context.store();
        let known = store
            .people()
            .by_identity(&visitor.issuer, &visitor.subject)
            .await;
        if let Some(person) = known.map_err(unavailable)? {
            return Ok(person);
        }
        let address = visitor.email.as_deref().and_then(MailAddress::parse);
        let address = address
            .filter(|_| visitor.email_verified)
            .ok_or_else(unverified)?;
        // Whoever the provider's people become members with needs no other invitation.
        let enrolls = !settings.account.is_empty() && settings.role(&visitor.groups).is_some();
        let person = if enrolls {
            self.ensure_person(&address, Language::default()).await?
        } else {
            self.person_of(&address, Language::default()).await?
        };
        let identity = IdentityRow {
            issuer: visitor.issuer.clone(),
            subject: visitor.subject.clone(),
            id: context.ids().uuid(),
            person_id: person.id.clone(),
            provider: settings.name.clone(),
            created_ms: context.now_ms(),
            used_ms: Some(context.now_ms()),
        };
        let linked = store.people().link_identity(identity).await;
        linked.map_err(unavailable)?;
        if let Some(name) = visitor.name.as_deref().filter(|_| person.name.is_empty()) {
            let renamed = self.persons.rename(&person.id, Some(name), None).await;
            // A name that is none here is left out.
            return Ok(renamed.unwrap_or(person));
        }
        Ok(person)
    }

    /// Makes somebody a member of the account that a provider's people share, as what their groups say now; or removes them.
    async fn enroll(
        &self,
        settings: &OidcSettings,
        visitor: &AuthorizedVisitor,
        person: &Person,
    ) -> Result<(), Refusal> {
        let account_id = self.shared_account(settings).await?;
        let origin = format!("{OIDC}{}", settings.name);
        let role = settings.role(&visitor.groups);
        let own = self.members.of_person(&person.id).await?;
        let mut own = own.into_iter().map(|own| own.member);
        let own = own.find(|own| own.account_id == account_id.as_str());
        match (own, role) {
            // Whoever was invited is what they were invited as.
            (Some(own), _) if own.origin != origin => Ok(()),
            (Some(own), Some(role)) if own.role == role => Ok(()),
            (Some(own), Some(role)) => self.members.take_role(&account_id, &own.id, role).await,
            (None, Some(role)) => {
                self.members
                    .enroll(&account_id, &person.id, role, &origin)
                    .await
            }
            (Some(_), None) => {
                self.members.leave(&person.id, &account_id).await?;
                Err(no_group())
            }
            (None, None) => Err(no_group()),
        }
    }

    async fn shared_account(&self, settings: &OidcSettings) -> Result<AccountId, Refusal> {
        let accounts = self.deps.context.store().accounts();
        let found = accounts
            .find(&settings.account)
            .await
            .map_err(unavailable)?;
        let found = match found {
            Some(found) => Some(found),
            None => accounts
                .by_email(&settings.account)
                .await
                .map_err(unavailable)?,
        };
        found.map(|account| account.id).ok_or_else(|| {
            let (provider, account) = (&settings.name, &settings.account);
            tracing::error!(
                provider,
                account,
                "people.oidc names an account that is not there"
            );
            Refusal::new(
                Code::Conflict,
                "the account of this provider's people is not there",
            )
        })
    }

    /// Puts somebody's own account into the price group that their groups say.
    async fn regroup(
        &self,
        settings: &OidcSettings,
        visitor: &AuthorizedVisitor,
        person: &Person,
    ) -> Result<(), Refusal> {
        let Some(group) = settings.price_group(&visitor.groups) else {
            return Ok(());
        };
        let own = self.members.of_person(&person.id).await?;
        // Who opened an account and gave it away decides nothing about it.
        let is_own = |own: &&Membership| {
            own.member.origin == "sign_up" && own.member.role == MemberRole::Owner
        };
        let Some(own) = own.iter().find(is_own) else {
            return Ok(());
        };
        let account_id = AccountId::new(own.member.account_id.clone());
        let by = format!("{OIDC}{}", settings.name);
        let accounts = self.deps.admin.accounts();
        let key = group.to_lowercase();
        let wanted = Some(key).filter(|key| key != DEFAULT_GROUP);
        if accounts.one(&account_id).await?.group == wanted {
            return Ok(());
        }
        let patch = AccountPatch {
            group: Some(wanted),
            ..AccountPatch::default()
        };
        if let Err(refusal) = accounts.change(&by, &account_id, patch).await {
            tracing::error!(group, %refusal, "people.oidc names a price group that cannot be joined");
        }
        Ok(())
    }
}

/// Nobody began this sign-in here.
fn strange() -> Refusal {
    let message =
        "this sign-in was not begun in this browser, is over or was finished; begin again";
    Refusal::new(Code::Unauthorized, message)
}

fn unproved() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "the provider has not proved who you are; begin again",
    )
}

fn unverified() -> Refusal {
    let message = "the provider has not proved that your e-mail address is yours (email_verified); sign in by e-mail";
    Refusal::new(Code::Forbidden, message)
}

fn no_group() -> Refusal {
    let message = "none of your groups may sign in here; ask whoever looks after them";
    Refusal::new(Code::Forbidden, message)
}
