//! What may be asked for in words: the operator's rules, and a pause for accounts that go on asking for what they refuse.
//! Only a refused prompt writes; what is counted is one number for all nodes.

use atelier_contract::family::Family;
use atelier_contract::operation::Request;
use atelier_contract::{Code, PromptRule, Refusal, refuse_banned};

use crate::context::{Context, unavailable};
use crate::recent_names::RecentNames;

const DAY_MS: i64 = 24 * 3_600_000;
/// What other nodes counted is looked for this often.
const LOOK_AGAIN_MS: i64 = 1_000;

/// Whose prompts may be taken, as far as is known from a moment ago: what this node refuses it knows at once.
pub(super) struct Pauses(RecentNames);

impl Default for Pauses {
    fn default() -> Self {
        Self(RecentNames::new(LOOK_AGAIN_MS))
    }
}

fn at(account_id: &str, family: &Family) -> String {
    format!("{account_id} {}", family.name)
}

/// Refuses an account that had too many prompts of a family refused today.
pub(super) async fn check_pause(
    context: &Context,
    pauses: &Pauses,
    account_id: &str,
    family: &'static Family,
) -> Result<(), Refusal> {
    let (most, now_ms) = (context.settings().prompts.refused_a_day, context.now_ms());
    if most == 0 || pauses.0.knows(&at(account_id, family), now_ms) {
        return Ok(());
    }
    let name = family.name;
    let refused = context
        .store()
        .accounts()
        .refused_prompts(account_id, name, today(context));
    if refused.await.map_err(unavailable)? < i64::from(most) {
        pauses.0.note(&at(account_id, family), now_ms);
        return Ok(());
    }
    let message = format!(
        "{name}: {most} prompts were refused today; it can be used again after midnight UTC"
    );
    Err(Refusal::new(Code::FamilyPaused, message))
}

/// Refuses words that a rule of the operator's forbids, and counts that.
pub(super) async fn check(
    context: &Context,
    pauses: &Pauses,
    account_id: &str,
    family: &'static Family,
    request: &dyn Request,
    rules: &[PromptRule],
) -> Result<(), Refusal> {
    let judged = refuse_banned(request, family, rules);
    if judged.is_err() {
        count(context, pauses, account_id, family).await?;
    }
    judged
}

/// Counts a prompt that was refused.
pub(super) async fn count(
    context: &Context,
    pauses: &Pauses,
    account_id: &str,
    family: &'static Family,
) -> Result<(), Refusal> {
    if context.settings().prompts.refused_a_day == 0 {
        return Ok(());
    }
    let counted =
        context
            .store()
            .accounts()
            .count_refused_prompt(account_id, family.name, today(context));
    let counted = counted.await.map_err(unavailable);
    pauses.0.forget(&at(account_id, family));
    counted
}

fn today(context: &Context) -> i64 {
    context.now_ms().div_euclid(DAY_MS)
}
