//! A stored request of a model of the catalogue. It was judged and priced when it was accepted, so that nothing but its note is
//! needed to order it again.

use super::note::{CATALOGUE_FIELD, ModelNote, put_back};
use crate::body::Fields;
use crate::ids::JobId;
use crate::operation::{Order, ReferencedJobs, Request};
use crate::refusal::Refusal;

/// A stored request in the words of a built-in model, with the note whose words these stand for.
pub(crate) struct StoredModelRequest {
    pub(crate) inner: Box<dyn Request>,
    pub(crate) note: ModelNote,
}

impl Request for StoredModelRequest {
    fn parent(&self) -> Option<JobId> {
        self.inner.parent()
    }
    fn cites(&self) -> Vec<String> {
        self.inner.cites()
    }
    fn prompts(&self) -> Vec<(String, &str)> {
        self.inner.prompts()
    }
    fn prompt(&self) -> Option<&str> {
        self.inner.prompt()
    }

    fn draft(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut order = self.inner.draft(context)?;
        self.note.apply(&mut order.brief);
        Ok(order)
    }

    fn to_fields(&self) -> Fields {
        let mut fields = self.inner.to_fields();
        fields.insert(CATALOGUE_FIELD.to_owned(), self.note.value());
        fields
    }

    fn as_asked(&self) -> Fields {
        let mut fields = self.to_fields();
        put_back(&mut fields);
        fields
    }
}
