//! A server on loopback that answers as a script says and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atelier_backends::backend::Backend;
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient};
use atelier_backends::vendor_named;
use atelier_backends::{
    Fault, FieldError, PollOutcome, Secret, Setup, StartOutcome, Vendor, Work, WorkOutput,
};
use atelier_media::{Encoding, Picture, encode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    /// Method and path with its query.
    pub(crate) line: String,
    /// Head lines in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl RecordedRequest {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// An address on the server that was asked.
    pub(crate) fn here(&self, path: &str) -> String {
        let host = self.head.split("host: ").nth(1);
        let host = host.and_then(|rest| rest.lines().next());
        format!("http://{}{path}", host.expect("a host"))
    }

    /// The parts of a form: name, and content.
    pub(crate) fn parts(&self) -> Vec<(String, Vec<u8>)> {
        let boundary = self.head.split("boundary=").nth(1).expect("a form");
        let boundary = format!("--{}", boundary.lines().next().expect("a line"));
        split(&self.body, boundary.as_bytes())
            .into_iter()
            .filter_map(|part| {
                let at = part.windows(4).position(|four| four == b"\r\n\r\n")?;
                let head = String::from_utf8_lossy(&part[..at]).into_owned();
                let name = head.split("name=\"").nth(1)?.split('"').next()?.to_owned();
                Some((name, part[at + 4..part.len() - 2].to_vec()))
            })
            .collect()
    }

    pub(crate) fn part(&self, name: &str) -> Option<Vec<u8>> {
        let parts = self.parts();
        parts
            .into_iter()
            .find(|part| part.0 == name)
            .map(|part| part.1)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.part(name)
            .map(|bytes| String::from_utf8(bytes).expect("text"))
    }
}

fn split<'a>(bytes: &'a [u8], at: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(found) = rest.windows(at.len()).position(|text| text == at) {
        parts.push(&rest[..found]);
        rest = &rest[found + at.len()..];
    }
    parts
}

/// How a request is answered.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Status, header lines, body.
    Whole(u16, String, Vec<u8>),
    /// The same after a while.
    After(Duration, Box<Reply>),
    /// A head that promises more than the body has.
    Truncated(Vec<u8>),
    /// The line is closed without a word.
    Cut,
    /// An endless body.
    Endless,
    /// These bytes in place of an answer.
    Raw(Vec<u8>),
}

pub(crate) fn json(body: &Value) -> Reply {
    status(200, body)
}

pub(crate) fn status(status: u16, body: &Value) -> Reply {
    Reply::Whole(
        status,
        "content-type: application/json\r\n".into(),
        body.to_string().into(),
    )
}

pub(crate) fn bytes(media_type: &str, bytes: impl Into<Vec<u8>>) -> Reply {
    Reply::Whole(200, format!("content-type: {media_type}\r\n"), bytes.into())
}

pub(crate) fn page(status: u16) -> Reply {
    let page = b"<html><body><h1>Bad Gateway</h1></body></html>".to_vec();
    Reply::Whole(status, "content-type: text/html\r\n".into(), page)
}

pub(crate) fn with_header(reply: Reply, line: &str) -> Reply {
    match reply {
        Reply::Whole(status, head, body) => Reply::Whole(status, format!("{head}{line}\r\n"), body),
        other => other,
    }
}

