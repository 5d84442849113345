//! Who spends on a job, and what its caller calls it.

use crate::db::{Arg, args};
use crate::row::{Columns, FromRow};

/// Who spends on a job, and what its caller calls it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    /// The key that it came by.
    pub key_id: Option<String>,
    /// The keys above that one, the first one first, with spaces between them.
    pub key_above: Option<String>,
    /// The member of the account who asked for it.
    pub member_id: Option<String>,
    /// The model that it names, built-in or of the catalogue.
    pub model: Option<String>,
    /// What its caller tags it with, as a JSON object of texts.
    pub tags: Option<String>,
    /// The end user that its caller names.
    pub user: Option<String>,
}

impl FromRow for Attribution {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            key_id: columns.maybe_text()?,
            key_above: columns.maybe_text()?,
            member_id: columns.maybe_text()?,
            model: columns.maybe_text()?,
            tags: columns.maybe_text()?,
            user: columns.maybe_text()?,
        })
    }
}

impl Attribution {
    /// The key that the job came by, and those above it, in the order in which they ask whether it may be spent.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let own = self.key_id.as_deref().into_iter();
        own.chain(self.key_above.iter().flat_map(|above| above.rsplit(' ')))
    }

    /// How many bytes of it the caller made up.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |text: &Option<String>| text.as_deref().map_or(0, str::len);
        bytes(&self.tags) + bytes(&self.user)
    }

    /// Its values, in the order of its columns.
    pub(crate) fn put<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            self.key_id.as_deref(),
            self.key_above.as_deref(),
            self.member_id.as_deref(),
            self.model.as_deref(),
            self.tags.as_deref(),
            self.user.as_deref(),
        ]);
    }
}
