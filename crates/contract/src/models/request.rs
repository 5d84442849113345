//! A request that names a model of the catalogue: the request of the model it is like, with the operator's words over it.

use std::sync::Arc;

use super::facts::facts_of;
use super::index::CatalogueIndex;
use super::names::SPELLINGS;
use super::note::{CATALOGUE_FIELD, ModelNote, note_of, put_back};
use super::price::{PriceLine, UnitPrice};
use super::row::CatalogueRow;
use super::words::text_of;
use crate::body::Fields;
use crate::ids::JobId;
use crate::operation::{Order, ReferencedJobs, Request};
use crate::refusal::Refusal;

/// A request in the words of a built-in model, and whose words these stand for.
pub struct CatalogueRequest {
    inner: Box<dyn Request>,
    model: RequestModel,
}

/// Where the model of a request comes from.
enum RequestModel {
    /// From the call itself.
    Named(ModelNote, CallContext, Arc<CatalogueRow>),
    /// From the job that it follows, if that has one. A call that names a built-in model itself has the earlier job's only
    /// where its operation says so.
    Parent(CallContext, bool),
}

/// What a call was read with.
pub(super) struct CallContext {
    pub(super) index: Arc<CatalogueIndex>,
    pub(super) operation: &'static str,
    pub(super) now_ms: i64,
}

impl CatalogueRequest {
    pub(super) fn named(
        inner: Box<dyn Request>,
        said: Fields,
        call: CallContext,
        row: Arc<CatalogueRow>,
    ) -> Box<dyn Request> {
        let note = ModelNote {
            name: row.name().to_owned(),
            revision: row.revision.revision,
            said,
        };
        let model = RequestModel::Named(note, call, row);
        Box::new(Self { inner, model })
    }

    pub(super) fn following(
        inner: Box<dyn Request>,
        call: CallContext,
        asks: bool,
    ) -> Box<dyn Request> {
        let model = RequestModel::Parent(call, asks);
        Box::new(Self { inner, model })
    }

    fn note(&self) -> Option<&ModelNote> {
        match &self.model {
            RequestModel::Named(note, ..) => Some(note),
            RequestModel::Parent(..) => None,
        }
    }

    /// The order of `like`, which speaks of the model by the name that the caller knows.
    fn drafted(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let RequestModel::Named(note, _, row) = &self.model else {
            return self.inner.draft(context);
        };
        let stands_for = row.target.model.as_deref().filter(|_| !row.builtin);
        self.inner.draft(context).map_err(|refusal| Refusal {
            message: stands_for.map_or_else(
                || refusal.message.clone(),
                |word| renamed(&refusal.message, word, &note.name),
            ),
            ..refusal
        })
    }
}

impl CallContext {
    /// Whether an order has the model of the job it goes out from, whatever the call named.
    fn takes_over(&self, order: &Order, context: ReferencedJobs<'_>) -> bool {
        let spelling = facts_of(self.operation).and_then(|facts| facts.model_field);
        context.parent.is_some() && spelling.is_some_and(|field| order.resolved.contains_key(field))
    }

    /// The model of a follow-up: that of the earlier job, or a built-in one that the order found there.
    fn inherit(
        &self,
        order: &mut Order,
        context: ReferencedJobs<'_>,
        inner: &dyn Request,
    ) -> Result<(), Refusal> {
        let parent = context.parent.map(|job| &job.request);
        let noted = parent.and_then(|stored| Some((stored, note_of(stored)?)));
        if let Some((stored, mut note)) = noted {
            note.said
                .retain(|field, _| is_inherited(field, order, stored));
            note.apply(&mut order.brief);
            if let Some(row) = self.index.last_known(&note.name) {
                let paid = context.parent.map_or(&[][..], |job| &job.price_lines);
                self.price_again(&row, &note, order, inner, paid)?;
            }
            order
                .resolved
                .insert(CATALOGUE_FIELD.to_owned(), note.value());
            return Ok(());
        }
        let facts = facts_of(self.operation);
        let spelling = facts.and_then(|facts| facts.model_field);
        let found = spelling.and_then(|field| order.resolved.get(field).map(text_of));
        let usual = facts.and_then(|facts| facts.default_model.as_deref());
        let model = found.or_else(|| usual.map(Into::into));
        let row = model.and_then(|model| self.index.row(&model));
        let row = row.filter(|row| row.builtin && row.in_submit(self.operation).is_some());
        let Some(row) = row.cloned() else {
            // Nothing of a model that the call named and the order did not use.
            order
                .resolved
                .insert(CATALOGUE_FIELD.to_owned(), serde_json::Value::Null);
            return Ok(());
        };
        if !row.is_usable(self.now_ms) {
            let field = spelling.unwrap_or(SPELLINGS[0]);
            // Built-in models have no successor, so nobody's group matters.
            return Err(self.index.closed(&row, field, "", self.now_ms));
        }
        let note = ModelNote {
            name: row.name().to_owned(),
            revision: row.revision.revision,
            said: Fields::new(),
        };
        self.price(&row, &note, order, inner)?;
        order
            .resolved
            .insert(CATALOGUE_FIELD.to_owned(), note.value());
        Ok(())
    }

