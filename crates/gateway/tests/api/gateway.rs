//! Starts the real binary and talks to it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::documented;
use crate::stopwatch::Stopwatch;

/// The operator's token of every gateway in these tests.
pub(crate) const ADMIN_TOKEN: &str = "an-operator-for-tests";
/// A start that takes longer has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running service with its own data.
pub(crate) struct Gateway {
    child: Child,
    output: Arc<Mutex<String>>,
    /// `http://127.0.0.1:port`
    pub(crate) base_url: String,
    /// The addresses of all listeners, the main one first.
    pub(crate) addresses: Vec<String>,
    /// The folder it keeps its data in.
    pub(crate) folder: TempDir,
    client: reqwest::Client,
    postgres: Option<Postgres>,
}

/// What a gateway is started with.
#[derive(Default)]
pub(crate) struct Options {
    settings: Vec<(String, String)>,
    listeners: usize,
    shares_database: bool,
    preloaded: Option<PathBuf>,
}

impl Options {
    /// Sets a setting through its environment variable, without the prefix.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Says how many listeners the settings open besides the main one.
    pub(crate) fn more_listeners(mut self, count: usize) -> Self {
        self.listeners = count;
        self
    }

    /// Makes it another node on the database and files of a running one; `None` on SQLite, where one node is alone.
    pub(crate) fn beside(mut self, first: &Gateway) -> Option<Self> {
        let postgres = first.postgres.as_ref()?;
        self.shares_database = true;
        let files = first.folder.path().join("assets");
        let shared = self.set("DATABASE", &postgres.url);
        Some(shared.set("ASSETS_URL", &files.to_string_lossy()))
    }

    /// Starts it on a folder that somebody else has filled, with SQLite.
    pub(crate) async fn spawn_on(self, folder: TempDir) -> Gateway {
        let start = move || Gateway::start(self, folder, None);
        tokio::task::spawn_blocking(start).await.expect("a gateway")
    }

    /// Has it load a library that stands in for some of the system's.
    pub(crate) fn preload(mut self, library: &Path) -> Self {
        self.preloaded = Some(library.to_owned());
        self
    }

    /// Starts it.
    pub(crate) async fn spawn(self) -> Gateway {
        let start = move || {
            let folder = tempfile::tempdir().expect("a folder");
            let own = !self.shares_database;
            let postgres = own.then(Postgres::fresh).flatten();
            Gateway::start(self, folder, postgres)
        };
        tokio::task::spawn_blocking(start).await.expect("a gateway")
    }
}

/// An answer, read to the end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) bytes: Vec<u8>,
    pub(crate) json: Value,
}

impl Answer {
    /// The text of a header.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Asserts a refusal with a status and a code, in the usual envelope.
    pub(crate) fn assert_refused(&self, status: u16, code: &str) {
        assert_eq!(
            (self.status.as_u16(), &self.json["code"]),
            (status, &json!(code)),
            "{}",
            self.json
        );
        assert_eq!(self.json["status"], "FAILED");
        assert!(
            self.json["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{}",
            self.json
        );
        assert!(
            self.json
                .as_object()
                .is_some_and(|body| body.contains_key("data")),
            "{}",
            self.json
        );
        assert_eq!(
            self.header("content-type"),
            "application/json; charset=utf-8"
        );
    }
}

/// An account with its key.
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) key: String,
}

impl Gateway {
    /// Starts a service with the usual settings.
    pub(crate) async fn spawn() -> Self {
        Options::default().spawn().await
    }

    /// Starts the service again on what this one has left behind.
    pub(crate) fn restart(mut self, options: Options) -> Self {
        self.kill();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a folder"));
        let postgres = self.postgres.take();
        Self::start(options, folder, postgres)
    }

    fn start(options: Options, folder: TempDir, postgres: Option<Postgres>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
        command
            .arg("serve")
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder.path());
        if let Some(postgres) = &postgres {
            command.args(["--database", &postgres.url]);
        }
        command
            .env("ATELIER_ADMIN_TOKEN", ADMIN_TOKEN)
            .env("ATELIER_WORKER_THREADS", "2")
            // One account does in a second what callers do in a minute; tests of rates set their own.
            .env("ATELIER_LIMITS_SUBMITS_PER_SECOND", "0")
            .env("ATELIER_LIMITS_CALLS_PER_SECOND", "0")
            // How full the disk of this machine is belongs to no test.
            .env("ATELIER_LIMITS_DISK_FREE_PERCENT", "0");
        for (name, value) in options.settings {
            command.env(format!("ATELIER_{name}"), value);
        }
        if let Some(library) = options.preloaded {
            command.env("LD_PRELOAD", library);
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let output = Arc::new(Mutex::new(String::new()));
        let addresses = listening(&mut child, &output, 1 + options.listeners);
        Self {
            base_url: format!("http://{}", addresses[0]),
            addresses,
            child,
            output,
            folder,
            client: client(),
            postgres,
        }
    }

