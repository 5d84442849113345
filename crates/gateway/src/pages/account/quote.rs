//! What a submit of the same body would hold.

use std::sync::Arc;

use atelier_contract::family::IMAGE_BODY;
use atelier_contract::groups::Bill;
use atelier_contract::pages::quote::{PriceQuestion, Quote, QuoteRequest};
use atelier_contract::{Quota, Refusal, operation};

use crate::app::App;
use crate::config::Role;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;

/// Says it; nothing is held.
pub(crate) async fn ask(
    app: Arc<App>,
    received: IncomingRequest,
    Body(question): Body<PriceQuestion, IMAGE_BODY>,
) -> Result<Data<Quote>, Denial> {
    let name = question.operation.to_string();
    let role = received.from.role;
    let caller = received.caller()?.clone();
    let quote = async move {
        let intake = app.engine.intake();
        let caller = app.engine.admin().callers().refreshed(&caller).await?;
        // All choices at one moment: the next rule of the group may begin meanwhile.
        let terms = intake.quote_terms(&caller).await?;
        let custody = |name: &str| {
            let own = operation(name).is_some_and(|(family, _)| family.custody);
            role == Role::Custody && own
        };
        let here = custody(&name);
        let mut choices = Vec::new();
        for choice in question.choices.iter() {
            let mut request = question.request.clone();
            request.extend(choice.clone());
            let billed = intake.quote_at(&terms, &caller, &name, request, here);
            choices.push(price(billed.await)?);
        }
        let mut others = Vec::new();
        for QuoteRequest { operation, request } in question.others.iter() {
            let there = custody(operation);
            let billed = intake.quote_at(&terms, &caller, operation, request.clone(), there);
            others.push(price(billed.await)?);
        }
        let billed = intake.quote_at(&terms, &caller, &name, question.request, here);
        let bill = billed.await?;
        Ok::<_, Refusal>(Quote {
            quota: bill.total,
            group: bill.group,
            rule: bill.rule,
            lines: bill.lines,
            choices,
            others,
            operation: name,
        })
    };
    Ok(Data(received.admission.spend(quote).await??))
}

/// What something costs; nothing for what would be refused. What the service cannot say is not what it costs.
fn price(billed: Result<Bill, Refusal>) -> Result<Option<Quota>, Refusal> {
    match billed {
        Ok(bill) => Ok(Some(bill.total)),
        Err(refusal) if refusal.code.status() >= 500 => Err(refusal),
        Err(_) => Ok(None),
    }
}
