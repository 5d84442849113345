//! The URL under which a caller reached the service. While no setting says under which URL callers do, it begins the URLs of what
//! they are answered.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use atelier_contract::pages::PageListeners;
use atelier_engine::{names_own_machine, with_base_url_now};
use bytes::Bytes;
use futures_util::Stream;
use hyper::http::request::Parts;
use url::Url;

use super::payload::{ByteStream, Payload};
use super::reply::Reply;
use super::request::Sender;
use crate::app::App;
use crate::server::proxies;

/// The URL under which a request came, if it counts and can be trusted: a name of the service, at a listener that has its files.
pub(super) fn of(app: &App, head: &Parts, from: Sender) -> Option<Arc<str>> {
    let role = app.hosts.role_of(head, from.role);
    if !app.engine.urls().follow_request || !app.hosts.serves(role, PageListeners::Files) {
        return None;
    }
    let by_tls = from.by_tls || (from.by_proxy && proxies::forwarded_over_tls(&head.headers));
    let scheme = if by_tls { "https" } else { "http" };
    let host = app.names.own_host(head, from.by_proxy)?;
    let url = Url::parse(&format!("{scheme}://{host}")).ok()?;
    let plain = url.path() == "/" && url.username().is_empty() && url.query().is_none();
    // A caller on this machine may hand the URL on to somebody who is not.
    let leads_back = from.peer.is_loopback() && url.host_str().is_some_and(names_own_machine);
    (plain && !leads_back).then(|| url.origin().ascii_serialization().into())
}

/// An answer whose later parts are rendered with the same URL.
pub(super) fn keep(reply: Reply, base: Arc<str>) -> Reply {
    reply.map(|payload| match payload {
        Payload::Stream(inner, length) => {
            Payload::Stream(Box::pin(BaseStream { inner, base }), length)
        }
        other => other,
    })
}

struct BaseStream {
    inner: ByteStream,
    base: Arc<str>,
}

impl Stream for BaseStream {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { inner, base } = &mut *self;
        with_base_url_now(base, || inner.as_mut().poll_next(context))
    }
}
