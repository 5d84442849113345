//! The only place that opens a socket for a caller: looks the name up, lets the policy judge every answer, and
//! connects to one of the judged addresses and to nothing else. Literal addresses take the same way.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tower_service::Service;

use super::connection::{OutboundConnection, Transport};
use super::error::ConnectError;
use super::limits::Limits;
use super::resolve::Resolver;
use super::slots::RequestSlots;
use crate::guard::{self, Policy, Purpose};

/// The longest wait for one of several addresses.
const ONE_ADDRESS: Duration = Duration::from_secs(2);

/// What a connection has to obey.
#[derive(Clone)]
pub(crate) struct ConnectRules {
    pub(crate) purpose: Purpose,
    pub(crate) policy: Arc<Policy>,
    pub(crate) resolver: Resolver,
    pub(crate) limits: Limits,
    /// Connections to one address at a time, where they are counted.
    pub(crate) places: Option<RequestSlots>,
}

/// Opens connections, to allowed addresses only.
#[derive(Clone)]
pub(crate) struct GuardedConnector(Arc<ConnectRules>);

impl GuardedConnector {
    pub(crate) fn new(rules: ConnectRules) -> Self {
        Self(Arc::new(rules))
    }
}

impl Service<Uri> for GuardedConnector {
    type Response = TokioIo<OutboundConnection>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let rules = Arc::clone(&self.0);
        Box::pin(async move {
            let (host, port) = destination(&uri)?;
            let addresses = rules.vetted(&host, port).await?;
            rules.open(&addresses).await.map(TokioIo::new)
        })
    }
}

impl ConnectRules {
    /// Every address the host leads to, if all of them are allowed: one forbidden answer among good ones is how a
    /// name is turned against the network behind the guard.
    async fn vetted(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        let found = if let Ok(literal) = host.parse::<IpAddr>() {
            vec![literal]
        } else {
            let exact = !self.policy.names_host(host, port);
            timeout(self.limits.lookup, self.resolver.lookup(host, exact))
                .await
                .map_err(|_| ConnectError::Unresolved)?
                .map_err(|_| ConnectError::Unresolved)?
        };
        if found.is_empty() || found.len() > self.limits.answers {
            return Err(ConnectError::Unresolved);
        }
        let mut addresses = Vec::with_capacity(found.len());
        for ip in found {
            let address = SocketAddr::new(ip, port);
            self.policy.check_address(self.purpose, host, address)?;
            if !self.policy.allows(host, address) && is_own_interface(ip) {
                return Err(guard::not_public().into());
            }
            addresses.push(address);
        }
        addresses.dedup();
        Ok(addresses)
    }

    /// The first of the addresses that answers.
    async fn open(&self, addresses: &[SocketAddr]) -> Result<OutboundConnection, ConnectError> {
        let end = Instant::now() + self.limits.connect;
        let mut last = ConnectError::TimedOut;
        for (index, address) in addresses.iter().enumerate() {
            let alone = index + 1 == addresses.len();
            let until = if alone {
                end
            } else {
                end.min(Instant::now() + ONE_ADDRESS)
            };
            let place = match &self.places {
                None => None,
                Some(places) => {
                    let place = places.take_for(address.to_string(), self.limits.place);
                    Some(place.await.ok_or(ConnectError::Busy)?)
                }
            };
            if let Some(dialled) = self.resolver.dial(*address) {
                let stream = dialled.map_err(ConnectError::Unreachable)?;
                return Ok(OutboundConnection::new(
                    Transport::Simulated(stream),
                    *address,
                    place,
                ));
            }
            match timeout_at(until, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let stream = confirm(stream, *address)?;
                    return Ok(OutboundConnection::new(
                        Transport::Tcp(stream),
                        *address,
                        place,
                    ));
                }
                Ok(Err(error)) => last = ConnectError::Unreachable(error),
                Err(_) => last = ConnectError::TimedOut,
            }
        }
        Err(last)
    }
}

/// Makes sure that the socket ends where the policy was asked about.
fn confirm(stream: TcpStream, address: SocketAddr) -> Result<TcpStream, ConnectError> {
    let peer = stream.peer_addr().map_err(ConnectError::Unreachable)?;
    if peer != address {
        return Err(guard::not_public().into());
    }
    stream
        .set_nodelay(true)
        .map_err(ConnectError::Unreachable)?;
    Ok(stream)
}

fn destination(uri: &Uri) -> Result<(String, u16), ConnectError> {
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let usual = if uri.scheme() == Some(&http::uri::Scheme::HTTPS) {
        443
    } else {
        80
    };
    if host.is_empty() {
        return Err(ConnectError::Unreachable(
            io::ErrorKind::InvalidInput.into(),
        ));
    }
    Ok((host.to_owned(), uri.port_u16().unwrap_or(usual)))
}

/// Whether an address is one of this machine's own: then the kernel would use the very same address as the sender.
/// A datagram socket is pointed there to ask; nothing is sent.
fn is_own_interface(ip: IpAddr) -> bool {
    let any: IpAddr = if ip.is_ipv4() {
        std::net::Ipv4Addr::UNSPECIFIED.into()
    } else {
        std::net::Ipv6Addr::UNSPECIFIED.into()
    };
    let sender = || -> io::Result<IpAddr> {
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect((ip, 9))?;
        Ok(socket.local_addr()?.ip())
    };
    sender().is_ok_and(|sender| sender == ip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn an_own_interface_is_recognised_without_sending_anything() {
        assert!(is_own_interface(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_own_interface(Ipv4Addr::new(8, 8, 8, 8).into()));
    }

    #[test]
    fn the_port_follows_the_scheme_and_brackets_go() {
        let read =
            |text: &str| destination(&text.parse().expect("an address")).expect("a destination");
        assert_eq!(
            read("https://[2606:4700::1]/x"),
            ("2606:4700::1".into(), 443)
        );
        assert_eq!(read("http://a.org:8080/"), ("a.org".into(), 8080));
        assert_eq!(read("http://a.org/"), ("a.org".into(), 80));
    }
}
