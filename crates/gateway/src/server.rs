//! The sockets: accept loops, connection limits that really apply, and a stop that loses nothing.
//!
//! hyper's own header timer starts again while a connection is idle, and hyper is not yet there while the first head comes,
//! which says what the caller speaks; so the limits live in [`watch`], one clock for all connections.

mod descriptors;
pub(crate) mod framing;
mod guarded_stream;
pub(crate) mod proxies;
mod proxy_protocol;
pub(crate) mod response_stream;
pub(crate) mod signals;
pub(crate) mod tls;
pub(crate) mod watch;

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::settings::Limits;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::config::Role;
use crate::http;

use framing::Bounds;
use guarded_stream::GuardedStream;
use tls::Tls;
use watch::{Connection, ConnectionCommand, ConnectionWatch};

/// How long a listener waits after the machine refused it a socket.
const OUT_OF_SOCKETS: Duration = Duration::from_millis(50);

/// How many headers hyper reads without being told. It has room for these on its stack; any number it is told costs it two
/// filled tables for every request, and the framing refuses what is more anyway.
const HEADERS_OF_HYPER: usize = 100;

/// Bytes that a caller may send on one HTTP/2 stream before they are read.
const WINDOW: u32 = 256 * 1024;

/// A bound socket and what it is for.
pub(crate) struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) role: Role,
    /// Who can reach it.
    pub(crate) reach: http::Reach,
    /// Whether it speaks TLS.
    pub(crate) secure: bool,
}

impl Listener {
    /// How its addresses begin.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }
}

