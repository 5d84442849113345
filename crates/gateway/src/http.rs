//! From a request to an answer: find the route, know the caller, do it, frame the answer.

mod account;
mod admin;
mod answer;
mod artgen;
mod assets;
mod body;
mod caller;
mod custody;
mod denial;
mod docs;
mod events;
mod fetch;
mod fleet;
mod form;
mod health;
mod hooks;
mod job_view;
mod jobs;
mod own;
mod paging;
mod payload;
mod range;
mod rate;
mod reply;
mod request_id;
mod router;
mod rows;
mod submit;

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use atelier_contract::{Code, Refusal};
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::{Request, Version};

use crate::app::App;
use crate::config::Role;
use crate::server::ward::Seat;

pub(crate) use body::memory as body_memory;
pub(crate) use rate::Rates;
pub(crate) use router::Router;

use denial::Denial;
use reply::Reply;

/// What a handler gives back.
type Answer = Result<Reply, Denial>;

/// Where a request came from.
#[derive(Clone, Copy)]
pub(crate) struct From {
    /// The address of the other end.
    pub(crate) peer: IpAddr,
    /// What the listener serves.
    pub(crate) role: Role,
}

/// A request whose head has arrived.
struct Received {
    head: hyper::http::request::Parts,
    body: Incoming,
    from: From,
    /// What stood at the placeholders of the route, in order.
    params: Vec<String>,
}

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
    let _place = app.places.try_acquire().map_err(|_| {
        Refusal::new(
            Code::Overloaded,
            "too many requests at once; try again shortly",
        )
    })?;
    let (head, body) = request.into_parts();
    let from = From {
        role: app.router.role_of(&head, from.role),
        ..from
    };
    let (route, params) = app.router.find(from.role, &head.method, head.uri.path())?;
    let received = Received {
        head,
        body,
        from,
        params,
    };
    match route {
        // The commonest call by far goes without a box.
        router::Target::Fetch(family) => fetch::show(app, received, family).await,
        router::Target::Submit(family, entry) => {
            submit::accept(app, received, family, entry).boxed().await
        }
        router::Target::Page(page) => page(Arc::clone(app), received).await,
    }
}
