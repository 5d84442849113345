//! The world outside: listeners on loopback that do as they are told and count their connections.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::stopwatch::Stopwatch;
use serde_json::Value;

/// A request as it arrived.
pub(crate) struct Request {
    /// The request line and the header lines.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The path and query.
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }
}

/// A listener, one thread for each connection.
pub(crate) struct Outside {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Outside {
    /// Listens on an address of loopback; port 0 picks a free one. `None` when the address is taken or not there.
    pub(crate) fn listen(
        address: &str,
        port: u16,
        serve: impl Fn(TcpStream) + Send + Sync + 'static,
    ) -> Option<Self> {
        let ip: IpAddr = address.parse().expect("an address");
        let listener = TcpListener::bind((ip, port)).ok()?;
        let address = listener.local_addr().ok()?;
        let connections = Arc::new(AtomicUsize::new(0));
        let (count, serve) = (connections.clone(), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let serve = serve.clone();
                std::thread::spawn(move || serve(stream));
            }
        });
        Some(Self {
            address,
            connections,
        })
    }

    /// On a free port of 127.0.0.1.
    pub(crate) fn start(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::listen("127.0.0.1", 0, serve).expect("a free port")
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// An address on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Reads one request to its end; `None` when the other side went away.
pub(crate) fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { head, body })
}

/// Sends a whole answer.
pub(crate) fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}

/// A receiver that takes every callback and remembers the bodies by job.
pub(crate) struct Mailbox {
    outside: Outside,
    got: Arc<Mutex<HashMap<String, Value>>>,
}

impl Mailbox {
    /// Starts it.
    pub(crate) fn start() -> Self {
        let got: Arc<Mutex<HashMap<String, Value>>> = Arc::default();
        let log = got.clone();
        let outside = Outside::start(move |mut stream| {
            let Some(request) = read(&mut stream) else {
                return;
            };
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            if let Some(id) = body["jobId"].as_str() {
                let mut log = log.lock().expect("no panic under the lock");
                log.insert(id.to_owned(), body.clone());
            }
            answer(&mut stream, "200 OK", "", b"");
        });
        Self { outside, got }
    }

    /// Where to.
    pub(crate) fn url(&self) -> String {
        self.outside.url("/hook")
    }

    /// What it was told of a job, once it has heard of it.
    pub(crate) async fn told_of(&self, id: &str) -> Value {
        self.heard_of(&[id.to_owned()], Duration::from_secs(30))
            .await;
        self.got.lock().expect("no panic under the lock")[id].clone()
    }

    /// Waits until it has heard of all these jobs; how long that took.
    pub(crate) async fn heard_of(&self, ids: &[String], within: Duration) -> Duration {
        let begin = Stopwatch::start();
        loop {
            let missing = {
                let got = self.got.lock().expect("no panic under the lock");
                ids.iter().filter(|id| !got.contains_key(*id)).count()
            };
            if missing == 0 {
                return begin.elapsed();
            }
            let left = ids.len();
            assert!(begin.elapsed() < within, "{missing} of {left} are missing");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