/// Everything that serves connections.
pub(crate) struct Server {
    app: Arc<App>,
    watch: Arc<ConnectionWatch>,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    bounds: Bounds,
    tls: Option<Arc<Tls>>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Server {
    /// Starts one accept loop per door.
    pub(crate) fn start(app: Arc<App>, listeners: Vec<Listener>, tls: Option<Tls>) -> Arc<Self> {
        let limits = &app.config.limits;
        let server = Arc::new(Self {
            watch: Arc::new(ConnectionWatch::new(
                limits,
                descriptors::connections(limits.connections, limits.downloads),
            )),
            bounds: Bounds {
                target: limits.target_bytes,
                head: limits.header_bytes,
                lines: limits.headers,
            },
            http1: http1(limits),
            http2: http2(limits),
            tls: tls.map(Arc::new),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            app,
        });
        server
            .tasks
            .spawn(Arc::clone(&server.watch).watch(server.closing.clone()));
        if let Some(tls) = &server.tls {
            let follow = Arc::clone(tls).follow(server.closing.clone());
            server.tasks.spawn(follow);
        }
        for listener in listeners {
            server.tasks.spawn(Arc::clone(&server).accept(listener));
        }
        server
    }

    /// Stops accepting and waits until every request is answered, or until the time is up.
    pub(crate) async fn stop(&self, within: Duration) {
        self.closing.cancel();
        self.watch.dismiss_all();
        self.tasks.close();
        if tokio::time::timeout(within, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(
                open = self.watch.open(),
                "connections closed because stop_within_s is over"
            );
        }
    }

    async fn accept(self: Arc<Self>, listener: Listener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.socket.accept() => accepted,
                () = self.closing.cancelled() => return,
            };
            match accepted {
                Ok((stream, peer)) => self.admit(stream, peer, &listener),
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "connections cannot be accepted");
                    tokio::time::sleep(OUT_OF_SOCKETS).await;
                }
            }
        }
    }

    fn admit(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, listener: &Listener) {
        let _ = stream.set_nodelay(true);
        let peer = peer.ip().to_canonical();
        let is_proxy = self.app.proxies.contains(peer);
        let Some(conn) = self.watch.admit(peer, is_proxy) else {
            return;
        };
        let from = http::Sender {
            peer,
            role: listener.role,
            reach: listener.reach,
            secure: listener.secure,
            by_proxy: false,
            by_tls: listener.secure,
            trace: None,
        };
        self.tasks.spawn(Arc::clone(self).serve(stream, conn, from));
    }

    async fn serve(self: Arc<Self>, stream: TcpStream, conn: Arc<Connection>, from: http::Sender) {
        if let Err(error) = self.handshake(stream, &conn, from).await {
            tracing::debug!(%error, peer = %from.peer, "connection ended before its first request");
        }
        self.watch.release(&conn);
    }

    /// What comes before HTTP: a proxy's word about who calls, and TLS.
    async fn handshake(
        &self,
        mut stream: TcpStream,
        conn: &Arc<Connection>,
        mut from: http::Sender,
    ) -> io::Result<()> {
        let patience = Duration::from_secs(self.app.config.limits.header_timeout_s);
        if self.app.config.proxies.protocol && self.app.proxies.contains(from.peer) {
            let told = timeout(patience, proxy_protocol::read(&mut stream)).await??;
            from.peer = told.client.unwrap_or(from.peer);
            from.by_tls |= told.by_tls;
        }
        match &self.tls {
            Some(tls) if from.secure => {
                // What TLS needs is apart, so that those who come without do not keep room for it.
                let safe = Box::pin(async {
                    let safe = timeout(patience, tls.acceptor().accept(stream)).await??;
                    self.serve_http(safe, conn, from).await;
                    io::Result::Ok(())
                });
                safe.await?;
            }
            _ => self.serve_http(stream, conn, from).await,
        }
        Ok(())
    }

    async fn serve_http<S>(&self, stream: S, conn: &Arc<Connection>, from: http::Sender)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let guarded = GuardedStream::new(
            stream,
            Arc::clone(conn),
            self.bounds,
            Arc::clone(&self.app.body_throughput),
        );
        let greeted = tokio::select! {
            biased;
            greeted = guarded.greeted() => greeted,
            // Nobody who has asked for nothing is waited for.
            _ = conn.command() => return,
        };
        let (io, speaks_http2) = match greeted {
            Ok((guarded, speaks_http2)) => (TokioIo::new(guarded), speaks_http2),
            Err(error) => {
                tracing::debug!(%error, "connection ended before its first request");
                return;
            }
        };
        let service = service_fn(|request| {
            http::serve(Arc::clone(&self.app), Arc::clone(conn), from, request)
        });
        if speaks_http2 {
            // Apart as well: it is larger, and one of these stands for many callers.
            let mut connection = Box::pin(self.http2.serve_connection(io, service));
            drive(connection.as_mut(), conn).await;
        } else {
            drive(pin!(self.http1.serve_connection(io, service)), conn).await;
        }
    }
}

/// Sees a connection through, and has it finish or go when the watch says so.
async fn drive<C>(mut connection: Pin<&mut C>, conn: &Connection)
where
    C: GracefulConnection<Error = hyper::Error>,
{
    let mut command = pin!(conn.command());
    loop {
        tokio::select! {
            biased;
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(%error, "connection ended early");
                }
                break;
            }
            command_given = command.as_mut() => {
                if command_given == ConnectionCommand::Leave {
                    break;
                }
                connection.as_mut().graceful_shutdown();
                command.set(conn.command());
            }
        }
    }
}

/// Errors of the connection that was about to be accepted, not of the listener.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

fn http1(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    if limits.headers > HEADERS_OF_HYPER {
        builder.max_headers(limits.headers);
    }
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        // One more than what is let through, so that a head is never too long for the second reader alone.
        .max_buf_size(limits.header_bytes.max(8192) + 1024);
    builder
}

fn http2(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.http2_streams)
        .max_header_list_size(limits.header_bytes as u32)
        .max_pending_accept_reset_streams(16)
        .max_local_error_reset_streams(64)
        .max_send_buf_size(256 * 1024)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(2 * WINDOW)
        .keep_alive_interval(Duration::from_secs(
            limits.idle_timeout_s.div_ceil(2).max(1),
        ))
        .keep_alive_timeout(Duration::from_secs(limits.header_timeout_s.max(1)));
    builder
}
