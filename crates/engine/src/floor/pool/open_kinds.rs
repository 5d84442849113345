//! Which kinds of work have a free place now: what a node may lease for.

use atelier_contract::Quota;
use atelier_store::read_work_kind;

use crate::floor::lane::Lane;
use crate::floor::pool::choice::{Candidate, Choice, Earlier, Wish, choose};

/// Whether a place is free for work of a kind.
pub(crate) fn is_open(kind: &str, candidates: &[&Candidate], now_ms: i64) -> bool {
    let Some((operation, speed, lane)) = read_work_kind(kind) else {
        return false;
    };
    let lane = Lane::read(lane);
    let wish = Wish {
        operation,
        speed,
        model: None,
        lane,
        follows: None,
        price: Quota::ZERO,
        earlier: Earlier::NONE,
        first: false,
    };
    let members = candidates.iter().copied().filter(|one| one.is_in(lane));
    matches!(choose(&wish, members, now_ms), Choice::Take(_))
}
