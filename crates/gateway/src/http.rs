//! From a request to an answer: find its line in a table, see who may, do it, frame the answer. Nothing here knows a page
//! or a family by name.

pub(crate) mod access;
pub(crate) mod admission;
pub(crate) mod answer;
pub(crate) mod answer_memory;
pub(crate) mod body;
pub(crate) mod body_share;
mod caller;
pub(crate) mod cors;
pub(crate) mod denial;
mod fetch;
pub(crate) mod form;
pub(crate) mod hosts;
pub(crate) mod idempotency;
mod late_answer;
pub(crate) mod names;
pub(crate) mod page;
pub(crate) mod payload;
pub(crate) mod proxy_detector;
pub(crate) mod range;
pub(crate) mod rate;
pub(crate) mod reply;
pub(crate) mod request;
mod request_base;
mod request_id;
mod request_log;
pub(crate) mod request_slots;
mod router;
pub(crate) mod session;
pub(crate) mod static_content;
mod submit;
mod sync_answer;
mod tags;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use atelier_contract::pages::Access;
use atelier_contract::{Code, Refusal};
use atelier_engine::{Caller, with_base_url};
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, STRICT_TRANSPORT_SECURITY};
use hyper::http::request::Parts;
use hyper::{Request, Version};
use tracing::Instrument as _;

use crate::app::App;
use crate::config::Role;
use crate::counts;
use crate::network;
use crate::server::framing::HeadError;
use crate::server::watch::Connection;

pub(crate) use request::{Reach, Sender};

use admission::Admission;
use answer_memory::AnswerMemory;
use body::UnreadBody;
use denial::Denial;
use reply::Reply;
use request::{Exchange, HandlerResult, IncomingRequest, Requester};
use request_log::RequestLog;
use tags::tags;

/// For how long a browser must not come back without TLS.
const ONE_YEAR: &str = "max-age=31536000";

const TOO_MANY_PAGES: &str =
    "too many pages without a key to this network; slow down (limits.open_per_second)";

/// Answers one request; whatever goes wrong, the caller gets an envelope.
pub(crate) async fn serve(
    app: Arc<App>,
    conn: Arc<Connection>,
    from: Sender,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let request_log = RequestLog::new(&app, &request);
    let multiplexed = request.version() == Version::HTTP_2;
    let (busy, wrong) = conn.begin(multiplexed);
    let id = request_id::of(request.headers());
    let shape = reply::RefusalShape::of(request.uri().path());
    let peer = app.proxies.client(from.peer, request.headers());
    let holder = if peer == conn.peer {
        Arc::clone(&conn.holder)
    } else {
        network::holder(peer)
    };
    let from = Sender {
        by_proxy: app.proxies.contains(from.peer),
        peer,
        trace: request_log.trace(),
        ..from
    };
    let admission = Admission::new(holder, app.config.log.slow_ms > 0);
    let exchange = Exchange {
        from,
        admission: &admission,
        id: &id,
    };
    let mut route = counts::PAGE;
    let reader = app.origins.reader(request.method(), request.headers());
    let answer = if let Some(wrong) = wrong {
        Ok(Err(misread(wrong)))
    } else if reader
        .as_ref()
        .is_some_and(cors::AllowedOrigin::is_preflight)
    {
        Ok(Ok(reply::no_content()))
    } else {
        let answer = answer(&app, &conn, &exchange, &mut route, request);
        let answer = AssertUnwindSafe(answer);
        answer.catch_unwind().await
    };
    let answer = match answer {
        Ok(Ok(reply)) if AnswerMemory::counts(&reply, multiplexed) => {
            Ok(Box::pin(app.answer_memory.count(reply, admission.holder())).await)
        }
        other => other,
    };
    let mut reply = match answer {
        Ok(Ok(reply)) => reply,
        Ok(Err(denial)) => {
            if denial.refusal.code == Code::RateLimited {
                // In a box, because it is rare.
                Box::pin(admission.delay_rejection()).await;
            }
            reply::denied(shape, &denial)
        }
        Err(_) => reply::denied(
            shape,
            &Refusal::new(Code::Internal, "something went wrong here").into(),
        ),
    };
    request_log.tell(&app, &exchange, route, &reply);
    reply.headers_mut().insert(request_id::HEADER, id);
    admission.tell(reply.headers_mut());
    if let Some(reader) = reader {
        reader.tell(reply.headers_mut());
    }
    if from.secure {
        require_tls(&mut reply);
    }
    admission.release_slot();
    Ok(reply.map(|payload| payload.send_over(&conn, busy)))
}

/// Asks browsers to come back with TLS only.
fn require_tls(reply: &mut Reply) {
    reply.headers_mut().insert(
        STRICT_TRANSPORT_SECURITY,
        HeaderValue::from_static(ONE_YEAR),
    );
}