    /// A request to a path.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.base_url))
    }

    /// GET with a key.
    pub(crate) async fn get(&self, key: &str, path: &str) -> Answer {
        send(self.request(Method::GET, path).header("SVC-API-KEY", key)).await
    }

    /// POST of JSON with a key.
    pub(crate) async fn post(&self, key: &str, path: &str, body: Value) -> Answer {
        send(
            self.request(Method::POST, path)
                .header("SVC-API-KEY", key)
                .json(&body),
        )
        .await
    }

    /// A call of the operator API.
    pub(crate) async fn operate(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path).bearer_auth(ADMIN_TOKEN);
        send(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    /// What the service is doing right now.
    pub(crate) async fn stats(&self) -> Value {
        let stats = self.operate(Method::GET, "/admin/v1/stats", None).await;
        assert_eq!(stats.status, 200, "{}", stats.json);
        stats.json["data"].clone()
    }

    /// What accounts have of something that they share.
    pub(crate) async fn share(&self, of: &str) -> Value {
        let stats = self.stats().await;
        let shares = stats["shares"].as_array().expect("shares");
        let found = shares.iter().find(|one| one["of"] == of);
        found.unwrap_or_else(|| panic!("{of}")).clone()
    }

    /// Waits until something is so of what the service is doing.
    pub(crate) async fn until_stats(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        let so = async {
            while !is_so(&self.stats().await) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_mins(1), so).await;
        assert!(in_time.is_ok(), "{what}: {}", self.stats().await);
    }

    /// A fresh account with some quota.
    pub(crate) async fn account(&self, balance: u32) -> Account {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let email = format!(
            "caller{}@example.com",
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let body = json!({ "email": email, "balance": balance });
        let made = self
            .operate(Method::POST, "/admin/v1/accounts", Some(body))
            .await;
        assert_eq!(made.status, 200, "{}", made.json);
        let text = |name: &str| {
            made.json["data"][name]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        Account {
            id: text("id"),
            key: text("api_key"),
        }
    }

    /// Submits a face swap and gives back its job id.
    pub(crate) async fn swap(&self, key: &str) -> String {
        let answer = self.post(key, "/facegen/v1/swap", swap_body()).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        answer.json["data"]["jobId"]
            .as_str()
            .expect("a job id")
            .to_owned()
    }

    /// `(balance, freeze_balance)` of the account behind a key.
    pub(crate) async fn balance(&self, key: &str) -> (f64, f64) {
        let info = self.get(key, "/artgen/v1/info").await;
        let amount = |name: &str| info.json["data"][name].as_f64().expect("an amount");
        (amount("balance"), amount("freeze_balance"))
    }

    /// Submits a prompt to `/artgen/v1/imagine`; the job's id.
    pub(crate) async fn imagine(&self, key: &str, prompt: &str) -> String {
        let body = json!({ "prompt": prompt });
        let answer = self.post(key, "/artgen/v1/imagine", body).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        let id = answer.json["data"]["jobId"].as_str();
        id.expect("a job id").to_owned()
    }

    /// Everything it has printed, to either stream.
    pub(crate) fn printed(&self) -> String {
        self.output.lock().expect("the output").clone()
    }

    /// The process, for signals.
    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// The most memory it has had so far, in KiB.
    pub(crate) fn peak_memory_kib(&self) -> u64 {
        self.status_kib("VmHWM:")
    }

    /// What the kernel counts under a name for the process, in KiB.
    pub(crate) fn status_kib(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.process_id());
        let status = std::fs::read_to_string(path).expect("the process runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|text| text.parse().ok()).expect("a number")
    }

    /// The database it works on.
    pub(crate) fn database(&self) -> String {
        let own = || format!("sqlite:{}", self.folder.path().join("atelier.db").display());
        self.postgres
            .as_ref()
            .map_or_else(own, |postgres| postgres.url.clone())
    }

    /// Runs another command of the binary on the same data; what it printed.
    pub(crate) fn command(&self, words: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atelier"));
        command
            .args(words)
            .arg("--data-dir")
            .arg(self.folder.path());
        if let Some(postgres) = &self.postgres {
            command.args(["--database", &postgres.url]);
        }
        let ran = command.output().expect("the binary starts");
        assert!(
            ran.status.success(),
            "{words:?}: {}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// Has PostgreSQL run a statement on its database.
    pub(crate) fn sql(&self, statement: &str) {
        run_sql(&self.database(), statement);
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.process_id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits until the process has ended; its exit code.
    pub(crate) fn ended(&mut self, within: Duration) -> Option<i32> {
        let begun = Stopwatch::start();
        loop {
            if let Some(status) = self.child.try_wait().expect("the process is ours") {
                return status.code();
            }
            assert!(
                begun.elapsed() < within,
                "still running after {within:?}:\n{}",
                self.printed()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the process the hard way.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- the service printed ---\n{}", self.printed());
        }
    }
}

/// A valid face swap. Its images cannot be fetched, which only the job will notice.
pub(crate) fn swap_body() -> Value {
    json!({ "targetImage": "https://example.com/a.png", "swapImage": "https://example.com/b.png" })
}

/// Sends a request and reads the answer.
pub(crate) async fn send(request: RequestBuilder) -> Answer {
    let (client, request) = request.build_split();
    let request = request.expect("a request");
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let response = client.execute(request).await.expect("an answer");
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await.expect("a body").to_vec();
    let json = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let answer = Answer {
        status,
        headers,
        bytes,
        json,
    };
    if answer.status.as_u16() >= 400 && !answer.header("x-request-id").is_empty() {
        documented::check(&method, &path, answer.status.as_u16(), &answer.json);
    }
    answer
}

/// A client without redirects and proxies.
pub(crate) fn client() -> reqwest::Client {
    // Plain HTTP only, but the client insists on knowing how it would do TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client")
}

/// Reads both streams of the process and waits for the lines that say where it listens.
fn listening(child: &mut Child, output: &Arc<Mutex<String>>, count: usize) -> Vec<String> {
    let (sender, receiver) = mpsc::channel();
    let mut errors = child.stderr.take().expect("a pipe");
    let log = Arc::clone(output);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = errors.read(&mut buffer) {
            log.lock()
                .expect("the log")
                .push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    });
    let lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let log = Arc::clone(output);
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            log.lock().expect("the log").extend([line.as_str(), "\n"]);
            let place = line.strip_prefix("listening on ");
            if let Some((_, address)) = place.and_then(|place| place.split_once("://")) {
                let _ = sender.send(address.to_owned());
            }
        }
    });
    let next = |_| {
        receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            // Its last words may still be on their way.
            std::thread::sleep(Duration::from_millis(500));
            panic!(
                "it never said where it listens:\n{}",
                output.lock().expect("the log")
            )
        })
    };
    (0..count).map(next).collect()
}

/// A database of its own for one gateway, dropped with it.
struct Postgres {
    url: String,
    admin_url: String,
    name: String,
}

impl Postgres {
    /// A fresh database on the server that `ATELIER_TEST_POSTGRES` names, if it names one.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test command says where the server is"
    )]
    fn fresh() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let admin_url = std::env::var("ATELIER_TEST_POSTGRES")
            .ok()
            .filter(|url| !url.is_empty())?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("atelier_api_{}_{count}", std::process::id());
        // One that has been migrated is copied in half the time.
        let template = std::env::var("ATELIER_TEST_TEMPLATE").unwrap_or("template1".into());
        run_sql(
            &admin_url,
            &format!("CREATE DATABASE {name} TEMPLATE {template}"),
        );
        let mut url = url::Url::parse(&admin_url).expect("an address");
        url.set_path(&name);
        Some(Self {
            url: url.to_string(),
            admin_url,
            name,
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        run_sql(
            &self.admin_url,
            &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
        );
    }
}

fn run_sql(url: &str, statement: &str) {
    let done = Command::new("psql").args([url, "-qc", statement]).status();
    assert!(
        done.expect("psql is installed with the server").success(),
        "{statement}"
    );
}
