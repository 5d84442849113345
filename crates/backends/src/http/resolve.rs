//! Names to addresses, in bounded time and number, and addresses to connections.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::DuplexStream;
use tokio::sync::Semaphore;

/// Look-ups that may hang in the system's resolver at a time; each takes a thread until the system gives up. Several
/// times what one account can have under way, so that one with dead names leaves room for the others.
const LOOKUPS_AT_ONCE: usize = 256;

/// A function that answers for names, for tests and special networks.
pub type LookupFn = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync,
>;

/// A function that connects to addresses without a socket, for simulations: an error is a refused connection.
pub type DialFn = Arc<dyn Fn(SocketAddr) -> io::Result<DuplexStream> + Send + Sync>;

/// Who answers for names and addresses.
#[derive(Clone)]
pub struct Resolver(ResolverKind);

#[derive(Clone)]
enum ResolverKind {
    System(Arc<Semaphore>),
    Scripted(LookupFn),
    Simulated(DialFn),
}

impl Resolver {
    /// The machine's own resolver.
    pub fn system() -> Self {
        Self(ResolverKind::System(Arc::new(Semaphore::new(
            LOOKUPS_AT_ONCE,
        ))))
    }

    /// Answers from a function.
    pub fn scripted(lookup: LookupFn) -> Self {
        Self(ResolverKind::Scripted(lookup))
    }

    /// No name leads anywhere, and connections come from a function.
    pub fn simulated(dial: DialFn) -> Self {
        Self(ResolverKind::Simulated(dial))
    }

    /// The connection to an address, where none is to be opened on the network.
    pub(crate) fn dial(&self, address: SocketAddr) -> Option<io::Result<DuplexStream>> {
        match &self.0 {
            ResolverKind::Simulated(dial) => Some(dial(address)),
            ResolverKind::System(_) | ResolverKind::Scripted(_) => None,
        }
    }

    /// Every address of a name. `exact` keeps the machine from completing the name with its search domains.
    pub(crate) async fn lookup(&self, name: &str, exact: bool) -> io::Result<Vec<IpAddr>> {
        match &self.0 {
            ResolverKind::Scripted(lookup) => lookup(name.to_owned()).await,
            ResolverKind::Simulated(_) => Ok(Vec::new()),
            ResolverKind::System(lookups) => {
                let permit = Arc::clone(lookups)
                    .acquire_owned()
                    .await
                    .map_err(io::Error::other)?;
                let name = format!("{name}{}", if exact { "." } else { "" });
                // The permit travels with the thread: a caller that gave up does not free the thread.
                tokio::task::spawn_blocking(move || {
                    let _permit = permit;
                    let found = (name.as_str(), 0).to_socket_addrs()?;
                    Ok(found.map(|address| address.ip()).collect())
                })
                .await
                .map_err(io::Error::other)?
            }
        }
    }
}
