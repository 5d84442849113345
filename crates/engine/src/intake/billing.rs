//! What a call names and costs: its model, by the operator's catalogue as it is now, and its price, by the catalogue or by the
//! tariff.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::SubmitEndpoint;
use atelier_contract::models::{
    Audience, CatalogueTotal, DEFAULT_GROUP, ModelRevision, ParsedCall, note_of,
};
use atelier_contract::operation::Order;
use atelier_contract::tariff::Price;
use atelier_contract::{AccountId, Code, Quota, Refusal};

use crate::context::unavailable;
use crate::intake::{Intake, operations};
use crate::order::resolve_request;

impl Intake {
    /// Reads a call, by the operator's models as they are now.
    pub(super) fn parsed(
        &self,
        submit: &'static SubmitEndpoint,
        fields: Fields,
    ) -> Result<ParsedCall, Refusal> {
        let audience = Audience {
            group: DEFAULT_GROUP,
            now_ms: self.context.now_ms(),
        };
        self.models.catalogue().parse(submit, fields, &audience)
    }

    /// The revision of the catalogue's model that a job is accepted with: of the one it names, or its parent's.
    pub(super) async fn accepted_model(
        &self,
        named: Option<Arc<ModelRevision>>,
        stored: &Fields,
    ) -> Result<Option<Arc<ModelRevision>>, Refusal> {
        // A call may name one model and go on with its parent's: the order decides.
        let Some(note) = note_of(stored) else {
            return Ok(None);
        };
        let is_it = |row: &Arc<ModelRevision>| {
            row.revision == note.revision && row.definition.name == note.name
        };
        if let Some(row) = named.filter(is_it) {
            return Ok(Some(row));
        }
        let found = self.models.revision(&note.name, note.revision).await;
        found.map_err(unavailable)
    }

    /// What a submit of the same fields would hold, without running it; with `custody`, on the custody host.
    pub async fn quote(
        &self,
        account_id: &AccountId,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<Quota, Refusal> {
        let bill = self.quote_total(account_id, operation, fields, custody);
        bill.await.map(|bill| bill.total)
    }

    /// The same with the lines that a price of the catalogue is made of.
    pub async fn quote_total(
        &self,
        account_id: &AccountId,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<CatalogueTotal, Refusal> {
        let (_, submit) = operations::find(operation)?;
        let request = self.parsed(submit, fields)?.request;
        let ordered =
            resolve_request(&self.context, &self.assets, account_id, request.as_ref()).await?;
        self.bill(submit.name, &ordered.order, custody)
    }

    /// What an order costs: by the price of its model, where the operator has set one, or else by the tariff. The catalogue's
    /// prices are none of the caller's own worker accounts.
    pub(super) fn bill(
        &self,
        operation: &str,
        order: &Order,
        custody: bool,
    ) -> Result<CatalogueTotal, Refusal> {
        if let Some(bill) = order.catalogue_price.as_ref().filter(|_| !custody) {
            return Ok(bill.clone());
        }
        let total = self.price_of(operation, &order.price, custody)?;
        Ok(CatalogueTotal {
            total,
            lines: Vec::new(),
        })
    }

    /// What a call costs by the tariff; on the caller's own worker accounts it has a price of its own.
    fn price_of(&self, operation: &str, price: &Price, custody: bool) -> Result<Quota, Refusal> {
        let tariff = self.prices.tariff();
        let own = custody.then(|| Price::custody(operation));
        tariff
            .total(own.as_ref().unwrap_or(price))
            .map_err(|error| {
                tracing::error!(%error, "an operation has no price");
                let message = "the request has no price; tell the operator";
                Refusal::new(Code::Internal, message)
            })
    }
}
