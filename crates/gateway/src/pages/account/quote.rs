//! What a submit of the same body would hold.

use std::sync::Arc;

use atelier_contract::family::IMAGE_BODY;
use atelier_contract::operation;
use atelier_contract::pages::quote::{Quote, QuoteRequest};

use crate::app::App;
use crate::config::Role;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;

/// Says it; nothing is held.
pub(crate) async fn ask(
    app: Arc<App>,
    received: IncomingRequest,
    Body(question): Body<QuoteRequest, IMAGE_BODY>,
) -> Result<Data<Quote>, Denial> {
    let name = question.operation.to_string();
    let own = operation(&name).is_some_and(|(family, _)| family.custody);
    let custody = received.from.role == Role::Custody && own;
    let account = received.account()?.to_owned();
    let quote = async move {
        let total = app
            .engine
            .intake()
            .quote_total(&account, &name, question.request, custody);
        total.await.map(|price| Quote {
            quota: price.total,
            lines: price.lines,
            operation: name,
        })
    };
    Ok(Data(received.admission.spend(quote).await??))
}
