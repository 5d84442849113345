//! Connections to receivers of callbacks. One that has answered in full is kept for a moment, because callbacks come in bursts;
//! it was judged when it was opened. It counts at its address only while something is under way on it. A receiver that serves
//! one connection after the other would never come to the others: while a new one waits for long, none is kept.

use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::poll_fn;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout};
use tower_service::Service as _;
use url::{Position, Url};

use super::connect::GuardedConnector;
use super::connection::{ConnectionSlot, OutboundConnection};
use super::error::{OutboundError, find_error};
use super::limits::HEAD_BYTES;
use super::slots::RequestSlots;

/// How long nothing may be asked on a connection that is kept. Servers wait for longer before they close one.
const KEPT: Duration = Duration::from_millis(500);
/// How long the first answer on a new connection may take before others are closed for its sake.
const PATIENT: Duration = Duration::from_millis(200);
/// Kept to one receiver,
const KEPT_EACH: usize = 32;
/// and to all receivers together.
const KEPT_MOST: usize = 256;

type Http1Connection =
    http1::Connection<MaybeHttpsStream<TokioIo<OutboundConnection>>, Full<Bytes>>;

/// The way to receivers; clones share what is kept.
#[derive(Clone)]
pub(super) struct ReceiverPool {
    connector: HttpsConnector<GuardedConnector>,
    places: RequestSlots,
    hosts: Hosts,
}

type Hosts = Arc<Mutex<HashMap<String, HostConnections>>>;

/// What there is to one receiver.
#[derive(Default)]
struct HostConnections {
    kept: Vec<ReceiverConnection>,
    /// Since when the first answers on new connections are waited for.
    waiting: Vec<Instant>,
}

impl HostConnections {
    fn forget_old(&mut self) {
        self.kept.retain(ReceiverConnection::is_young);
    }

    fn is_starved(&self) -> bool {
        self.waiting.iter().any(|since| since.elapsed() > PATIENT)
    }
}

/// The first answer on a new connection is waited for.
struct FirstResponseWait {
    hosts: Hosts,
    key: String,
    since: Instant,
}

impl FirstResponseWait {
    fn begin(hosts: &Hosts, key: &str) -> Self {
        let since = Instant::now();
        let mut all = locked(hosts);
        all.entry(key.to_owned()).or_default().waiting.push(since);
        Self {
            hosts: Arc::clone(hosts),
            key: key.to_owned(),
            since,
        }
    }

    /// The receiver may be busy with a connection on which nothing is asked.
    fn close_kept(&self) {
        let mut hosts = locked(&self.hosts);
        let host = hosts.get_mut(&self.key);
        let kept = host.map(|host| std::mem::take(&mut host.kept));
        drop(hosts);
        drop(kept);
    }
}

impl Drop for FirstResponseWait {
    fn drop(&mut self) {
        let mut hosts = locked(&self.hosts);
        let Some(host) = hosts.get_mut(&self.key) else {
            return;
        };
        let mut waiting = host.waiting.iter();
        if let Some(at) = waiting.position(|since| *since == self.since) {
            host.waiting.swap_remove(at);
        }
        if host.waiting.is_empty() && host.kept.is_empty() {
            hosts.remove(&self.key);
        }
    }
}

fn locked(hosts: &Hosts) -> MutexGuard<'_, HashMap<String, HostConnections>> {
    hosts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One open connection. Nobody but whoever asks something on it moves its bytes.
pub(super) struct ReceiverConnection {
    sender: http1::SendRequest<Full<Bytes>>,
    /// Gone when the connection has ended.
    wire: Option<Pin<Box<Http1Connection>>>,
    counted: Arc<ConnectionSlot>,
    /// Until the first answer.
    waiting: Option<FirstResponseWait>,
    /// Since when nothing is asked on it; `None` as long as nothing was.
    idle: Option<Instant>,
}

impl ReceiverPool {
    pub(super) fn new(connector: HttpsConnector<GuardedConnector>, places: RequestSlots) -> Self {
        Self {
            connector,
            places,
            hosts: Arc::default(),
        }
    }

    /// A connection to a receiver: one that was kept, or a new one.
    pub(super) async fn link(
        &self,
        url: &Url,
        wait: Duration,
    ) -> Result<ReceiverConnection, OutboundError> {
        let key = &url[..Position::BeforePath];
        while let Some(mut link) = self.take(key) {
            if link.is_open().await {
                let address = link.counted.address.to_string();
                let place = self.places.take_for(address, wait).await;
                link.counted.hold(place.ok_or(OutboundError::Busy)?);
                return Ok(link);
            }
        }
        self.fresh(url).await
    }