    /// Prices a follow-up. Words that it has from the earlier job may not be sold any more: then they cost what was paid there.
    fn price_again(
        &self,
        row: &CatalogueRow,
        note: &ModelNote,
        order: &mut Order,
        inner: &dyn Request,
        paid: &[PriceLine],
    ) -> Result<(), Refusal> {
        let Some(price) = row.price(self.operation) else {
            return Ok(());
        };
        if price.covers(&priced_fields(price, note, order, inner)) {
            return self.price(row, note, order, inner);
        }
        // Accounts of a group have lines of the tariff, too: what was paid by it is paid by it again.
        if let Some(line) = paid.iter().find(|line| note.wrote(line)) {
            order.catalogue_price = Some(UnitPrice::total_like(line, &order.brief)?);
        }
        Ok(())
    }

    /// Prices an order by a row, where it has a price for the operation.
    fn price(
        &self,
        row: &CatalogueRow,
        note: &ModelNote,
        order: &mut Order,
        inner: &dyn Request,
    ) -> Result<(), Refusal> {
        let Some(price) = row.price(self.operation) else {
            return Ok(());
        };
        let fields = priced_fields(price, note, order, inner);
        order.catalogue_price = Some(price.total(&note.name, &fields, &order.brief)?);
        Ok(())
    }
}

/// The words of a request, if its price goes by any.
fn priced_fields(
    price: &UnitPrice,
    note: &ModelNote,
    order: &Order,
    inner: &dyn Request,
) -> Fields {
    let mut fields = Fields::new();
    if !price.factors.is_empty() {
        fields = inner.to_fields();
        fields.extend(order.resolved.clone());
        fields.extend(note.said.clone());
    }
    fields
}

/// Whether a follow-up has a word from the job that it follows: the model always, others where the order took them over.
fn is_inherited(field: &str, order: &Order, parent: &Fields) -> bool {
    SPELLINGS.contains(&field)
        || order
            .resolved
            .get(field)
            .is_some_and(|value| parent.get(field) == Some(value))
}

impl Request for CatalogueRequest {
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
        let mut order = self.drafted(context)?;
        match &self.model {
            RequestModel::Named(note, call, row) => {
                if call.takes_over(&order, context) {
                    call.inherit(&mut order, context, self.inner.as_ref())?;
                } else {
                    note.apply(&mut order.brief);
                    call.price(row, note, &mut order, self.inner.as_ref())?;
                }
            }
            RequestModel::Parent(call, asks) => {
                if !*asks || call.takes_over(&order, context) {
                    call.inherit(&mut order, context, self.inner.as_ref())?;
                }
            }
        }
        Ok(order)
    }

    fn to_fields(&self) -> Fields {
        let mut fields = self.inner.to_fields();
        if let Some(note) = self.note() {
            fields.insert(CATALOGUE_FIELD.to_owned(), note.value());
        }
        fields
    }

    fn as_asked(&self) -> Fields {
        let mut fields = self.to_fields();
        put_back(&mut fields);
        fields
    }
}

/// A message in which a whole word is another one.
pub(super) fn renamed(message: &str, word: &str, name: &str) -> String {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let begins = !before.chars().next_back().is_some_and(goes_on);
        let ends = !after.chars().next().is_some_and(|c| goes_on(c) && c != '.');
        out.push_str(before);
        out.push_str(if begins && ends { name } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
}
