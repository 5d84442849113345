//! From a request to an answer: find its line in a table, see who may, do it, frame the answer. Nothing here knows a page
//! or a family by name.

pub(crate) mod access;
mod answer;
pub(crate) mod between;
mod body;
pub(crate) mod body_share;
mod caller;
pub(crate) mod cors;
pub(crate) mod denial;
mod fetch;
pub(crate) mod form;
pub(crate) mod hosts;
pub(crate) mod idempotency;
pub(crate) mod kept;
pub(crate) mod names;
mod noted;
pub(crate) mod page;
pub(crate) mod pass;
pub(crate) mod payload;
pub(crate) mod places;
pub(crate) mod range;
pub(crate) mod rate;
pub(crate) mod received;
pub(crate) mod reply;
mod request_id;
mod router;
pub(crate) mod session;
mod submit;
pub(crate) mod throughput;
pub(crate) mod untaken;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use atelier_contract::pages::Access;
use atelier_contract::{Code, Refusal};
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, STRICT_TRANSPORT_SECURITY};
use hyper::{Request, Version};
use tracing::Instrument as _;

use crate::app::App;
use crate::config::Role;
use crate::counts;
use crate::network;
use crate::server::framing::Wrong;
use crate::server::watch::Seat;

pub(crate) use received::{From, Reach};

use body::Arriving;
use denial::Denial;
use noted::Noted;
use pass::Pass;
use received::{Answer, Received, Who};
use reply::Reply;
use untaken::Untaken;

/// For how long a browser must not come back without TLS.
const ONE_YEAR: &str = "max-age=31536000";

const TOO_MANY_PAGES: &str =
    "too many pages without a key to this network; slow down (limits.open_per_second)";

/// Answers one request; whatever goes wrong, the caller gets an envelope.
pub(crate) async fn serve(
    app: Arc<App>,
    seat: Arc<Seat>,
    from: From,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let noted = Noted::new(&app, &request);
    let multiplexed = request.version() == Version::HTTP_2;
    let (busy, wrong) = seat.begin(multiplexed);
    let id = request_id::of(request.headers());
    let shape = reply::RefusalShape::of(request.uri().path());
    let peer = app.proxies.client(from.peer, request.headers());
    let holder = if peer == seat.peer {
        Arc::clone(&seat.holder)
    } else {
        network::holder(peer)
    };
    let from = From {
        by_proxy: app.proxies.contains(from.peer),
        peer,
        trace: noted.trace(),
        ..from
    };
    let pass = Pass::new(holder, app.config.log.slow_ms > 0);
    let mut way = counts::PAGE;
    let reader = app.origins.reader(request.method(), request.headers());
    let answer = if let Some(wrong) = wrong {
        Ok(Err(misread(wrong)))
    } else if reader.as_ref().is_some_and(cors::Reader::asks_first) {
        Ok(Ok(reply::nothing_more()))
    } else {
        let answer = handle(&app, (&seat, from), (&pass, &mut way, &id), request);
        let answer = AssertUnwindSafe(answer);
        answer.catch_unwind().await
    };
    let answer = match answer {
        Ok(Ok(reply)) if Untaken::counts(&reply, multiplexed) => {
            Ok(Box::pin(app.untaken.count(reply, pass.holder())).await)
        }
        other => other,
    };
    let mut reply = match answer {
        Ok(Ok(reply)) => reply,
        Ok(Err(denial)) => {
            if denial.refusal.code == Code::RateLimited {
                // In a box, because it is rare.
                Box::pin(pass.wait_outside()).await;
            }
            reply::denied(shape, &denial)
        }
        Err(_) => reply::denied(
            shape,
            &Refusal::new(Code::Internal, "something went wrong here").into(),
        ),
    };
    noted.tell(&app, (from, &pass), (way, &id), &reply);
    reply.headers_mut().insert(request_id::HEADER, id);
    pass.tell(reply.headers_mut());
    if let Some(reader) = reader {
        reader.tell(reply.headers_mut());
    }
    if from.secure {
        let headers = reply.headers_mut();
        headers.insert(
            STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static(ONE_YEAR),
        );
    }
    pass.give_place_back();
    Ok(reply.map(|payload| payload.send_over(&seat, busy)))
}