    /// A new connection to a receiver.
    pub(super) async fn fresh(&self, url: &Url) -> Result<ReceiverConnection, OutboundError> {
        let uri: Uri = url.as_str().parse().map_err(|_| OutboundError::Protocol)?;
        let waiting = FirstResponseWait::begin(&self.hosts, &url[..Position::BeforePath]);
        let stream = self.connector.clone().call(uri).await;
        let stream = stream.map_err(|error| unreachable(&*error))?;
        let mut known = http::Extensions::new();
        stream.connected().get_extras(&mut known);
        let counted = known
            .remove::<Arc<ConnectionSlot>>()
            .ok_or(OutboundError::Protocol)?;
        let (sender, wire) = http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .handshake(stream)
            .await
            .map_err(|error| unreachable(&error))?;
        Ok(ReceiverConnection {
            sender,
            wire: Some(Box::pin(wire)),
            counted,
            waiting: Some(waiting),
            idle: None,
        })
    }

    /// Keeps a connection whose answer was read to its end, if there is room.
    pub(super) async fn keep(&self, url: &Url, mut link: ReceiverConnection) {
        if !link.is_open().await {
            return;
        }
        link.counted.release();
        link.idle = Some(Instant::now());
        let mut hosts = locked(&self.hosts);
        let all: usize = hosts.values().map(|host| host.kept.len()).sum();
        let key = &url[..Position::BeforePath];
        let here = hosts.entry(key.to_owned()).or_default();
        here.forget_old();
        if all < KEPT_MOST && here.kept.len() < KEPT_EACH && !here.is_starved() {
            here.kept.push(link);
        }
    }

    /// Closes what has been kept for long enough.
    pub(super) fn close_idle(&self) {
        locked(&self.hosts).retain(|_, host| {
            host.forget_old();
            !host.kept.is_empty() || !host.waiting.is_empty()
        });
    }

    /// The one that was used last: the others may become too old.
    fn take(&self, key: &str) -> Option<ReceiverConnection> {
        let mut hosts = locked(&self.hosts);
        let here = hosts.get_mut(key)?;
        if here.is_starved() {
            here.kept.clear();
        }
        here.kept.pop().filter(ReceiverConnection::is_young)
    }
}

impl ReceiverConnection {
    /// Whether something was asked on it before.
    pub(super) fn is_used(&self) -> bool {
        self.idle.is_some()
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, OutboundError> {
        let answer = self.sender.send_request(request);
        let mut answer = std::pin::pin!(driven(&mut self.wire, answer));
        let mut first = None;
        if let Some(waiting) = &self.waiting {
            first = timeout(PATIENT, answer.as_mut()).await.ok();
            if first.is_none() {
                waiting.close_kept();
            }
        }
        let answer = match first {
            Some(answer) => answer,
            None => answer.await,
        };
        self.waiting = None;
        answer.map_err(|error| find_error(&error).unwrap_or(OutboundError::Protocol))
    }

    /// Does something with an answer, whose bytes come meanwhile.
    pub(super) async fn while_driven<T>(&mut self, work: impl Future<Output = T>) -> T {
        driven(&mut self.wire, work).await
    }

    /// Whether it is ready for another request.
    async fn is_open(&mut self) -> bool {
        // A look at what has come: a receiver that hung up has said so.
        driven(&mut self.wire, std::future::ready(())).await;
        self.wire.is_some() && self.sender.is_ready()
    }

    fn is_young(&self) -> bool {
        self.idle.is_some_and(|since| since.elapsed() < KEPT)
    }
}

/// Waits for something while the bytes of a connection are moved.
async fn driven<T>(
    wire: &mut Option<Pin<Box<Http1Connection>>>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            move_bytes(wire, context);
            return Poll::Ready(done);
        }
        move_bytes(wire, context);
        work.as_mut().poll(context)
    })
    .await
}

fn move_bytes(wire: &mut Option<Pin<Box<Http1Connection>>>, context: &mut std::task::Context<'_>) {
    // How it ended is told to whoever waits for an answer.
    if let Some(open) = wire
        && open.as_mut().poll(context).is_ready()
    {
        *wire = None;
    }
}

fn unreachable(error: &(dyn Error + 'static)) -> OutboundError {
    find_error(error).unwrap_or(OutboundError::Unreachable)
}
