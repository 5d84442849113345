//! A group made ready: its rules are found by what they match, with as many look-ups as there are kinds of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::definition::{GroupRevision, GroupRule};
use super::subject::{BillSubject, PriceSource};
use super::words::{CUSTODY, EVERYTHING, rule_key};

/// A rule, and from when on it counts.
struct DatedRule {
    from_ms: i64,
    /// Its place in the definition.
    place: usize,
}

/// A group with all that follows from its definition.
pub struct PriceGroup {
    revision: GroupRevision,
    /// By what they match, the latest first.
    rules: HashMap<String, Vec<DatedRule>>,
}

/// All groups, at one moment: one snapshot that is never changed, only followed by another one.
#[derive(Default)]
pub struct PriceGroups {
    groups: BTreeMap<String, Arc<PriceGroup>>,
}

impl PriceGroup {
    /// Makes a group ready.
    pub fn new(revision: GroupRevision) -> Self {
        let mut rules: HashMap<String, Vec<DatedRule>> = HashMap::new();
        for (place, rule) in revision.definition.rules.iter().enumerate() {
            let from_ms = rule.from_ms();
            let dated = rules.entry(rule_key(&rule.matches)).or_default();
            dated.push(DatedRule { from_ms, place });
        }
        for dated in rules.values_mut() {
            dated.sort_by_key(|rule| std::cmp::Reverse(rule.from_ms));
        }
        Self { revision, rules }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.revision.definition.name
    }

    /// What was written of it last.
    pub fn revision(&self) -> &GroupRevision {
        &self.revision
    }

    /// Whether its accounts pay what everybody pays.
    pub fn is_plain(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule that counts for a request: the most specific one of those that have begun.
    pub(super) fn rule(
        &self,
        subject: &BillSubject<'_>,
        source: PriceSource<'_>,
    ) -> Option<&GroupRule> {
        if subject.custody {
            return self.begun(CUSTODY, subject.now_ms, false);
        }
        let (key, replaces) = match source {
            PriceSource::Catalogue => (None, true),
            PriceSource::Tariff(key) => (Some(key), false),
        };
        let of_model = subject.model;
        let of_model = of_model.and_then(|model| self.begun(model, subject.now_ms, replaces));
        let of_key = || key.and_then(|key| self.begun(key, subject.now_ms, true));
        let general = || {
            let words = [subject.operation, subject.family, EVERYTHING];
            let mut words = words.into_iter();
            words.find_map(|word| self.begun(word, subject.now_ms, false))
        };
        of_model.or_else(of_key).or_else(general)
    }

    /// The latest rule for a word that has begun. One with an amount counts only where there is an amount to be replaced.
    fn begun(&self, word: &str, now_ms: i64, replaces: bool) -> Option<&GroupRule> {
        let key = if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(word.to_ascii_lowercase())
        } else {
            Cow::Borrowed(word)
        };
        let mut dated = self.rules.get(&*key)?.iter();
        let latest = dated.find(|rule| rule.from_ms <= now_ms)?;
        let rule = self.revision.definition.rules.get(latest.place)?;
        (replaces || rule.amount.is_none()).then_some(rule)
    }
}

impl PriceGroups {
    /// The groups of some revisions, each the latest of its name.
    pub fn new(revisions: Vec<GroupRevision>) -> Self {
        let there = revisions.into_iter().filter(|one| !one.removed);
        let groups = there.map(|one| {
            let group = PriceGroup::new(one);
            (group.name().to_owned(), Arc::new(group))
        });
        Self {
            groups: groups.collect(),
        }
    }

    /// The names of all of them, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// The group with a name, in any case.
    pub fn find(&self, name: &str) -> Option<&Arc<PriceGroup>> {
        if self.groups.is_empty() {
            return None;
        }
        self.groups.get(&name.to_ascii_lowercase())
    }
}
