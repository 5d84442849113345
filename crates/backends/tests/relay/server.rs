//! A local server that answers as a test tells it and keeps what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use atelier_backends::backend::Backend;
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient};
use atelier_backends::{FieldError, Secret, Setup, vendor_named};
use serde_json::Value;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl RecordedRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

/// What the server does.
pub(crate) enum Reply {
    /// A JSON answer.
    Json(u16, Value),
    /// An answer with further header lines.
    Raw(u16, &'static str, Vec<u8>),
    /// Reads the request and cuts the line.
    Cut,
    /// Sends the start of an answer and cuts the line.
    Half,
}

type Script = dyn Fn(&RecordedRequest) -> Reply + Send + Sync;

/// The server.
pub(crate) struct Remote {
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl Remote {
    pub(crate) fn start(
        script: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let asked: Arc<Mutex<Vec<RecordedRequest>>> = Arc::default();
        let (log, script) = (asked.clone(), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, script) = (log.clone(), script.clone());
                std::thread::spawn(move || serve(stream, &log, &*script));
            }
        });
        Self { base, asked }
    }

    /// Everything it was asked so far.
    pub(crate) fn asked(&self) -> Vec<RecordedRequest> {
        self.asked.lock().expect("the log").clone()
    }

    /// The last thing it was asked.
    pub(crate) fn last(&self) -> RecordedRequest {
        self.asked().pop().expect("something was asked")
    }

    /// A worker account at this server.
    pub(crate) fn worker(&self, name: &str, settings: Value) -> Arc<dyn Backend> {
        worker(name, &self.base, settings)
    }
}

/// A worker account at an address; nothing but the address itself may be reached on loopback.
pub(crate) fn worker(name: &str, base: &str, settings: Value) -> Arc<dyn Backend> {
    built(name, base, settings).unwrap_or_else(|why| panic!("{why}"))
}

/// The same, or what is wrong with its settings.
pub(crate) fn built(
    name: &str,
    base: &str,
    settings: Value,
) -> Result<Arc<dyn Backend>, FieldError> {
    let policy = Policy::from_settings(&[], Some(&[]), true, &[], &[]).expect("a policy");
    let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
    let setup = Setup {
        http: outbound.vendor(base, true).expect("an address"),
        credential: Secret::new("the-credential"),
        settings,
    };
    let vendor = vendor_named(name).expect("a vendor");
    vendor.connect(setup)
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<RecordedRequest>>, script: &Script) {
    loop {
        let Some(asked) = read(&mut stream) else {
            return;
        };
        log.lock().expect("the log").push(asked.clone());
        let (status, more, bytes) = match script(&asked) {
            Reply::Json(status, body) => (
                status,
                "content-type: application/json\r\n",
                body.to_string().into_bytes(),
            ),
            Reply::Raw(status, more, bytes) => (status, more, bytes),
            Reply::Cut => return,
            Reply::Half => {
                let _ =
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"status\":");
                return;
            }
        };
        let length = bytes.len();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{more}\r\n");
        if stream.write_all(head.as_bytes()).is_err() || stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

fn read(stream: &mut TcpStream) -> Option<RecordedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(RecordedRequest {
        method,
        path,
        headers,
        body,
    })
}
