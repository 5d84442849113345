//! From a request to an answer: find its line in a table, see who may, do it, frame the answer. Nothing here knows a page
//! or a family by name.

mod access;
mod answer;
mod body;
mod caller;
pub(crate) mod denial;
mod fetch;
mod form;
pub(crate) mod hosts;
pub(crate) mod memory;
pub(crate) mod page;
pub(crate) mod payload;
pub(crate) mod range;
pub(crate) mod rate;
pub(crate) mod received;
pub(crate) mod reply;
mod request_id;
mod router;
mod submit;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use atelier_contract::{Code, Refusal};
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::{Request, Version};

use crate::app::App;
use crate::server::ward::Seat;

pub(crate) use received::From;

use received::{Answer, Received, Who};
use reply::Reply;

/// Answers one request; whatever goes wrong, the caller gets an envelope.
pub(crate) async fn serve(
    app: Arc<App>,
    seat: Arc<Seat>,
    from: From,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let busy = seat.begin(request.version() == Version::HTTP_2);
    let id = request_id::of(request.headers());
    let seen = app
        .log_requests
        .then(|| (request.method().clone(), request.uri().path().to_owned()));
    let form = reply::Form::of(request.uri().path());
    let answer = AssertUnwindSafe(handle(&app, from, request))
        .catch_unwind()
        .await;
    let mut reply = match answer {
        Ok(Ok(reply)) => reply,
        Ok(Err(denial)) => reply::denied(form, &denial),
        Err(_) => reply::denied(
            form,
            &Refusal::new(Code::Internal, "something went wrong here").into(),
        ),
    };
    if reply.status().is_server_error() {
        tracing::warn!(
            status = reply.status().as_u16(),
            request = id.to_str().unwrap_or_default(),
            "answered with an error"
        );
    }
    if let Some((method, path)) = seen {
        tracing::info!(%method, path, status = reply.status().as_u16(), peer = %from.peer, "request");
    }
    app.counts.answered(reply.status());
    reply.headers_mut().insert(request_id::HEADER, id);
    reply.body_mut().keep_busy(busy);
    Ok(reply)
}

async fn handle(app: &Arc<App>, from: From, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let from = From {
        role: app.hosts.role_of(&head, from.role),
        ..from
    };
    let (target, params) = router::find(&app.hosts, from.role, &head.method, head.uri.path())?;
    // Whether the service is well can be asked even when everything else is full.
    let _place = match app.places.try_acquire() {
        Ok(place) => Some(place),
        Err(_) if target.needs_no_place() => None,
        Err(_) => {
            return Err(Refusal::new(
                Code::Overloaded,
                "too many requests at once; try again shortly",
            )
            .into());
        }
    };
    let mut received = Received {
        head,
        from,
        params,
        who: Who::Anybody,
    };
    received.who = access::admit(app, target.access(), &received).await?;
    match target {
        // The commonest call by far goes without a box.
        router::Target::Fetch(family) => fetch::show(app, received, body, family).await,
        router::Target::Submit(family, entry) => {
            submit::accept(app, received, body, family, entry)
                .boxed()
                .await
        }
        router::Target::Page(page) => (page.handler)(Arc::clone(app), received, body).await,
    }
}
