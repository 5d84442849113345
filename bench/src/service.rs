//! The service as its users run it: the release binary in a folder of its own, and this program's own references.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

const ADMIN: &str = "bench-admin-token-0123456789abcdef";

/// A child process that listens.
pub(crate) struct ServiceProcess {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    folder: Option<PathBuf>,
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        let _ = self.child.start_kill();
    }
}

impl ServiceProcess {
    /// The database it keeps in its folder.
    pub(crate) fn own_database(&self) -> Option<String> {
        let folder = self.folder.as_ref()?;
        Some(format!("sqlite:{}", folder.join("atelier.db").display()))
    }

    /// What `atelier audit` finds wrong with its books after it has been stopped; empty when they balance.
    pub(crate) async fn check(mut self, database: Option<&str>) -> Result<String> {
        let id = self.child.id().context("the process has ended")?;
        let stopped = Command::new("kill")
            .args(["-TERM", &id.to_string()])
            .status()
            .await?;
        anyhow::ensure!(stopped.success(), "the service could not be stopped");
        self.child.wait().await?;
        let mut command = Command::new(binary()?);
        command.arg("audit");
        // Files are looked for in the folder, whatever the rows are in.
        let folder = self.folder.as_ref().context("nothing to check")?;
        command.arg("--data-dir").arg(folder);
        if let Some(database) = database {
            command.args(["--database", database]);
        }
        let output = command.output().await?;
        if output.status.success() {
            return Ok(String::new());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Seconds of processor it has taken, in user and kernel mode.
    pub(crate) fn processor_seconds(&self) -> Result<f64> {
        /// What Linux counts these in, whatever the kernel's own clock is.
        const TICKS_PER_SECOND: f64 = 100.0;
        let id = self.child.id().context("the process has ended")?;
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
        // The name in parentheses may hold anything; what follows it does not.
        let (_, fields) = stat.rsplit_once(')').context("no stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks = ticks.filter_map(|ticks| ticks.parse::<f64>().ok());
        Ok(ticks.sum::<f64>() / TICKS_PER_SECOND)
    }

    /// Resident memory in MB.
    pub(crate) fn memory_mb(&self) -> Result<f64> {
        let id = self.child.id().context("the process has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .context("no VmRSS")?;
        let kilobytes: f64 = line.split_whitespace().nth(1).unwrap_or("0").parse()?;
        Ok(kilobytes / 1024.0)
    }
}

/// The server to make databases on, if one was named.
#[expect(
    clippy::disallowed_methods,
    reason = "where the server is differs by machine"
)]
pub(crate) fn postgres() -> Option<String> {
    std::env::var("ATELIER_TEST_POSTGRES").ok()
}

/// The release binary beside this one.
fn binary() -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("atelier");
    if !path.exists() {
        let status = std::process::Command::new("cargo")
            .args(["build", "--release", "-p", "atelier"])
            .status()?;
        if !status.success() || !path.exists() {
            bail!("build the service first: cargo build --release");
        }
    }
    Ok(path)
}

/// Starts the service on an empty folder, or on a database.
pub(crate) async fn start(database: Option<&str>) -> Result<ServiceProcess> {
    start_with(database, &[]).await
}

/// Starts it with some settings, given as environment variables.
pub(crate) async fn start_with(
    database: Option<&str>,
    settings: &[(&str, &str)],
) -> Result<ServiceProcess> {
    let number =
        std::sync::atomic::AtomicU32::fetch_add(&STARTED, 1, std::sync::atomic::Ordering::Relaxed);
    let folder = crate::folder::fresh(&format!("data-{number}"))?;
    let mut command = Command::new(binary()?);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&folder);
    command
        .env("ATELIER_ADMIN_TOKEN", ADMIN)
        .env("ATELIER_LOG_LEVEL", "error")
        // One caller stands for many here.
        .env("ATELIER_LIMITS_SUBMITS_PER_SECOND", "0")
        .env("ATELIER_LIMITS_CALLS_PER_SECOND", "0")
        // How full the disk is otherwise is no part of a figure.
        .env("ATELIER_LIMITS_DISK_FREE_PERCENT", "0")
        .envs(settings.iter().copied());
    if let Some(database) = database {
        command.args(["--database", database]);
    }
    listening(command, Some(folder)).await
}

/// Brings a database to the service's own schema.
pub(crate) async fn migrate(place: &[&str]) -> Result<()> {
    let status = Command::new(binary()?)
        .args(["local", "migrate"])
        .args(place)
        .stdout(Stdio::null())
        .status()
        .await?;
    if !status.success() {
        bail!("the schema could not be made");
    }
    Ok(())
}

