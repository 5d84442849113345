//! What a submit of the same body would hold.

use std::sync::Arc;

use atelier_contract::family::IMAGE_BODY;
use atelier_contract::operation;
use atelier_contract::pages::quote::{PriceQuestion, Quote};

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
    let own = operation(&name).is_some_and(|(family, _)| family.custody);
    let custody = received.from.role == Role::Custody && own;
    let caller = received.caller()?.clone();
    let quote = async move {
        let intake = app.engine.intake();
        let caller = app.engine.admin().callers().refreshed(&caller).await?;
        // All choices at one moment: the next rule of the group may begin meanwhile.
        let terms = intake.quote_terms(&caller).await?;
        let bill = |request| intake.quote_at(&terms, &caller, &name, request, custody);
        let mut choices = Vec::new();
        for choice in question.choices.iter() {
            let mut request = question.request.clone();
            request.extend(choice.clone());
            choices.push(match bill(request).await {
                Ok(bill) => Some(bill.total),
                // What the service cannot say is not what a choice costs.
                Err(refusal) if refusal.code.status() >= 500 => return Err(refusal),
                Err(_) => None,
            });
        }
        let bill = bill(question.request).await?;
        Ok(Quote {
            quota: bill.total,
            group: bill.group,
            rule: bill.rule,
            lines: bill.lines,
            choices,
            operation: name,
        })
    };
    Ok(Data(received.admission.spend(quote).await??))
}
