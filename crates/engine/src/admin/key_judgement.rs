//! What may be done to a key, by whom: nobody gets more by it than the keys above allow, nor more than whoever does it has.

use atelier_contract::{Code, Refusal, Scope, Scopes};
use atelier_store::Key;

use super::callers::Caller;
use super::key_request::{KeyHolder, KeyRequest, no_key};
use super::key_terms::stored_terms;

/// Whether a key is another one or below it.
pub(super) fn is_related(key: &Key, own: &str) -> bool {
    key.id == own || key.ancestors().any(|id| id == own)
}

/// Refuses an end that has passed.
pub(super) fn check_end(expires_ms: Option<i64>, now_ms: i64) -> Result<(), Refusal> {
    if expires_ms.is_some_and(|end_ms| end_ms <= now_ms) {
        return Err(Refusal::invalid("expiresAt", "must be in the future"));
    }
    Ok(())
}

/// Whether a caller may do to an account what its owner may: an owner who signed in, or a key that is below none, is limited by nothing
/// and does not end. One that ends would outlive its end with the secret of one that does not.
pub(crate) fn is_free(keys: &[Key], caller: &Caller) -> bool {
    let own = keys.iter().find(|key| key.id == *caller.key_id);
    let unbound =
        |own: &Key| own.above.is_none() && own.terms.is_free() && own.expires_ms.is_none();
    caller.is_owner() || (caller.scopes.allow(Scope::Account) && own.is_some_and(unbound))
}

/// Whether a caller sees keys that are not below its own.
pub(super) fn sees_all(caller: &Caller) -> bool {
    caller.key_above.is_none() && caller.scopes.allow(Scope::Account)
}

/// A key that whoever acts may change: an operator any; a key itself and those below it; and whoever is free all others of the account
/// that may do no more than it does.
pub(super) fn managed<'a>(
    keys: &'a [Key],
    key_id: &str,
    by: KeyHolder<'_>,
) -> Result<&'a Key, Refusal> {
    let found = keys
        .iter()
        .find(|key| key.id == key_id)
        .ok_or_else(no_key)?;
    let KeyHolder::Caller(caller) = by else {
        return Ok(found);
    };
    let scopes = Scopes::parse(&found.scopes).unwrap_or(Scopes::NONE);
    if is_related(found, &caller.key_id) || (is_free(keys, caller) && caller.scopes.cover(scopes)) {
        return Ok(found);
    }
    let message = "a key changes itself and the keys below it, and no other";
    Err(Refusal::new(Code::Forbidden, message))
}

/// Refuses a change that allows more than the keys above do, or that a key would allow itself.
pub(super) fn check_change(
    keys: &[Key],
    seen: &Key,
    wanted: &KeyRequest,
    by: KeyHolder<'_>,
) -> Result<(), Refusal> {
    let above = seen
        .ancestors()
        .filter_map(|id| keys.iter().find(|key| key.id == id));
    check_line(wanted, Some(seen), above)?;
    let KeyHolder::Caller(caller) = by else {
        return Ok(());
    };
    let before = Scopes::parse(&seen.scopes).unwrap_or(Scopes::NONE);
    if !caller.scopes.cover(wanted.scopes) && wanted.scopes != before {
        let message = format!("this key may give {} at most", caller.scopes);
        return Err(Refusal::field(Code::Forbidden, "scopes", message));
    }
    if seen.id == *caller.key_id {
        // By its row as well as by the caller: another node may have taken scopes away a moment ago.
        if !before.cover(wanted.scopes) {
            let message = "a key gives itself no scope";
            return Err(Refusal::field(Code::Forbidden, "scopes", message));
        }
        let later = match (wanted.expires_ms, seen.expires_ms) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(new), Some(old)) => new > old,
        };
        if later {
            let message = "a key does not let itself work for longer";
            return Err(Refusal::field(Code::Forbidden, "expiresAt", message));
        }
        wanted.terms.check_narrower(&stored_terms(seen)?)?;
    }
    Ok(())
}

/// Refuses what allows more than one of the keys above does. What stays as it was is not judged again: a key above may have been
/// narrowed since, and limits this one all the same.
pub(super) fn check_line<'a>(
    request: &KeyRequest,
    seen: Option<&Key>,
    mut above: impl Iterator<Item = &'a Key>,
) -> Result<(), Refusal> {
    let terms = match seen {
        Some(seen) => request.terms.changed_since(&stored_terms(seen)?),
        None => request.terms.clone(),
    };
    let moved = seen.is_none_or(|seen| seen.expires_ms != request.expires_ms);
    let rescoped = seen.is_none_or(|seen| Scopes::parse(&seen.scopes) != Some(request.scopes));
    above.try_for_each(|key| {
        let outlasts = key
            .expires_ms
            .is_some_and(|end_ms| request.expires_ms.is_none_or(|own_ms| own_ms > end_ms));
        if moved && outlasts {
            let message = "is later than that of the key above it";
            return Err(Refusal::field(Code::Forbidden, "expiresAt", message));
        }
        let most = Scopes::parse(&key.scopes).unwrap_or(Scopes::NONE);
        if rescoped && !most.cover(request.scopes) {
            let message = format!("the key above it may do {most} at most");
            return Err(Refusal::field(Code::Forbidden, "scopes", message));
        }
        terms.check_below(&stored_terms(key)?)
    })
}
