//! What may be asked for in words: the operator's rules, and a pause for accounts that go on asking for what they refuse.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use atelier_contract::family::{Family, Request};
use atelier_contract::{Code, PromptRule, Refusal, refuse_banned};

use crate::house::House;

const DAY_MS: i64 = 24 * 3_600_000;

/// How many prompts of each account and family were refused on one day. A node counts by itself.
#[derive(Default)]
pub(super) struct Prompts(Mutex<Refused>);

#[derive(Default)]
struct Refused {
    day: i64,
    counts: HashMap<(String, &'static str), u32>,
}

impl Prompts {
    /// Refuses an account that had too many prompts of a family refused today.
    pub(super) fn check_pause(
        &self,
        house: &House,
        account_id: &str,
        family: &'static Family,
    ) -> Result<(), Refusal> {
        let most = house.settings.refused_prompts_a_day;
        let refused = self.with_today(house, |counts| {
            let key = (account_id.to_owned(), family.name);
            counts.get(&key).copied().unwrap_or(0)
        });
        if most == 0 || refused < most {
            return Ok(());
        }
        let name = family.name;
        let message = format!(
            "{name}: {most} prompts were refused today; it can be used again after midnight UTC"
        );
        Err(Refusal::new(Code::FamilyPaused, message))
    }

    /// Refuses words that a rule of the operator's forbids, and counts that.
    pub(super) fn check(
        &self,
        house: &House,
        account_id: &str,
        family: &'static Family,
        request: &dyn Request,
        rules: &[PromptRule],
    ) -> Result<(), Refusal> {
        let judged = refuse_banned(request, family.name, rules);
        if judged.is_err() {
            self.count(house, account_id, family);
        }
        judged
    }

    /// Counts a prompt that was refused.
    pub(super) fn count(&self, house: &House, account_id: &str, family: &'static Family) {
        self.with_today(house, |counts| {
            *counts
                .entry((account_id.to_owned(), family.name))
                .or_default() += 1;
        });
    }

    fn with_today<T>(
        &self,
        house: &House,
        act: impl FnOnce(&mut HashMap<(String, &'static str), u32>) -> T,
    ) -> T {
        let today = house.now_ms().div_euclid(DAY_MS);
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.day != today {
            *refused = Refused {
                day: today,
                counts: HashMap::new(),
            };
        }
        act(&mut refused.counts)
    }
}
