//! Writing a notice: its facts and its text in a language, and the body that each channel takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use atelier_contract::pages::notices::{NoticeChannel, NoticeKind, NoticeView};
use atelier_contract::pages::statements::Language;
use atelier_contract::time::timestamp;
use atelier_contract::{AccountId, Refusal};
use atelier_store::{Notice, NoticeSubscription};
use serde_json::json;

use super::texts::{page_of, text_of, until, window_of};
use crate::context::{Context, unavailable};

/// Characters of a fact: messages of vendors may be long.
const FACT_MOST: usize = 300;
/// Characters that a message of Discord may have.
const DISCORD_MOST: usize = 2_000;

/// A notice as people read it; none of a kind that this program does not know.
pub(super) async fn view(
    context: &Context,
    notice: &Notice,
    language: Language,
) -> Result<Option<NoticeView>, Refusal> {
    let Some(kind) = NoticeKind::from_word(&notice.kind) else {
        return Ok(None);
    };
    let mut facts: BTreeMap<String, String> =
        serde_json::from_str(&notice.facts).unwrap_or_default();
    for fact in facts.values_mut() {
        *fact = one_line(fact);
    }
    if let Some(id) = facts.get("keyId").cloned()
        && !facts.contains_key("key")
    {
        let keys = context.store().keys();
        let account_id = AccountId::from(notice.account_id.as_str());
        let names = keys.names(&account_id, &[&id]).await.map_err(unavailable)?;
        let name = names.into_iter().next().map(|(_, name)| name);
        let name = name.filter(|name| !name.is_empty()).unwrap_or(id);
        facts.insert("key".to_owned(), one_line(&name));
    }
    let base = context.settings().urls.others.first();
    let base = base.map_or("", |base| base.trim_end_matches('/'));
    Ok(Some(written(notice, kind, facts, language, base)))
}

fn written(
    notice: &Notice,
    kind: NoticeKind,
    facts: BTreeMap<String, String>,
    language: Language,
    base: &str,
) -> NoticeView {
    let text = text_of(kind, language);
    let since = timestamp(notice.since_ms);
    let mut said = facts.clone();
    said.insert("since".to_owned(), since.clone());
    if let Some(window) = facts.get("window") {
        said.insert("window".to_owned(), window_of(window, language).to_owned());
    }
    if let Some(resets) = facts.get("resets") {
        said.insert("until".to_owned(), until(resets, language));
    }
    NoticeView {
        id: notice.id.clone(),
        kind,
        title: filled(text.title, &said),
        text: filled(text.text, &said),
        action: filled(text.action, &said),
        link: format!("{base}/console/{}", page_of(kind)),
        facts,
        since,
        time: timestamp(notice.created_ms),
    }
}

