//! The catalogue: every model that operators sell, as one snapshot that is never changed, only followed by another one. A
//! request is read with one look-up by name, however many models there are.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::builtin::models;
use super::definition::ModelRevision;
use super::facts::{SubmitFacts, facts_of};
use super::index::CatalogueIndex;
use super::note::put_back;
use super::request::{CallContext, CatalogueRequest, renamed};
use super::row::CatalogueRow;
use super::rules::is_absent;
use super::words::text_of;
use crate::body::{self, Fields};
use crate::family::{Family, SubmitEndpoint};
use crate::operation::Request;
use crate::refusal::Refusal;

/// The group that accounts belong to when nobody said otherwise.
pub const DEFAULT_GROUP: &str = "default";
/// Names that a refusal lists at most.
const NAMES_MOST: usize = 40;

/// All models that operators sell, at one moment.
#[derive(Clone, Default)]
pub struct ModelCatalogue(pub(super) Arc<CatalogueIndex>);

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
pub struct Audience<'a> {
    /// The group of the account.
    pub group: &'a str,
    /// The moment of the call, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A call that was read.
pub struct ParsedCall {
    /// The request, which orders and stores what the call named.
    pub request: Box<dyn Request>,
    /// The row that the call named; a follow-up's model is known only by its order.
    pub model: Option<Arc<ModelRevision>>,
}

/// A model that an account can name now.
pub struct ListedModel<'a> {
    /// Its name as requests give it.
    pub name: &'a str,
    /// The first family that has it.
    pub family: &'static Family,
    /// The operations whose requests may name it.
    pub submits: &'a [&'static SubmitEndpoint],
    /// What an operator said of it; `None` for a built-in model that nobody set.
    pub row: Option<&'a Arc<ModelRevision>>,
}

/// How the fields of a call are given their types.
type Reader = fn(Fields) -> Result<Box<dyn Request>, Refusal>;

impl ModelCatalogue {
    /// The catalogue of some rows, each the latest of its name. Rows that do not fit any more are left out; see
    /// [`ModelCatalogue::unusable`].
    pub fn new(rows: Vec<ModelRevision>) -> Self {
        let mut index = CatalogueIndex::default();
        for row in rows {
            index.take(Arc::new(row));
        }
        index.link();
        Self(Arc::new(index))
    }

    /// The same with one row more or in the place of an older one: what would be if it were written.
    #[must_use]
    pub fn with(&self, changed: ModelRevision) -> Self {
        let key = changed.definition.key();
        let mut index = self.0.without(&key);
        index.take(Arc::new(changed));
        index.link();
        Self(Arc::new(index))
    }

    /// Whether operators said nothing, now or before.
    pub fn is_empty(&self) -> bool {
        self.0.rows.is_empty() && self.0.gone.is_empty()
    }

    /// The rows that do not fit any more, with the reason.
    pub fn unusable(&self) -> &[(String, Refusal)] {
        &self.0.unusable
    }

    /// The row with a name or an alias, in any case; also that of a built-in model.
    pub fn find(&self, name: &str) -> Option<&Arc<ModelRevision>> {
        self.0.row(name).map(|row| &row.revision)
    }

