//! Settings that contradict each other, or that nothing could run with.

use atelier_contract::models::{CheckContext, ModelCatalogue, ModelDefinition, ModelRevision};
use atelier_contract::{FAMILIES, canonical_name};
use url::Url;

use super::Config;
use super::error::SettingError;

/// The longest wait between two tries of a callback.
const LONGEST_WAIT_S: u64 = 30 * 86_400;
/// What is said of an address to which nothing can be added.
const NO_BASE: &str =
    "must be an http or https URL such as https://media.example.com, without a query, or empty";

/// Looks for the first that will not do.
pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    let jobs = &config.jobs;
    let (tls, proxies) = (&config.tls, &config.proxies);
    let credentials = &config.credentials;
    let renewed_late = jobs.renew_s.ms().saturating_mul(2) > jobs.lease_s.ms();
    let mut listeners = config.listeners.iter();
    let nowhere = listeners.any(|one| one.address.is_empty() == one.host.is_empty());
    let checks = [
        (
            renewed_late,
            "jobs.renew_s",
            "must be at most half of jobs.lease_s, or a slow node loses its jobs",
        ),
        (
            nowhere,
            "listeners",
            "each needs either an address or a host",
        ),
        (
            config.names.iter().any(|name| !is_name(name)),
            "names",
            "each must be a host name without scheme, path or *, such as nas.lan",
        ),
        (
            tls.certificate.as_os_str().is_empty() != tls.key.as_os_str().is_empty(),
            "tls",
            "needs both a certificate and a key",
        ),
        (
            credentials.certificate.as_os_str().is_empty()
                != credentials.key.as_os_str().is_empty(),
            "credentials",
            "needs both a certificate and a key, or neither for a certificate of the service's own",
        ),
        (
            proxies.protocol && proxies.trusted.is_empty(),
            "proxies.protocol",
            "needs proxies.trusted, or anybody could name any address",
        ),
        (
            !(0.0..=1.0).contains(&config.telemetry.sample),
            "telemetry.sample",
            "must be from 0 to 1",
        ),
        (
            config.prices.quota_usd.is_sign_negative() || !config.prices.quota_usd.is_finite(),
            "prices.quota_usd",
            "must be 0 or more",
        ),
        (
            config
                .callbacks
                .schedule_s
                .iter()
                .any(|wait| *wait > LONGEST_WAIT_S),
            "callbacks.schedule_s",
            "each wait must be from 0 to 2592000, which is thirty days",
        ),
    ];
    let wrong = checks.into_iter().find(|(wrong, _, _)| *wrong);
    if let Some((_, field, why)) = wrong {
        return Err(SettingError::new(field, why));
    }
    check_addresses(config)?;
    check_payments(config)?;
    let prompts = &config.prompts;
    check_families("prompts.families", &prompts.families)?;
    let mut rules = prompts.rules.iter();
    rules.try_for_each(|rule| check_families("prompts.rules", &rule.families))?;
    check_models(&config.models)
}

/// Providers that nobody could pay at, or whose word nobody could check.
fn check_payments(config: &Config) -> Result<(), SettingError> {
    let (stripe, epay) = (&config.payments.stripe, &config.payments.epay);
    if stripe.secret_key.is_empty() != stripe.webhook_secret.is_empty() {
        let why =
            "needs both a secret key and a webhook secret, or nobody could believe its events";
        return Err(SettingError::new("payments.stripe", why));
    }
    let named = [&epay.base_url, &epay.merchant].map(String::is_empty);
    if named != [epay.key.is_empty(); 2] {
        let why = "needs base_url, merchant and key";
        return Err(SettingError::new("payments.epay", why));
    }
    Ok(())
}

/// Addresses to which paths are added.
fn check_addresses(config: &Config) -> Result<(), SettingError> {
    let addresses = [
        ("base_url", &config.base_url),
        ("hook_base_url", &config.hook_base_url),
        ("origin_url", &config.origin_url),
        ("cdn_url", &config.cdn_url),
        ("legacy_cdn_url", &config.legacy_cdn_url),
        ("prompts.moderation_url", &config.prompts.moderation_url),
        ("translation.url", &config.translation.url),
        ("telemetry.otlp_endpoint", &config.telemetry.otlp_endpoint),
        ("assets.endpoint", &config.assets.endpoint),
        ("payments.stripe.base_url", &config.payments.stripe.base_url),
        ("payments.epay.base_url", &config.payments.epay.base_url),
    ];
    let wrong = addresses.iter().find(|(_, address)| !is_base(address));
    wrong.map_or(Ok(()), |(field, _)| Err(SettingError::new(*field, NO_BASE)))
}

/// Models that nobody could sell. Their back ends may be made later and are looked for at the start, and so are the models that
/// are stored.
fn check_models(models: &[ModelDefinition]) -> Result<(), SettingError> {
    if models.is_empty() {
        return Ok(());
    }
    let declared = models.iter().map(|definition| ModelRevision {
        definition: definition.clone(),
        revision: 1,
        removed: false,
        changed_ms: 0,
    });
    let catalogue = ModelCatalogue::new(declared.collect());
    let context = CheckContext {
        backends: &|name| Some(name.to_owned()),
        now_ms: 0,
    };
    for (place, definition) in models.iter().enumerate() {
        let at = format!("models[{place}]");
        let key = definition.key();
        if models[..place].iter().any(|other| other.key() == key) {
            let why = format!("{} is declared twice", definition.name);
            return Err(SettingError::new(format!("{at}.name"), why));
        }
        catalogue.check(definition, &context).map_err(|refusal| {
            let field = refusal.field.unwrap_or_default();
            let why = refusal.message.strip_prefix(&format!("{field}: "));
            SettingError::new(format!("{at}.{field}"), why.unwrap_or(&refusal.message))
        })?;
    }
    Ok(())
}

/// A rule for a family that does not exist would hold for nobody.
fn check_families(field: &str, names: &[String]) -> Result<(), SettingError> {
    let known: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    let is_known = |name: &str| canonical_name(name).is_some_and(|name| known.contains(&name));
    let unknown = names.iter().find(|name| !is_known(name));
    unknown.map_or(Ok(()), |name| {
        let known = known.join(", ");
        let why = format!("there is no family {name}, there are {known}");
        Err(SettingError::new(field, why))
    })
}

/// Whether further paths can be added to an address.
fn is_base(text: &str) -> bool {
    let url = Url::parse(text);
    text.is_empty()
        || url.is_ok_and(|url| {
            let is_web = matches!(url.scheme(), "http" | "https");
            is_web && url.query().is_none() && url.fragment().is_none()
        })
}

/// Whether a text can be a host, perhaps with its port.
fn is_name(text: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || "/*@".contains(c);
    !text.trim().is_empty() && !text.trim().contains(odd)
}
