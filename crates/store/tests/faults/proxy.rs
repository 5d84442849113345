//! A proxy that stands before a TCP server and can go silent: connections stay open and carry nothing more.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::rig::spawn;

/// The proxy.
pub(crate) struct Proxy {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Connections with a lower number carry nothing any more.
    silent_below: watch::Sender<u64>,
    connections: Arc<AtomicU64>,
}

impl Proxy {
    /// Stands before a server.
    pub(crate) async fn before(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (silent_below, silence) = watch::channel(0);
        let connections = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&connections);
        spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::Relaxed);
                let (server, silence) = (server.clone(), silence.clone());
                spawn(async move {
                    let Ok(server) = TcpStream::connect(server).await else {
                        return;
                    };
                    let (client, server) = (client.into_split(), server.into_split());
                    let up = pump(client.0, server.1, number, silence.clone());
                    let down = pump(server.0, client.1, number, silence);
                    tokio::join!(up, down);
                });
            }
        });
        Self {
            address,
            silent_below,
            connections,
        }
    }

    /// Every connection goes silent, also those that are yet to come.
    pub(crate) fn freeze(&self) {
        self.silent_below.send_replace(u64::MAX);
    }

    /// New connections work; those made so far stay silent for ever.
    pub(crate) fn let_new_ones_pass(&self) {
        let made = self.connections.load(Ordering::Relaxed);
        self.silent_below.send_replace(made);
    }
}

/// Carries bytes one way until somebody closes; holds both ends open while it is to be silent.
async fn pump(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    number: u64,
    mut silence: watch::Receiver<u64>,
) {
    let mut bytes = vec![0; 16 << 10];
    loop {
        let silent = *silence.borrow_and_update() > number;
        if silent {
            // What is on its way is neither carried nor lost; nobody hears that the other end has gone.
            if silence.changed().await.is_err() {
                return;
            }
            continue;
        }
        tokio::select! {
            read = from.read(&mut bytes) => match read {
                Ok(length @ 1..) if *silence.borrow() <= number => {
                    if to.write_all(&bytes[..length]).await.is_err() {
                        return;
                    }
                }
                Ok(1..) => {}
                _ => {
                    to.shutdown().await.ok();
                    return;
                }
            },
            changed = silence.changed() => if changed.is_err() {
                return;
            },
        }
    }
}
