//! What a call names and costs: its model, by the operator's catalogue as it is now, and its price, by the catalogue or by the
//! tariff and the account's group.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::SubmitEndpoint;
use atelier_contract::groups::{Bill, BillError, BillSubject, PriceGroup};
use atelier_contract::models::{
    Audience, DEFAULT_GROUP, ModelRevision, ParsedCall, model_of, note_of,
};
use atelier_contract::{Code, Quota, Refusal};

use crate::admin::Caller;
use crate::context::unavailable;
use crate::intake::call::{BilledOrder, FamilyEndpoint, QuoteTerms};
use crate::intake::{Intake, operations};
use crate::order::resolve_request;

impl Intake {
    /// Reads a call, by the operator's models as they are now.
    pub(super) fn parsed(
        &self,
        submit: &'static SubmitEndpoint,
        fields: Fields,
        group: Option<&PriceGroup>,
    ) -> Result<ParsedCall, Refusal> {
        let audience = Audience {
            group: group.map_or(DEFAULT_GROUP, PriceGroup::name),
            now_ms: self.context.now_ms(),
        };
        self.sold
            .models
            .catalogue()
            .parse(submit, fields, &audience)
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
        let found = self.sold.models.revision(&note.name, note.revision).await;
        found.map_err(unavailable)
    }

    /// What a submit of the same fields would hold, without running it; with `custody`, on the custody host.
    pub async fn quote(
        &self,
        caller: &Caller,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<Quota, Refusal> {
        let bill = self.quote_bill(caller, operation, fields, custody);
        bill.await.map(|bill| bill.total)
    }

    /// The same with the lines that it is made of, and the rule of the account's group.
    pub async fn quote_bill(
        &self,
        caller: &Caller,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<Bill, Refusal> {
        let terms = self.quote_terms(caller).await?;
        let bill = self.quote_at(&terms, caller, operation, fields, custody);
        bill.await
    }

    /// What quotes of this moment go by, for whoever asks for several.
    pub async fn quote_terms(&self, caller: &Caller) -> Result<QuoteTerms, Refusal> {
        Ok(QuoteTerms {
            group: self.group_of(caller).await?,
            now_ms: self.context.now_ms(),
        })
    }

    /// What a submit of the same fields would hold by the terms of a moment.
    pub async fn quote_at(
        &self,
        terms: &QuoteTerms,
        caller: &Caller,
        operation: &str,
        fields: Fields,
        custody: bool,
    ) -> Result<Bill, Refusal> {
        let (family, submit) = operations::find(operation)?;
        let group = terms.group.as_deref();
        let request = self.parsed(submit, fields, group)?.request;
        let (context, account_id) = (&self.context, &caller.account_id);
        let ordered = resolve_request(context, &self.assets, account_id, request.as_ref()).await?;
        let billed = BilledOrder {
            endpoint: FamilyEndpoint { family, submit },
            order: &ordered.order,
            stored: &ordered.order.stored(request.as_ref()),
            custody,
        };
        self.bill(&billed, group, terms.now_ms)
    }

    /// The group of a caller's account, if anybody said something of it.
    pub(super) async fn group_of(
        &self,
        caller: &Caller,
    ) -> Result<Option<Arc<PriceGroup>>, Refusal> {
        self.sold.groups.of(caller.group.as_deref()).await
    }

    /// What an order costs an account: by the price of its model, where the operator has set one, or else by the tariff, with the
    /// rule of the account's group that counts at that moment.
    pub(super) fn bill(
        &self,
        billed: &BilledOrder<'_>,
        group: Option<&PriceGroup>,
        now_ms: i64,
    ) -> Result<Bill, Refusal> {
        let ruled = group.is_some_and(|group| !group.is_plain());
        let subject = BillSubject {
            operation: billed.endpoint.submit.name,
            family: billed.endpoint.family.name,
            model: ruled.then(|| model_of(billed.stored)).flatten(),
            custody: billed.custody,
            now_ms,
        };
        let tariff = self.sold.prices.tariff();
        Bill::of(billed.order, &tariff, &subject, group).map_err(|error| match error {
            BillError::Refused(refusal) => refusal,
            BillError::Tariff(error) => {
                tracing::error!(%error, "an operation has no price");
                let message = "the request has no price; tell the operator";
                Refusal::new(Code::Internal, message)
            }
        })
    }
}