/// What is said of a head that was refused before it was a request.
fn misread(wrong: HeadError) -> Denial {
    let (code, message) = match wrong {
        HeadError::Line => (
            Code::InvalidRequest,
            "the head is not HTTP: each line must be `name: value` and end with CR LF",
        ),
        HeadError::Request => (
            Code::InvalidRequest,
            "the request line must be a method, a target and HTTP/1.1 or HTTP/1.0",
        ),
        HeadError::Host => (
            Code::InvalidRequest,
            "Host: must be given once and name one host",
        ),
        HeadError::Length => (
            Code::InvalidRequest,
            "the body needs either one Content-Length or Transfer-Encoding: chunked",
        ),
        HeadError::LongTarget => (Code::TargetTooLong, "the target of the request is too long"),
        HeadError::LongHead => (Code::HeadTooLarge, "the head of the request is too large"),
        HeadError::Late => (Code::RequestTimeout, "the head arrives too slowly"),
    };
    Denial {
        hang_up: true,
        ..Refusal::new(code, message).into()
    }
}

/// What stands beside every line of the log that is written for a request.
fn request_span(id: &HeaderValue, from: Sender) -> tracing::Span {
    let request = id.to_str().unwrap_or_default();
    if let Some(trace) = from.trace {
        return tracing::info_span!("request", request, trace = trace.trace_id());
    }
    tracing::info_span!("request", request)
}

/// Refuses a call that the key of its caller, or one above it, may not make from there or so often. It comes before the account's
/// own rate, so that a limited key uses up nothing of the others'.
fn admit_key(
    app: &App,
    caller: &Caller,
    from: Sender,
    target: router::Target,
) -> Result<(), Denial> {
    let Some(policy) = &caller.policy else {
        return Ok(());
    };
    policy.check_address(from.peer)?;
    if target.makes_jobs() {
        let counted = app.rates.key_submit(policy);
        counted.map_err(|seconds| Denial::too_many_requests(rate::TOO_MANY_BY_KEY, seconds))?;
    }
    Ok(())
}

/// Answers a request, with the URL under which it came where that counts.
async fn answer(
    app: &Arc<App>,
    conn: &Connection,
    exchange: &Exchange<'_>,
    route: &mut counts::RouteLabel,
    request: Request<Incoming>,
) -> HandlerResult {
    let (head, body) = request.into_parts();
    match request_base::of(app, &head, exchange.from) {
        None => handle(app, conn, exchange, route, head, body).await,
        Some(base) => {
            // In a box, because a service that somebody has set up has no use for it.
            let handled = Box::pin(handle(app, conn, exchange, route, head, body));
            let reply = with_base_url(Arc::clone(&base), handled).await?;
            Ok(request_base::keep(reply, base))
        }
    }
}

async fn handle(
    app: &Arc<App>,
    conn: &Connection,
    exchange: &Exchange<'_>,
    route: &mut counts::RouteLabel,
    head: Parts,
    body: Incoming,
) -> HandlerResult {
    let (from, admission, id) = (exchange.from, exchange.admission, exchange.id);
    let for_collectors = from.role == Role::Metrics && from.reach == Reach::Machine;
    let inside = for_collectors || !app.is_public;
    let role = app.hosts.role_of(&head, from.role);
    let from = Sender { role, ..from };
    let (target, params) = router::find(&app.hosts, from.role, &head.method, head.uri.path())?;
    *route = target.route();
    let access = target.access_from(inside);
    let known = access::cached_caller(app, conn, access, &head.headers);
    // Whether the service is well can be asked even when everything else is full.
    if let Some(caller) = &known {
        admit_key(app, caller, from, target)?;
        let (slots, kind) = (&app.request_slots, target.kind());
        admission.enter(slots, &app.rates, kind, &caller.account_id)?;
    } else if !target.needs_no_place() {
        if let Some(page) = target.open_rate(&head) {
            let counted = app.rates.open_page(page, from.peer);
            counted.map_err(|seconds| Denial::too_many_requests(TOO_MANY_PAGES, seconds))?;
        }
        if access == Access::Open {
            admission.arrive_open(target.kind());
        } else {
            // In a box, because a connection keeps room for the largest way for as long as it is open.
            Box::pin(access::arrive(app, admission, &head.headers, target.kind())).await?;
        }
    }
    let body = UnreadBody::new(body, Arc::clone(admission));
    let mut received = IncomingRequest {
        head,
        from,
        params,
        inside,
        requester: Requester::Anonymous,
        admission: Arc::clone(admission),
    };
    let by_key = |caller: &Caller| admit_key(app, caller, from, target);
    received.requester = match known {
        Some(caller) => Requester::Caller(caller),
        // In a box as well.
        None => Box::pin(access::admit(app, conn, access, &received, &by_key)).await?,
    };
    if let Requester::Caller(caller) = &mut received.requester {
        caller.trace = from.trace;
        if target.kind() == rate::CallKind::Submit {
            caller.tags = tags(&received.head.headers)?;
        }
        caller.outside = app.proxy_detector.detects(&received.head);
    }
    if target.answers_under_own_names(&received.params) {
        // In a box as well.
        Box::pin(access::admit_name(app, conn, &received)).await?;
    }
    admission.lap("admitted");
    if target.makes_work(&received.head) {
        app.disk.admit(&app.config)?;
    }
    match target {
        // The commonest call by far goes without a box.
        router::Target::Fetch(family) => fetch::show(app, received, body, family).await,
        router::Target::Submit(family, entry) => {
            let told = request_span(id, from);
            submit::accept(app, received, body, family, entry)
                .boxed()
                .instrument(told)
                .await
        }
        router::Target::Page(page) => {
            let answer = (page.handler)(Arc::clone(app), received, body);
            answer.instrument(request_span(id, from)).await
        }
    }
}
