//! Subscriptions: who is told of what, and where. Addresses are judged by the rules for whoever names them, and kept sealed: those of Slack
//! and Discord are secrets themselves.

use atelier_backends::guard::Purpose;
use atelier_contract::pages::notices::{NewSubscription, NoticeChannel, NoticeKind};
use atelier_contract::pages::quiet::Quiet;
use atelier_contract::pages::statements::Language;
use atelier_contract::{AccountId, Code, Quota, Refusal};
use atelier_store::{NewNoticeSubscription, Notice, NoticeSubscription};
use url::Url;

use crate::admin::Caller;
use crate::context::{Context, unavailable};
use crate::crash;
use crate::ids::random_bytes;
use crate::notice_board::NOTICE_ADDRESSES;

/// How many subscriptions an account may have, or the operators.
const MOST: i64 = 50;
/// Characters of a secret address that are shown.
const SHOWN: usize = 12;

/// Whose notices they are, and who asks.
#[derive(Clone, Debug)]
pub struct NoticeOwner {
    /// Empty for the operators.
    account_id: AccountId,
    /// The key that the caller came with, or the name of the operator.
    by: String,
    /// Whether the caller is not on this machine.
    outside: bool,
}

impl NoticeOwner {
    /// The account of a caller.
    pub fn of_caller(caller: &Caller) -> Self {
        Self {
            account_id: caller.account_id.clone(),
            by: caller.key_id.to_string(),
            outside: caller.outside,
        }
    }

    /// An account, for whoever only looks.
    pub fn of_account(account_id: AccountId) -> Self {
        Self {
            account_id,
            by: String::new(),
            outside: true,
        }
    }

    /// The operators, by one of them.
    pub fn operators(by: &str) -> Self {
        Self {
            account_id: "".into(),
            by: by.to_owned(),
            outside: false,
        }
    }

    /// The account; nothing for the operators.
    pub(super) fn id(&self) -> &str {
        self.account_id.as_str()
    }

    fn is_operators(&self) -> bool {
        self.id().is_empty()
    }
}

/// Who is to be told of what, and where.
#[derive(Clone, Debug)]
pub struct SubscriptionRequest {
    kind: Option<NoticeKind>,
    channel: NoticeChannel,
    address: String,
    quiet: Option<Quiet>,
    language: Language,
    below: Option<Quota>,
    jobs: i64,
}

impl From<NewSubscription> for SubscriptionRequest {
    fn from(new: NewSubscription) -> Self {
        Self {
            kind: new.kind,
            channel: new.channel,
            address: new.address.trim().to_owned(),
            quiet: new.quiet,
            language: new.language,
            below: new.below,
            jobs: new.jobs.unwrap_or_default().get(),
        }
    }
}

/// An address as it is kept: whole, without what is secret, and whose queue it is in.
struct NoticeAddress {
    whole: String,
    shown: String,
    host: String,
}

/// Whether a subscription is to be told of a notice.
pub(super) fn wants(subscription: &NoticeSubscription, notice: &Notice) -> bool {
    let number = |name: &str| {
        let facts: serde_json::Value = serde_json::from_str(&notice.facts).unwrap_or_default();
        facts[name].as_str().map(str::to_owned)
    };
    let is_its_own = match NoticeKind::from_word(&notice.kind) {
        // Each is told of what it asked about.
        Some(NoticeKind::BalanceLow) => {
            subscription.below.map(|below| below.to_string()) == number("below")
        }
        Some(NoticeKind::JobsFailing) => Some(subscription.jobs.to_string()) == number("jobs"),
        _ => true,
    };
    subscription.account_id == notice.account_id
        && subscription
            .kind
            .as_ref()
            .is_none_or(|kind| *kind == notice.kind)
        && is_its_own
}

pub(super) async fn subscribe<E: From<Refusal>>(
    context: &Context,
    owner: &NoticeOwner,
    request: SubscriptionRequest,
    may: impl FnOnce() -> Result<(), E>,
) -> Result<NoticeSubscription, E> {
    check_kind(owner, &request)?;
    let address = address_of(context, owner, &request)?;
    let id = context.ids().uuid();
    let setting = setting_name(&id);
    let sealer = context.keyring().sealer();
    let sealed = sealer.seal(address.whole.as_bytes(), setting.as_bytes(), random_bytes());
    let subscription = NoticeSubscription {
        account_id: owner.id().to_owned(),
        member_id: None,
        kind: request.kind.map(|kind| kind.word().to_owned()),
        channel: request.channel.word().to_owned(),
        shown: address.shown,
        host: address.host,
        quiet: request.quiet.map(|quiet| quiet.text().to_owned()),
        language: request.language.word().to_owned(),
        below: request.below,
        jobs: request.jobs,
        created_ms: context.now_ms(),
        id,
    };
    may()?;
    let what = subscription.kind.as_deref().unwrap_or("all");
    let detail = format!(
        "{what} by {} to {}",
        subscription.channel, subscription.shown
    );
    let act = act(context, owner, "notice.subscribe", &subscription.id, detail);
    let new = NewNoticeSubscription {
        subscription: subscription.clone(),
        address: (setting, sealed),
        most: MOST,
    };
    let added = context
        .store()
        .deliveries()
        .notices()
        .subscribe(new, Some(act))
        .await;
    crash::point("admin.acted");
    if added.map_err(unavailable)? {
        return Ok(subscription);
    }
    let message = format!("there are {MOST} subscriptions already; end one first");
    Err(Refusal::new(Code::Conflict, message).into())
}