/// The server.
pub(crate) struct Stand {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl Stand {
    /// Answers each request by what the function says.
    pub(crate) fn new(answer: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let seen: Arc<Mutex<Vec<RecordedRequest>>> = Arc::default();
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &log, &*answer));
            }
        });
        Self { address, seen }
    }

    /// Answers the same to everything.
    pub(crate) fn always(reply: Reply) -> Self {
        Self::new(move |_| reply.clone())
    }

    pub(crate) fn seen(&self) -> Vec<RecordedRequest> {
        self.seen.lock().expect("log").clone()
    }

    /// The requests whose line holds a text.
    pub(crate) fn asked(&self, text: &str) -> Vec<RecordedRequest> {
        let seen = self.seen().into_iter();
        seen.filter(|one| one.line.contains(text)).collect()
    }

    /// Waits until a call with a text in its line has come so many times.
    pub(crate) async fn until_asked(&self, text: &str, times: usize) {
        let asked = async {
            while self.asked(text).len() < times {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let asked = tokio::time::timeout(Duration::from_secs(30), asked).await;
        assert!(asked.is_ok(), "{text} was not asked {times} times");
    }

    /// An address on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A worker account of a vendor at this server.
    pub(crate) fn worker(&self, name: &str, settings: Value) -> Arc<dyn Backend> {
        self.worker_under(name, "/v1", settings)
    }

    pub(crate) fn worker_under(&self, name: &str, path: &str, settings: Value) -> Arc<dyn Backend> {
        worker(name, &self.url(path), settings).expect("good settings")
    }
}

/// The credential of a vendor's worker account, whose tokens come from the same server where it gets any.
pub(crate) fn credential(vendor: &str, url: &str) -> String {
    match vendor {
        "jimeng" => "AKLT-painter:sk-very-secret".to_owned(),
        "vertex" => {
            let host = url
                .split("://")
                .nth(1)
                .and_then(|rest| rest.split('/').next());
            let tokens = format!("http://{}/token", host.unwrap_or_default());
            include_str!("service_account.json").replace("TOKENS", &tokens)
        }
        _ => "sk-very-secret".to_owned(),
    }
}

/// A worker account of a vendor at an address.
pub(crate) fn worker(
    name: &str,
    url: &str,
    settings: Value,
) -> Result<Arc<dyn Backend>, FieldError> {
    worker_with_key(name, url, &credential(name, url), settings)
}

pub(crate) fn worker_with_key(
    name: &str,
    url: &str,
    key: &str,
    settings: Value,
) -> Result<Arc<dyn Backend>, FieldError> {
    vendor_named(name)
        .expect(name)
        .connect(setup(url, key, settings))
}

/// A worker account of a vendor that is in no list.
pub(crate) fn worker_of(vendor: &Vendor, url: &str) -> Arc<dyn Backend> {
    let setup = setup(url, "sk-very-secret", Value::Null);
    vendor.connect(setup).expect("an account")
}

fn setup(url: &str, key: &str, settings: Value) -> Setup {
    let policy = Policy::from_settings(&[], Some(&[]), false, &[], &[]).expect("a policy");
    let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
    Setup {
        http: outbound.vendor(url, true).expect("an address"),
        credential: Secret::new(key),
        settings,
    }
}

fn serve(
    stream: TcpStream,
    log: &Mutex<Vec<RecordedRequest>>,
    answer: &dyn Fn(&RecordedRequest) -> Reply,
) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut stream = stream;
    while let Some(seen) = read_request(&mut reader) {
        log.lock().expect("log").push(seen.clone());
        let mut reply = answer(&seen);
        if let Reply::After(pause, then) = reply {
            std::thread::sleep(pause);
            reply = *then;
        }
        match reply {
            Reply::Whole(status, head, body) => {
                let head = format!(
                    "HTTP/1.1 {status} x\r\n{head}content-length: {}\r\n\r\n",
                    body.len()
                );
                if stream.write_all(head.as_bytes()).is_err() || stream.write_all(&body).is_err() {
                    return;
                }
            }
            Reply::Truncated(body) => {
                let head = format!(
                    "HTTP/1.1 200 x\r\ncontent-length: {}\r\n\r\n",
                    body.len() + 1000
                );
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&body);
                return;
            }
            Reply::Endless => {
                let _ = stream.write_all(b"HTTP/1.1 200 x\r\n\r\n{\"data\":[{\"x\":\"");
                let plenty = vec![b'A'; 65536];
                while stream.write_all(&plenty).is_ok() {}
                return;
            }
            Reply::Raw(bytes) => {
                let _ = stream.write_all(&bytes);
                return;
            }
            Reply::Cut | Reply::After(..) => return,
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<RecordedRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut field = String::new();
        reader.read_line(&mut field).ok().filter(|&read| read > 0)?;
        if field == "\r\n" {
            break;
        }
        let (name, value) = field.split_once(':')?;
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            length = value.trim().parse().ok()?;
        }
        head += &[&*name, ": ", value.trim(), "\n"].concat();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = line.rsplit_once(' ')?.0.to_owned();
    Some(RecordedRequest { line, head, body })
}

/// A picture with a colour, as a PNG.
pub(crate) fn png(width: u32, height: u32, colour: [u8; 4]) -> Vec<u8> {
    encode(&Picture::filled(width, height, colour), Encoding::Png, None)
}

pub(crate) fn base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// What a start made.
pub(crate) async fn made(worker: &Arc<dyn Backend>, work: Work) -> Result<WorkOutput, Fault> {
    match worker.start(work).await? {
        StartOutcome::Done(made) => Ok(made),
        StartOutcome::Ticket(ticket) => panic!("a ticket: {ticket}"),
    }
}

/// The ticket a start gave.
pub(crate) async fn ticket(worker: &Arc<dyn Backend>, work: Work) -> Result<Value, Fault> {
    match worker.start(work).await? {
        StartOutcome::Ticket(ticket) => Ok(ticket),
        StartOutcome::Done(made) => panic!("done: {made:?}"),
    }
}

/// Polls a ticket, without waiting between, until it ends; parts are ordered as they come.
pub(crate) async fn polled(
    worker: &Arc<dyn Backend>,
    work: &Work,
    ticket: &Value,
) -> Result<WorkOutput, Fault> {
    let mut ticket = ticket.clone();
    for _ in 0..50 {
        match worker.poll(work, &ticket).await? {
            PollOutcome::Running(pause) => assert!(pause >= Duration::from_millis(100)),
            PollOutcome::Done(made) => return Ok(made),
            PollOutcome::Failed(fault) => return Err(fault),
            PollOutcome::Step(step) => ticket = step.order.await?,
        }
    }
    panic!("it never ends");
}