    /// The model in the place of a listed one, as far as an account may know of it and can name it now.
    pub fn successor<'a>(
        &self,
        model: &ListedModel<'a>,
        audience: &Audience<'_>,
    ) -> Option<&'a str> {
        let definition = &model.row?.definition;
        self.0
            .successor(definition, audience.group, audience.now_ms)
    }

    /// All rows that can be used, in the order of their names.
    pub fn rows(&self) -> impl Iterator<Item = &Arc<ModelRevision>> {
        self.0.rows.values().map(|row| &row.revision)
    }

    /// Reads a call. One that names no model of the catalogue is read as without one.
    pub fn parse(
        &self,
        submit: &'static SubmitEndpoint,
        fields: Fields,
        audience: &Audience<'_>,
    ) -> Result<ParsedCall, Refusal> {
        if self.is_empty() {
            let request = (submit.parse)(fields)?;
            return Ok(ParsedCall {
                request,
                model: None,
            });
        }
        self.read(submit, submit.parse, fields, audience)
    }

    /// Reads a stored request as if it were called for with this catalogue, for previews.
    pub fn parse_again(
        &self,
        submit: &'static SubmitEndpoint,
        mut stored: Fields,
        audience: &Audience<'_>,
    ) -> Result<ParsedCall, Refusal> {
        put_back(&mut stored);
        self.read(submit, submit.parse_stored, stored, audience)
    }

    fn read(
        &self,
        submit: &'static SubmitEndpoint,
        reader: Reader,
        mut fields: Fields,
        audience: &Audience<'_>,
    ) -> Result<ParsedCall, Refusal> {
        let Some(facts) = facts_of(submit.name) else {
            let request = reader(fields)?;
            return Ok(ParsedCall {
                request,
                model: None,
            });
        };
        let spelling = facts.model_spelling();
        let given = fields.get(spelling).filter(|value| !is_absent(value));
        let asks = given.is_some();
        let name = given
            .map(text_of)
            .or(facts.default_model.as_deref().map(Cow::Borrowed));
        let row = name.as_deref().and_then(|name| self.0.row(name));
        let row = row.filter(|row| {
            row.in_submit(submit.name).is_some()
                && row.revision.definition.is_visible_to(audience.group)
        });
        let call = || CallContext {
            index: Arc::clone(&self.0),
            operation: submit.name,
            now_ms: audience.now_ms,
        };
        let Some(row) = row
            .cloned()
            .filter(|row| asks || row.is_usable(audience.now_ms))
        else {
            return self.read_plain(facts, reader, fields, audience, &call);
        };
        if !row.is_usable(audience.now_ms) {
            return Err(self
                .0
                .closed(&row, spelling, audience.group, audience.now_ms));
        }
        body::settle_spellings(&mut fields, submit.spellings);
        let said = adapt(&row, facts, &mut fields)?;
        let inner = reader(fields).map_err(|refusal| row.reworded(refusal))?;
        if !asks && inner.parent().is_some() {
            let request = CatalogueRequest::following(inner, call(), false);
            return Ok(ParsedCall {
                request,
                model: None,
            });
        }
        let model = Some(Arc::clone(&row.revision));
        let request = CatalogueRequest::named(inner, said, call(), row);
        Ok(ParsedCall { request, model })
    }

    /// Reads a call that names no model of the catalogue.
    fn read_plain(
        &self,
        facts: &'static SubmitFacts,
        reader: Reader,
        fields: Fields,
        audience: &Audience<'_>,
        call: &dyn Fn() -> CallContext,
    ) -> Result<ParsedCall, Refusal> {
        let spelling = facts.model_spelling();
        let given = fields.get(spelling).filter(|value| !is_absent(value));
        let given = given.map(|value| text_of(value).into_owned());
        let named = given.is_some() && facts.model_field.is_some();
        let usual = facts.default_model.as_deref().filter(|_| !named);
        let usual = usual
            .and_then(|model| self.0.row(model))
            .filter(|row| row.builtin);
        let request = reader(fields).map_err(|refusal| match (facts.model_field, &given) {
            (Some(field), Some(given)) if refusal.field.as_deref() == Some(field) => {
                self.unknown(facts, given, audience)
            }
            _ => refusal,
        })?;
        if request.parent().is_some() {
            let request = CatalogueRequest::following(request, call(), named);
            return Ok(ParsedCall {
                request,
                model: None,
            });
        }
        if let Some(row) = usual.filter(|row| !row.is_usable(audience.now_ms)) {
            return Err(self
                .0
                .closed(row, spelling, audience.group, audience.now_ms));
        }
        Ok(ParsedCall {
            request,
            model: None,
        })
    }

    /// What is said of a name that nobody knows, or nobody of this group: the names that can be used.
    fn unknown(&self, facts: &SubmitFacts, given: &str, audience: &Audience<'_>) -> Refusal {
        let open = |name: &&String| {
            self.0
                .row(name)
                .is_none_or(|row| row.is_usable(audience.now_ms))
        };
        let mut names: Vec<&str> = facts
            .models
            .iter()
            .filter(open)
            .map(String::as_str)
            .collect();
        let rows = self
            .0
            .by_submit
            .get(facts.submit.name)
            .into_iter()
            .flatten();
        let rows = rows.filter(|row| !row.builtin && row.is_usable(audience.now_ms));
        let rows = rows.filter(|row| row.revision.definition.is_visible_to(audience.group));
        names.extend(rows.map(|row| row.name()));
        let more = names.len().saturating_sub(NAMES_MOST);
        names.truncate(NAMES_MOST);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more (GET /v1/models lists them)"),
        };
        let shown: String = given.chars().take(60).collect();
        let message = format!("must be one of {}{more}, is `{shown}`", names.join(", "));
        Refusal::invalid(facts.model_spelling(), message)
    }

    /// The models that an account can name now: the built-in ones in the order of the table, then the operators' by name.
    pub fn listed<'a>(&'a self, audience: &Audience<'_>) -> Vec<ListedModel<'a>> {
        let is_visible = |row: &CatalogueRow| row.revision.definition.is_visible_to(audience.group);
        self.listed_if(audience.now_ms, &is_visible)
    }

    /// The models that some account can name now, in the same order.
    pub fn sold(&self, now_ms: i64) -> Vec<ListedModel<'_>> {
        self.listed_if(now_ms, &|_| true)
    }

    fn listed_if<'a>(
        &'a self,
        now_ms: i64,
        is_visible: &dyn Fn(&CatalogueRow) -> bool,
    ) -> Vec<ListedModel<'a>> {
        let mut listed = Vec::with_capacity(models().len() + self.0.rows.len());
        for model in models() {
            let row = self.0.row(&model.name);
            if row.is_none_or(|row| row.is_usable(now_ms)) {
                listed.push(ListedModel {
                    name: &model.name,
                    family: model.family,
                    submits: &model.submits,
                    row: row.map(|row| &row.revision),
                });
            }
        }
        for row in self.0.rows.values().filter(|row| !row.builtin) {
            let seen = is_visible(row);
            let family = row.target.submits.first().map(|facts| facts.family);
            if let Some(family) = family.filter(|_| seen && row.is_usable(now_ms)) {
                listed.push(ListedModel {
                    name: row.name(),
                    family,
                    submits: &row.submits,
                    row: Some(&row.revision),
                });
            }
        }
        listed
    }
}

impl CatalogueRow {
    /// A refusal of `like` that speaks of the model by its own name.
    fn reworded(&self, refusal: Refusal) -> Refusal {
        match self.target.model.as_deref().filter(|_| !self.builtin) {
            Some(word) => Refusal {
                message: renamed(&refusal.message, word, self.name()),
                ..refusal
            },
            None => refusal,
        }
    }
}

/// Puts a call into the words of `like`; what `like` does not know is returned.
fn adapt(row: &CatalogueRow, facts: &SubmitFacts, fields: &mut Fields) -> Result<Fields, Refusal> {
    let mut said = Fields::new();
    if !row.builtin {
        let name = Value::from(row.name());
        said.insert(facts.model_spelling().to_owned(), name);
    }
    match (facts.model_field, &row.target.model) {
        (Some(field), Some(model)) => {
            fields.insert(field.to_owned(), Value::from(model.as_str()));
        }
        _ => drop(fields.remove(facts.model_spelling())),
    }
    for rule in row.rules(facts.submit.name) {
        rule.apply(row.name(), fields, &mut said)?;
    }
    Ok(said)
}