pub(super) async fn unsubscribe<E: From<Refusal>>(
    context: &Context,
    owner: &NoticeOwner,
    id: &str,
    may: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    let notices = context.store().deliveries().notices();
    let own = notices
        .subscriptions(owner.id())
        .await
        .map_err(unavailable)?;
    if !own.iter().any(|one| one.id == id) {
        return Err(no_subscription().into());
    }
    may()?;
    let act = act(context, owner, "notice.unsubscribe", id, String::new());
    let setting = setting_name(id);
    let ended = notices.unsubscribe(owner.id(), id, &setting, Some(act));
    let ended = ended.await.map_err(unavailable)?;
    crash::point("admin.acted");
    if ended {
        Ok(())
    } else {
        Err(no_subscription().into())
    }
}

/// Where a subscription is to be told; none when it has ended meanwhile.
pub(super) async fn opened_address(
    context: &Context,
    subscription_id: &str,
) -> Result<Option<String>, Refusal> {
    let name = setting_name(subscription_id);
    let sealed = context.store().settings().get(&name).await;
    let Some(sealed) = sealed.map_err(unavailable)? else {
        return Ok(None);
    };
    let opened = context
        .keyring()
        .sealer()
        .open(&sealed, name.as_bytes())
        .ok();
    let opened = opened.and_then(|bytes| String::from_utf8(bytes).ok());
    opened.map(Some).ok_or_else(|| {
        tracing::error!(
            subscription_id,
            "an address of notices cannot be opened with this master key"
        );
        Refusal::new(
            Code::Internal,
            "the address cannot be read; tell the operator",
        )
    })
}

pub(super) fn no_subscription() -> Refusal {
    Refusal::new(Code::NotFound, "no such subscription")
}

fn setting_name(id: &str) -> String {
    format!("{NOTICE_ADDRESSES}{id}")
}

fn act(
    context: &Context,
    owner: &NoticeOwner,
    action: &str,
    target: &str,
    detail: String,
) -> atelier_store::AuditRow {
    if owner.is_operators() {
        return context.act(&owner.by, action, target, detail);
    }
    context.own_act(&owner.account_id, &owner.by, action, target, detail)
}

fn check_kind(owner: &NoticeOwner, request: &SubscriptionRequest) -> Result<(), Refusal> {
    let operators = owner.is_operators();
    if let Some(kind) = request.kind
        && kind.is_operators() != operators
    {
        let own = NoticeKind::WORDS.iter().filter(|word| {
            NoticeKind::from_word(word).is_some_and(|kind| kind.is_operators() == operators)
        });
        let own: Vec<&str> = own.copied().collect();
        let message = format!("must be one of {}", own.join(", "));
        return Err(Refusal::invalid("kind", message));
    }
    if request.below.is_some_and(|below| below <= Quota::ZERO) {
        return Err(Refusal::invalid("below", "must be more than 0"));
    }
    if request.kind == Some(NoticeKind::BalanceLow) && request.below.is_none() {
        return Err(Refusal::missing("below"));
    }
    Ok(())
}

fn address_of(
    context: &Context,
    owner: &NoticeOwner,
    request: &SubscriptionRequest,
) -> Result<NoticeAddress, Refusal> {
    let text = request.address.as_str();
    let not_allowed = |why: String| Refusal::field(Code::AddressNotAllowed, "address", why);
    let url = if owner.is_operators() {
        // Theirs may be private.
        let reaching = context.outbound().reaching(text);
        reaching.map_err(not_allowed)?.1
    } else {
        let policy = context.outbound().policy_for(owner.outside);
        let url = policy.check_url(text, Purpose::Callback);
        url.map_err(|why| not_allowed(why.to_string()))?
    };
    let host = match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    Ok(NoticeAddress {
        shown: shown(&url, request.channel),
        whole: url.into(),
        host,
    })
}

/// An address without what is secret: whoever has that of a chat can write there.
fn shown(url: &Url, channel: NoticeChannel) -> String {
    let whole = url.as_str();
    if channel == NoticeChannel::Webhook {
        return whole.to_owned();
    }
    let origin = url.origin().ascii_serialization();
    let path: String = url.path().chars().take(SHOWN).collect();
    if path.len() < url.path().len() || url.query().is_some() {
        format!("{origin}{path}…")
    } else {
        whole.to_owned()
    }
}