/// A text with its facts in it. What a fact says is no place for another.
fn filled(text: &str, facts: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(facts.get(name).map_or("–", String::as_str));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A fact as it may stand in a sentence.
fn one_line(fact: &str) -> String {
    let plain = fact.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut plain: String = plain.take(FACT_MOST).collect();
    if fact.chars().count() > FACT_MOST {
        plain.push('…');
    }
    plain
}

/// The body that a channel takes.
pub(super) fn body(view: &NoticeView, channel: NoticeChannel) -> String {
    match channel {
        NoticeChannel::Webhook => serde_json::to_string(view).unwrap_or_default(),
        NoticeChannel::Slack => slack(view),
        NoticeChannel::Discord => discord(view),
    }
}

fn slack(view: &NoticeView) -> String {
    // What Slack would read as its own is put differently, so that nobody is called and no address is hidden.
    let escaped = |text: &str| {
        let text = text.replace('&', "&amp;");
        text.replace('<', "&lt;").replace('>', "&gt;")
    };
    let mut text = format!("*{}*\n", escaped(&view.title).replace('*', "∗"));
    write!(text, "{}\n{}", escaped(&view.text), escaped(&view.action))
        .expect("a text takes everything");
    write!(text, "\n<{}>", view.link).expect("a text takes everything");
    json!({ "text": text, "unfurl_links": false }).to_string()
}

fn discord(view: &NoticeView) -> String {
    let escaped = |text: &str| {
        let mut out = String::new();
        for letter in text.chars() {
            if matches!(letter, '*' | '_' | '~' | '`' | '|' | '>' | '\\' | '[' | ']') {
                out.push('\\');
            }
            out.push(letter);
        }
        out
    };
    let mut content = format!("**{}**\n", escaped(&view.title));
    write!(
        content,
        "{}\n{}",
        escaped(&view.text),
        escaped(&view.action)
    )
    .expect("a text takes everything");
    let link = format!("\n<{}>", view.link);
    let room = DISCORD_MOST - link.chars().count();
    let mut content: String = content.chars().take(room).collect();
    content.push_str(&link);
    // Nobody is called by a name that somebody gave a key.
    json!({ "content": content, "allowed_mentions": { "parse": [] } }).to_string()
}

/// The notice that a sample shows.
pub(super) fn sample(
    kind: NoticeKind,
    id: &str,
    subscription: &NoticeSubscription,
    now_ms: i64,
) -> Notice {
    let facts = json!({
        "sample": "true",
        "balance": "9.5", "below": subscription.below.map_or_else(|| "10".to_owned(), |below| below.to_string()),
        "key": "sample", "window": "day", "quota": "100", "spent": "80", "resets": timestamp(now_ms + 3_600_000),
        "expires": timestamp(now_ms + 6 * 86_400_000), "plan": "sample", "until": timestamp(now_ms + 30 * 86_400_000),
        "why": "this is a sample", "host": "example.com", "tries": "9", "callback": "cb_sample",
        "jobs": subscription.jobs.to_string(), "message": "[Internal error] this is a sample",
        "backend": "sample", "condition": "out_of_credit", "model": "sample", "free": "1.9 GiB", "whole": "40.0 GiB", "least": "1.0 GiB",
        "invariant": "sample", "what": "this is a sample", "subject": "sample", "payment": "sample", "account": "sample",
        "certificate": "example.com", "machine": "sample",
    });
    Notice {
        id: id.to_owned(),
        account_id: subscription.account_id.clone(),
        kind: kind.word().to_owned(),
        subject: "sample".to_owned(),
        since_ms: now_ms,
        facts: facts.to_string(),
        created_ms: now_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view_of(facts: &serde_json::Value, language: Language, kind: NoticeKind) -> NoticeView {
        let notice = Notice {
            id: "nt_1".into(),
            account_id: "a".into(),
            kind: kind.word().into(),
            subject: "s".into(),
            since_ms: 1_800_000_000_000,
            facts: facts.to_string(),
            created_ms: 1_800_000_000_000,
        };
        let facts = serde_json::from_value(facts.clone()).expect("texts");
        written(&notice, kind, facts, language, "https://a.example")
    }

    /// The promise: in every language every kind says what happened, since when and what to do, and leaves no fact out that it names.
    #[test]
    fn every_kind_is_told_in_every_language() {
        let subscription = NoticeSubscription {
            id: "s".into(),
            account_id: String::new(),
            member_id: None,
            kind: None,
            channel: "webhook".into(),
            shown: String::new(),
            host: String::new(),
            quiet: None,
            language: "en".into(),
            below: None,
            jobs: 5,
            created_ms: 0,
        };
        for word in NoticeKind::WORDS {
            let kind = NoticeKind::from_word(word).expect("a kind");
            let sample = sample(kind, "sample", &subscription, 1_800_000_000_000);
            let facts: serde_json::Value = serde_json::from_str(&sample.facts).expect("facts");
            for language in Language::ALL {
                let view = view_of(&facts, language, kind);
                let whole = format!("{} {} {}", view.title, view.text, view.action);
                assert!(
                    !whole.contains('–') && !whole.contains('{'),
                    "{language:?} {word}: {whole}"
                );
                assert!(
                    view.text.contains("2027-01-15 08:00:00"),
                    "since when: {}",
                    view.text
                );
                assert!(view.link.starts_with("https://a.example/console/"));
            }
        }
    }

    #[test]
    fn what_somebody_called_a_key_calls_nobody_and_hides_nothing() {
        let facts = json!({ "key": "<!channel> @everyone *x* {quota} [a](http://b)", "window": "day", "quota": "10", "spent": "8", "resets": "" });
        let view = view_of(&facts, Language::En, NoticeKind::Limit80);
        assert!(
            view.text.contains("{quota}"),
            "a fact is no place for another: {}",
            view.text
        );
        let slack = body(&view, NoticeChannel::Slack);
        assert!(
            slack.contains("&lt;!channel&gt;") && !slack.contains("<!channel>"),
            "{slack}"
        );
        let discord: serde_json::Value =
            serde_json::from_str(&body(&view, NoticeChannel::Discord)).expect("JSON");
        assert_eq!(discord["allowed_mentions"]["parse"], json!([]));
        let content = discord["content"].as_str().expect("text");
        assert!(content.contains("\\[a\\](http://b)"), "{content}");
        assert!(content.chars().count() <= DISCORD_MOST);
    }

    #[test]
    fn long_facts_are_cut_and_have_no_line_breaks() {
        let long = format!("a\nb{}", "x".repeat(400));
        let line = one_line(&long);
        assert!(
            line.starts_with("a b") && line.ends_with('…') && line.chars().count() == FACT_MOST + 1
        );
    }
}
