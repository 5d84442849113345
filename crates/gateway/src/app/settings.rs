//! The settings of the engine, from the configuration.

use atelier_contract::{FAMILIES, PromptRule};
use atelier_engine::{Moderation, Settings, Telemetry, Translation};

use super::addresses::Addresses;
use crate::config::{self, Config, Prompts};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// What the engine goes by.
pub(super) fn settings(config: &Config, addresses: &Addresses) -> Settings {
    let or_base = |url: &String| {
        if url.is_empty() {
            addresses.base_url.clone()
        } else {
            url.clone()
        }
    };
    let (jobs, retention) = (&config.jobs, &config.retention);
    Settings {
        lease_ms: jobs.lease_s * 1000,
        renew_ms: jobs.renew_s * 1000,
        progress_ms: jobs.progress_ms,
        idle_ms: jobs.idle_ms,
        sweep_ms: jobs.sweep_ms,
        tries_most: jobs.tries,
        retry_pause_ms: jobs.retry_pause_ms,
        idempotency_ms: retention.idempotency_hours * HOUR_MS,
        max_queue: jobs.max_queue,
        max_storage: config.limits.storage_mib.saturating_mul(1024 * 1024),
        keys_most: config.limits.keys_per_account,
        callback_schedule_s: config.callbacks.schedule_s.clone(),
        callbacks_at_once: config.callbacks.parallel,
        callbacks_per_host: config.callbacks.parallel_per_host,
        keep_ms: [
            retention.answer_minutes * MINUTE_MS,
            retention.image_hours * HOUR_MS,
            retention.video_hours * HOUR_MS,
            retention.small_image_days * DAY_MS,
        ],
        input_keep_ms: retention.input_days * DAY_MS,
        log_keep_ms: retention.log_days * DAY_MS,
        failed_keep_ms: retention.failed_days * DAY_MS,
        audit_keep_ms: retention.audit_days * DAY_MS,
        key_keep_ms: retention.key_days * DAY_MS,
        orphan_ms: retention.orphan_minutes * MINUTE_MS,
        tidy_ms: jobs.tidy_s * 1000,
        prompt_rules: prompt_rules(&config.prompts),
        refused_prompts_a_day: config.prompts.refused_a_day,
        moderation: moderation(&config.prompts),
        translation: translation(&config.translation),
        origin_url: or_base(&config.origin_url),
        cdn_url: or_base(&config.cdn_url),
        own_urls: vec![addresses.base_url.clone(), config.legacy_cdn_url.clone()],
        polls_at_once: jobs.polls_at_once,
        refresh_ms: jobs.refresh_ms,
        hook_base_url: addresses.base_url.clone(),
        quota_usd: config.prices.quota_usd,
        telemetry: Telemetry {
            otlp_endpoint: config.telemetry.otlp_endpoint.clone(),
            service_name: config.telemetry.service_name.clone(),
            sample: config.telemetry.sample,
        },
        result_cache_bytes: jobs.result_cache_mib * 1024 * 1024,
        signatory: None,
    }
}

/// The common list, for the families in which the interface has banned words and those that are named; and the rules with
/// names.
fn prompt_rules(prompts: &Prompts) -> Vec<PromptRule> {
    let usual = FAMILIES.iter().filter(|family| family.banned_words);
    let usual = usual.map(|family| family.name.to_owned());
    let common = PromptRule {
        name: String::new(),
        families: usual.chain(prompts.families.iter().cloned()).collect(),
        words: prompts.banned.clone().into(),
    };
    let named = prompts.rules.iter().map(|rule| PromptRule {
        name: rule.name.clone(),
        families: rule.families.clone(),
        words: rule.words.clone().into(),
    });
    std::iter::once(common).chain(named).collect()
}

fn moderation(prompts: &Prompts) -> Option<Moderation> {
    let base_url = prompts.moderation_url.clone();
    (!base_url.is_empty()).then(|| Moderation {
        base_url,
        key: prompts.moderation_key.reveal().to_owned(),
        model: prompts.moderation_model.clone(),
        pictures: prompts.moderation_pictures,
        fail_closed: prompts.moderation_fail_closed,
    })
}

fn translation(wanted: &config::Translation) -> Option<Translation> {
    (!wanted.url.is_empty()).then(|| Translation {
        base_url: wanted.url.clone(),
        key: wanted.key.reveal().to_owned(),
        model: wanted.model.clone(),
    })
}