static STARTED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Starts a part of this program as a reference.
pub(crate) async fn start_reference(arguments: &[&str]) -> Result<ServiceProcess> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    listening(command, None).await
}

async fn listening(mut command: Command, folder: Option<PathBuf>) -> Result<ServiceProcess> {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().context("no output")?;
    let mut lines = BufReader::new(stdout).lines();
    let found = tokio::time::timeout(Duration::from_secs(20), async {
        while let Some(line) = lines.next_line().await? {
            if let Some(address) = line.split("listening on http://").nth(1) {
                return Ok(address.trim().parse::<SocketAddr>()?);
            }
        }
        bail!("it ended without listening")
    });
    let address = found.await.context("it did not listen in time")??;
    drain(lines);
    Ok(ServiceProcess {
        child,
        address,
        folder,
    })
}

/// Keeps reading, so that the child never blocks on a full pipe.
#[expect(
    clippy::disallowed_methods,
    reason = "it ends with the child; nothing waits for it"
)]
fn drain(mut lines: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>) {
    tokio::task::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
}

/// One call; gives the JSON body.
pub(crate) async fn call(address: SocketAddr, request: &[u8]) -> Result<Value> {
    let body = text(address, request).await?;
    serde_json::from_str(&body).with_context(|| body.clone())
}

/// The counters of the service.
pub(crate) async fn metrics(address: SocketAddr) -> Result<String> {
    let admin = format!("authorization: Bearer {ADMIN}");
    text(address, &request("GET", "/metrics", &admin, "", true)).await
}

async fn text(address: SocketAddr, request: &[u8]) -> Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    let text = String::from_utf8_lossy(&bytes);
    let (_, body) = text.split_once("\r\n\r\n").context("no body")?;
    Ok(body.to_owned())
}

/// The bytes of a request.
pub(crate) fn request(method: &str, path: &str, key: &str, body: &str, close: bool) -> Vec<u8> {
    let connection = if close { "close" } else { "keep-alive" };
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: bench\r\n{key}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: {connection}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A back end that speaks like OpenAI, for pictures.
pub(crate) async fn backend(address: SocketAddr, vendor: SocketAddr) -> Result<()> {
    let body = format!(
        r#"{{"name":"instant","vendor":"openai","base_url":"http://{vendor}/v1","operations":["imgmodel"],"settings":{{"image_model":"m"}}}}"#
    );
    add_backend(address, &body, 256).await
}

/// A back end that speaks like a web interface for Stable Diffusion, for anime pictures.
pub(crate) async fn webui(address: SocketAddr, vendor: SocketAddr) -> Result<()> {
    let body = format!(
        r#"{{"name":"instant","vendor":"sdwebui","base_url":"http://{vendor}","settings":{{"operations":["animegen.text_to_image"]}}}}"#
    );
    add_backend(address, &body, 256).await
}

/// A back end with one place that never answers: every job but one waits for as long as what is given lives.
pub(crate) async fn one_silent_place(address: SocketAddr) -> Result<TcpListener> {
    // Nobody accepts; the kernel takes the call, and that is all.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let base_url = format!("http://{}", silent.local_addr()?);
    let body = format!(r#"{{"name":"silent","vendor":"relay","base_url":"{base_url}"}}"#);
    add_backend(address, &body, 1).await?;
    Ok(silent)
}

async fn add_backend(address: SocketAddr, body: &str, concurrency: u32) -> Result<()> {
    let admin = format!("authorization: Bearer {ADMIN}");
    let path = "/admin/v1/backends";
    let made = call(address, &request("POST", path, &admin, body, true)).await?;
    let id = made["data"]["id"].as_str();
    let path = format!("{path}/{}/accounts", id.with_context(|| made.to_string())?);
    let body = format!(r#"{{"name":"one","credential":"sk-bench","concurrency":{concurrency}}}"#);
    let made = call(address, &request("POST", &path, &admin, &body, true)).await?;
    anyhow::ensure!(made["status"] == "SUCCESS", "{made}");
    Ok(())
}

/// An account with a lot of quota and room; gives the header line with its key.
pub(crate) async fn account(address: SocketAddr, name: &str) -> Result<String> {
    let body =
        format!(r#"{{"email":"{name}@example.com","balance":900000000,"max_queue":1000000}}"#);
    let admin = format!("authorization: Bearer {ADMIN}");
    let made = call(
        address,
        &request("POST", "/admin/v1/accounts", &admin, &body, true),
    )
    .await?;
    let key = made["data"]["api_key"]
        .as_str()
        .with_context(|| made.to_string())?;
    Ok(format!("svc-api-key: {key}"))
}
