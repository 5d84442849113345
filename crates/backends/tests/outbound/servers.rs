//! Small servers on loopback, one thread per connection, and a client for them. A server counts its connections, so
//! that a test can say that there were none.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient, Resolver};

/// A listener that does as it is told with every connection.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Listens on an address of loopback; port 0 picks a free one.
    pub(crate) fn start(
        address: (IpAddr, u16),
        answer: impl Fn(TcpStream) + Send + Sync + 'static,
    ) -> Option<Self> {
        let listener = TcpListener::bind(address).ok()?;
        let address = listener.local_addr().ok()?;
        let connections = Arc::new(AtomicUsize::new(0));
        let (count, answer) = (Arc::clone(&connections), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || answer(stream));
            }
        });
        Some(Self {
            address,
            connections,
        })
    }

    /// On 127.0.0.2, where the tests allow connections.
    pub(crate) fn allowed(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::start((ip("127.0.0.2"), 0), answer).expect("a free port on 127.0.0.2")
    }

    /// Reads the request and sends these bytes.
    pub(crate) fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::allowed(move |mut stream| {
            read_request(&mut stream);
            let _ = stream.write_all(&answer);
        })
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits until so many connections were taken; one may be open before its server has looked.
    pub(crate) async fn until_connections(&self, count: usize) {
        let taken = async {
            while self.connections() < count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let taken = tokio::time::timeout(Duration::from_secs(30), taken).await;
        taken.expect("connections");
    }

    /// An address on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Reads one request, head and body; gives back the head.
pub(crate) fn read_request(stream: &mut impl std::io::Read) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let _ = reader.read_exact(&mut vec![0; length]);
    head
}

/// A whole answer.
pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A client that may reach 127.0.0.2 and nothing else on loopback, whatever the port.
pub(crate) fn outbound(limits: Limits) -> OutboundClient {
    let allow = ["127.0.0.2/32".to_owned()];
    let policy = Policy::from_settings(&[], Some(&allow), true, &[], &[]).expect("a policy");
    OutboundClient::new(policy, limits).expect("a client")
}

/// Names and their addresses: one list for each look-up in turn, the last one for good.
pub(crate) fn names(script: &[(&str, &[&[&str]])]) -> (Resolver, Arc<AtomicUsize>) {
    let script: HashMap<String, Vec<Vec<IpAddr>>> = script
        .iter()
        .map(|(name, turns)| {
            let turns = turns
                .iter()
                .map(|turn| turn.iter().map(|text| ip(text)).collect());
            ((*name).to_owned(), turns.collect())
        })
        .collect();
    let lookups = Arc::new(AtomicUsize::new(0));
    let (count, seen) = (
        Arc::clone(&lookups),
        Mutex::new(HashMap::<String, usize>::new()),
    );
    let resolver = Resolver::scripted(Arc::new(move |name| {
        count.fetch_add(1, Ordering::SeqCst);
        let turn = {
            let mut seen = seen.lock().expect("the count");
            let turn = seen.entry(name.clone()).or_default();
            *turn += 1;
            *turn - 1
        };
        let found = script
            .get(&name)
            .and_then(|turns| turns.get(turn).or(turns.last()))
            .cloned();
        Box::pin(async move { found.ok_or_else(|| std::io::Error::other("no such name")) })
    }));
    (resolver, lookups)
}

/// An address in short.
pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// A real PNG header of these dimensions and an empty rest; enough for whoever only reads headers.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}
