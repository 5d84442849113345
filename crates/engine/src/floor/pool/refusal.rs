//! What nobody in the pool would take is refused before it is accepted.

use atelier_backends::regard::{Regard, Regarded};
use atelier_contract::brief::Brief;

use crate::floor::lane::Lane;
use crate::floor::pool::Pool;
use crate::floor::pool::choice::Wish;
use crate::floor::pool::member::Member;

impl Pool {
    /// Why everybody who could be given a job refuses what it asks for; nothing where somebody may take it.
    pub(crate) fn refusal(&self, wish: &Wish<'_>, brief: &Brief) -> Option<Regarded> {
        if self.others_may(wish.lane, &[]) {
            return None;
        }
        let members = self.members();
        let suited = members.iter().filter(|one| one.candidate.could(wish));
        let suited: Vec<&Member> = suited.collect();
        let is_first = |one: &&Member| !one.candidate.last_resort;
        let only_last = wish.lane != Lane::Any || !suited.iter().any(is_first);
        let mut found = None;
        for member in suited.iter().filter(|one| only_last || is_first(one)) {
            let all = member.backend.regard(wish.operation, brief);
            let refused = all.into_iter().find(|one| one.regard == Regard::Refused)?;
            found.get_or_insert(refused);
        }
        found
    }
}
