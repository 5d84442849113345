//! The part of a list that was asked for, in the engine's words.

use atelier_contract::fields::Moment;
use atelier_contract::pages::list::PeriodQuery;
use atelier_engine::records::Period;

/// From when to when.
pub(super) fn period_of(query: &PeriodQuery) -> Period {
    Period {
        from_ms: query.from.map(Moment::ms),
        to_ms: query.to.map(Moment::ms),
    }
}
