//! A description understood: everything that can be said about it before a vendor is asked is said here, with its place.

use std::collections::{BTreeMap, BTreeSet};

use atelier_contract::brief::Task;
use http::uri::Authority;

use super::call::{CallNames, CallSettings, VendorCall};
use super::entries::{ModelEntry, ModelOffer};
use super::errors::{ErrorReader, WrittenErrors};
use super::maps::WordMap;
use super::names::{TemplatePlace, TemplateScope};
use super::pictures::UploadCall;
use super::recorded::RecordedAnswer;
use super::request::{RequestSettings, RequestTemplate};
use super::settings::{HttpSettings, LostOrder, ProbeSettings};
use super::webhook::{WebhookCheck, WebhookSettings};
use super::{HttpVendor, LostRule, ProbeRule, TIMING};
use crate::field_error::FieldError;
use crate::http::VendorHttp;
use crate::task_vendor::TaskBase;
use crate::vendor::{Secret, Setup};

/// What an order can be made of by templates.
const SERVED: &[Task] = &[
    Task::Draw,
    Task::Blend,
    Task::Edit,
    Task::Repaint,
    Task::Restyle,
    Task::ReplaceBackground,
    Task::RemoveBackground,
    Task::Vectorize,
    Task::CrispUpscale,
    Task::CreativeUpscale,
    Task::Describe,
    Task::Animate,
    Task::Extend(0),
    Task::SwapFace,
    Task::Anime,
];
/// What is made four at a time.
const IN_FOURS: &[Task] = &[Task::Draw, Task::Blend, Task::Animate, Task::Extend(0)];

/// Whether an operation can be ordered by templates.
fn is_served(operation: &str) -> bool {
    let found = atelier_contract::operation(operation);
    found.is_some_and(|(_, submit)| {
        let tasks = if submit.in_fours { IN_FOURS } else { SERVED };
        submit.makes_only(tasks)
    })
}

/// The hosts beside that of the base address, if each can be one.
fn with_hosts(http: VendorHttp, hosts: &[String]) -> Result<VendorHttp, FieldError> {
    let mut http = http;
    for (index, host) in hosts.iter().enumerate() {
        let plain = host.to_ascii_lowercase();
        let labels: Vec<&str> = plain.split('.').collect();
        let is_name = labels.len() >= 2
            && labels.iter().all(|label| !label.is_empty())
            && labels
                .last()
                .is_some_and(|last| last.parse::<u32>().is_err())
            && plain
                .parse::<Authority>()
                .is_ok_and(|one| one.host() == plain);
        if !is_name {
            let place = format!("settings.hosts.{index}");
            return Err(FieldError::new(
                place,
                "must be the name of a host, such as eu.example.com",
            ));
        }
        http = http.with_domain(plain);
    }
    Ok(http)
}

/// A call that stands outside the kinds of orders.
fn request(
    written: &RequestSettings,
    place: TemplatePlace,
    http: &VendorHttp,
    field: &str,
) -> Result<RequestTemplate, FieldError> {
    let scope = TemplateScope::plain(place);
    RequestTemplate::parse(written, &scope, http, &format!("settings.{field}"))
}

/// The kinds of orders.
fn calls(
    settings: &HttpSettings,
    http: &VendorHttp,
) -> Result<BTreeMap<String, VendorCall>, FieldError> {
    for (name, map) in &settings.maps {
        map.check(&format!("settings.maps.{name}"))?;
    }
    let with = settings.models.values().flat_map(|entry| entry.with.keys());
    let with: BTreeSet<String> = with.cloned().collect();
    let maps: BTreeSet<String> = settings.maps.keys().cloned().collect();
    let names = CallNames {
        with: &with,
        maps: &maps,
    };
    let call = |(name, written): (&String, &CallSettings)| {
        let call = VendorCall::parse(name, written.clone(), &names, http)?;
        Ok((name.clone(), call))
    };
    settings.calls.iter().map(call).collect()
}

/// What serves the operations.
fn offers(settings: &HttpSettings) -> Result<BTreeMap<String, ModelOffer>, FieldError> {
    let offer = |(key, written): (&String, &ModelEntry)| {
        let offer = ModelOffer::new(written.clone(), &format!("settings.models.{key}"))?;
        Ok((key.clone(), offer))
    };
    settings.models.iter().map(offer).collect()
}

/// What is done about a lost order.
fn lost(written: &LostOrder, http: &VendorHttp) -> Result<LostRule, FieldError> {
    Ok(match written {
        LostOrder::Unknown => LostRule::Unknown,
        LostOrder::Repeat => LostRule::Repeat,
        LostOrder::Key => LostRule::Key,
        LostOrder::Search {
            request: written,
            task,
        } => LostRule::Search {
            request: request(written, TemplatePlace::Search, http, "lost.request")?,
            task: task.clone(),
        },
    })
}

/// How the vendor is asked whether it is well.
fn probe(written: &ProbeSettings, http: &VendorHttp) -> Result<ProbeRule, FieldError> {
    if let Some(balance) = &written.balance {
        balance.check("settings.probe.balance")?;
    }
    Ok(ProbeRule {
        request: request(
            &written.request,
            TemplatePlace::Probe,
            http,
            "probe.request",
        )?,
        healthy: written.healthy.clone(),
        balance: written.balance.clone(),
    })
}