/// What is said of a head that was refused before it was a request.
fn misread(wrong: Wrong) -> Denial {
    let (code, message) = match wrong {
        Wrong::Line => (
            Code::InvalidRequest,
            "the head is not HTTP: each line must be `name: value` and end with CR LF",
        ),
        Wrong::Request => (
            Code::InvalidRequest,
            "the request line must be a method, a target and HTTP/1.1 or HTTP/1.0",
        ),
        Wrong::Host => (
            Code::InvalidRequest,
            "Host: must be given once and name one host",
        ),
        Wrong::Length => (
            Code::InvalidRequest,
            "the body needs either one Content-Length or Transfer-Encoding: chunked",
        ),
        Wrong::LongTarget => (Code::TargetTooLong, "the target of the request is too long"),
        Wrong::LongHead => (Code::HeadTooLarge, "the head of the request is too large"),
        Wrong::Late => (Code::RequestTimeout, "the head arrives too slowly"),
    };
    Denial {
        hang_up: true,
        ..Refusal::new(code, message).into()
    }
}

/// What stands beside every line of the log that is written for a request.
fn told(id: &HeaderValue, from: From) -> tracing::Span {
    let request = id.to_str().unwrap_or_default();
    if let Some(trace) = from.trace {
        return tracing::info_span!("request", request, trace = trace.trace_id());
    }
    tracing::info_span!("request", request)
}

async fn handle(
    app: &Arc<App>,
    (seat, from): (&Seat, From),
    (pass, way, id): (&Arc<Pass>, &mut counts::Way, &HeaderValue),
    request: Request<Incoming>,
) -> Answer {
    let (head, body) = request.into_parts();
    let for_collectors = from.role == Role::Metrics && from.reach == Reach::Machine;
    let inside = for_collectors || !app.is_public;
    let from = From {
        role: app.hosts.role_of(&head, from.role),
        ..from
    };
    let (target, params) = router::find(&app.hosts, from.role, &head.method, head.uri.path())?;
    *way = target.way();
    let access = target.access_from(inside);
    let known = access::known_here(app, seat, access, &head.headers);
    // Whether the service is well can be asked even when everything else is full.
    if let Some(caller) = &known {
        pass.enter((&app.places, &app.rates), target.kind(), &caller.account_id)?;
    } else if !target.needs_no_place() {
        if target.has_open_rate(&head) {
            let counted = app.rates.open_page(from.peer);
            counted.map_err(|seconds| Denial::later(TOO_MANY_PAGES, seconds))?;
        }
        pass.arrive(&app.places, target.kind(), access == Access::Open)?;
    }
    let body = Arriving::new(body, Arc::clone(pass));
    let mut received = Received {
        head,
        from,
        params,
        inside,
        who: Who::Anybody,
        pass: Arc::clone(pass),
    };
    received.who = match known {
        Some(caller) => Who::Caller(caller),
        // In a box, because a connection keeps room for the largest way for as long as it is open.
        None => Box::pin(access::admit(app, seat, access, &received)).await?,
    };
    if let Who::Caller(caller) = &mut received.who {
        caller.trace = from.trace;
        caller.outside = app.between.shows(&received.head);
    }
    if target.answers_under_own_names(&received.params) {
        // In a box as well.
        Box::pin(access::admit_name(app, seat, &received)).await?;
    }
    pass.lap("admitted");
    if target.makes_work(&received.head) {
        app.disk.admit(&app.config)?;
    }
    match target {
        // The commonest call by far goes without a box.
        router::Target::Fetch(family) => fetch::show(app, received, body, family).await,
        router::Target::Submit(family, entry) => {
            let told = told(id, from);
            submit::accept(app, received, body, family, entry)
                .boxed()
                .instrument(told)
                .await
        }
        router::Target::Page(page) => {
            let answer = (page.handler)(Arc::clone(app), received, body);
            answer.instrument(told(id, from)).await
        }
    }
}