impl HttpVendor {
    /// A worker account by its description, with the answers that the description is checked by.
    pub(super) fn described(setup: Setup) -> Result<(Self, Vec<RecordedAnswer>), FieldError> {
        let settings = HttpSettings::read(setup.settings)?;
        let (key, posts) = parts(&setup.credential, &settings.webhook);
        if key.is_empty() && !settings.sign.is_none() {
            let why = "is needed: sign says how it is sent";
            return Err(FieldError::new("credential", why));
        }
        let http = with_hosts(setup.http, &settings.hosts)?;
        let http = settings.sign.clone().applied(http, &key)?;
        let http = if posts.is_empty() {
            http
        } else {
            http.with_secret(posts.reveal())
        };
        let upload = match &settings.upload {
            None => None,
            Some(upload) => Some(UploadCall {
                request: request(
                    &upload.request,
                    TemplatePlace::Upload,
                    &http,
                    "upload.request",
                )?,
                value: upload.value.clone(),
            }),
        };
        let vendor = Self {
            calls: calls(&settings, &http)?,
            offers: offers(&settings)?,
            upload,
            lost: lost(&settings.lost, &http)?,
            probe: probe(&settings.probe, &http)?,
            base: TaskBase::new(http, settings.timing, TIMING),
            maps: settings.maps,
            errors: ErrorReader::new(WrittenErrors {
                places: settings.error,
                lines: settings.errors,
                signs: settings.refusals,
                wait: settings.retry_after,
            })?,
            webhook: WebhookCheck::new(settings.webhook, posts.reveal())?,
        };
        vendor.check_offers()?;
        vendor.check_calls()?;
        Ok((vendor, settings.recorded))
    }

    /// Every operation is one that can be served, by a call that is there and has what it needs.
    fn check_offers(&self) -> Result<(), FieldError> {
        if self.offers.is_empty() {
            let why = "is empty: say which call serves which operation";
            return Err(FieldError::new("settings.models", why));
        }
        for (key, offer) in &self.offers {
            let place = format!("settings.models.{key}");
            let (operation, variant) = match key.split_once('/') {
                Some((operation, variant)) => (operation, Some(variant)),
                None => (key.as_str(), None),
            };
            if !is_served(operation) {
                return Err(FieldError::not_served(
                    "settings.models",
                    operation,
                    is_served,
                ));
            }
            if !matches!(variant, None | Some("image" | "mask" | "end")) {
                let why = "is an unknown variant, there are image, mask and end";
                return Err(FieldError::new(place, why));
            }
            let Some(call) = self.calls.get(&offer.written.call) else {
                let names: Vec<&str> = self.calls.keys().map(String::as_str).collect();
                let why = format!("must be one of {}", names.join(", "));
                return Err(FieldError::new(format!("{place}.call"), why));
            };
            for name in call.named() {
                if let Some(with) = name.strip_prefix("with.")
                    && !offer.written.with.contains_key(with)
                {
                    let why = format!(
                        "must have {with}, which the call {} sends",
                        offer.written.call
                    );
                    return Err(FieldError::new(format!("{place}.with"), why));
                }
            }
        }
        Ok(())
    }

    /// What depends on several parts of the description.
    fn check_calls(&self) -> Result<(), FieldError> {
        for (name, call) in &self.calls {
            let place = format!("settings.calls.{name}");
            let named = call.named();
            for path in call.submit.path_names() {
                let known = match path.split_once('.') {
                    Some(("map", map)) => self.maps.get(map).is_some_and(WordMap::is_total),
                    Some(("with", _)) => true,
                    _ => matches!(path, "model" | "attempt"),
                };
                if !known {
                    let why = format!(
                        "has {{{{{path}}}}}, which may be missing; a path may have model, attempt, with.NAME, and map.NAME \
                         with a word for others"
                    );
                    return Err(FieldError::new(format!("{place}.submit.path"), why));
                }
            }
            let uploads = named.iter().any(|name| name.ends_with(".upload"));
            if uploads && self.upload.is_none() {
                let why = "is missing: a call sends images as .upload";
                return Err(FieldError::new("settings.upload", why));
            }
            let keyed = matches!(self.lost, LostRule::Key | LostRule::Search { .. });
            if keyed && !named.iter().any(|name| name == "attempt") {
                let why = "has no {{attempt}}, by which lost finds an order again";
                return Err(FieldError::new(format!("{place}.submit"), why));
            }
        }
        Ok(())
    }
}

/// The key of a credential and the secret of its posts, which stands behind it after a space.
fn parts(credential: &Secret, webhook: &WebhookSettings) -> (Secret, Secret) {
    let text = credential.reveal();
    match (webhook, text.split_once(' ')) {
        (WebhookSettings::Address, _) | (_, None) => (credential.clone(), Secret::default()),
        (_, Some((key, posts))) => (Secret::new(key), Secret::new(posts.trim())),
    }
}
