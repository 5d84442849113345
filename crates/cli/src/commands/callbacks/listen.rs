//! `atelier callbacks listen`: a receiver on this machine that prints callbacks and says whether their signatures hold.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use atelier_contract::catalogue::Catalogue;
use atelier_contract::webhook;
use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::LocalSet;

use crate::client::{ApiRequest, Client};
use crate::commands::client_options::ClientOptions;
use crate::terminal::screen::{self, TextStyle};

/// A callback is never larger.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// A signature older than this, in seconds, is refused: somebody may have kept it.
const OLDEST_S: i64 = 300;

/// Receives callbacks on this machine, prints them and checks their signatures.
#[derive(Args)]
pub(super) struct Listen {
    /// Address to listen on.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    address: String,
    /// Port to listen on; 0 picks a free one.
    #[arg(long, value_name = "PORT", default_value_t = 9000)]
    port: u16,
    /// File with the signing secret; without it the account's own.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<std::path::PathBuf>,
    /// Exits after this many callbacks, with an error if a signature was wrong.
    #[arg(long, value_name = "COUNT")]
    count: Option<usize>,
    /// Responds with this status instead of 204, to see retries.
    #[arg(long, value_name = "STATUS", default_value_t = 204)]
    answer: u16,
}

/// What every connection shares.
struct Receiver {
    json: bool,
    answer: StatusCode,
    secrets: Vec<String>,
    /// Whether the signature of one held.
    taken: tokio::sync::mpsc::UnboundedSender<bool>,
}

impl Listen {
    /// Listens until it is told to stop.
    pub(super) async fn run(
        self,
        client_options: &ClientOptions,
        catalogue: &'static Catalogue,
    ) -> Result<ExitCode> {
        let secret = match &self.secret_file {
            Some(file) => std::fs::read_to_string(file)?.trim().to_owned(),
            None => secret(&client_options.client(catalogue)?).await?,
        };
        if webhook::sign_webhook(&[&secret], "", 0, b"").is_empty() {
            anyhow::bail!(
                "--secret-file: must contain a secret as printed by `atelier callbacks secret`"
            );
        }
        let address = format!("{}:{}", self.address, self.port);
        let listener = TcpListener::bind(&address).await.context(address)?;
        let bound = listener.local_addr()?;
        screen::note(format!(
            "listening; pass hookUrl=http://{bound}/ to a call. Ctrl-C stops"
        ));
        let (taken, mut count) = tokio::sync::mpsc::unbounded_channel();
        let receiver = Rc::new(Receiver {
            json: client_options.json,
            answer: StatusCode::from_u16(self.answer).context("--answer: must be a status")?,
            secrets: vec![secret],
            taken,
        });
        let local = LocalSet::new();
        let accept = async {
            loop {
                let (socket, peer) = listener.accept().await?;
                let receiver = Rc::clone(&receiver);
                tokio::task::spawn_local(serve(receiver, socket, peer));
            }
        };
        let enough = async {
            let most = self.count.unwrap_or(usize::MAX);
            let mut held = true;
            for _ in 0..most {
                held &= count.recv().await.unwrap_or(true);
            }
            // The answer to the last one is still on its way.
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            held
        };
        let ended: Result<bool> = local
            .run_until(async {
                tokio::select! {
                    done = accept => done,
                    held = enough => Ok(held),
                    _ = tokio::signal::ctrl_c() => Ok(true),
                }
            })
            .await;
        // Whoever waits for so many learns from the code whether all of them can be trusted.
        ended.map(|held| ExitCode::from(u8::from(!held)))
    }
}

/// Asks the service for the secret that signs this account's callbacks.
async fn secret(client: &Client) -> Result<String> {
    let page = client.operation("account.callbacks.secret")?;
    let answer = client
        .call(page, &ApiRequest::plain(page, page.path.clone()))
        .await?;
    let secret = answer["data"]["secret"].as_str();
    Ok(secret.unwrap_or_default().to_owned())
}

async fn serve(receiver: Rc<Receiver>, socket: tokio::net::TcpStream, _: SocketAddr) {
    let service = service_fn(move |request| take(Rc::clone(&receiver), request));
    let connection = hyper::server::conn::http1::Builder::new();
    let _ = connection
        .serve_connection(TokioIo::new(socket), service)
        .await;
}

async fn take(
    receiver: Rc<Receiver>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MOST_BYTES).collect().await;
    let body = body
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let verdict = judged(&receiver.secrets, &head.headers, &body, now_s());
    receiver.print(&head.headers, &body, &verdict);
    let _ = receiver.taken.send(verdict.is_ok());
    let mut answer = Response::new(Full::new(Bytes::new()));
    *answer.status_mut() = if verdict.is_ok() {
        receiver.answer
    } else {
        StatusCode::BAD_REQUEST
    };
    Ok(answer)
}

impl Receiver {
    fn print(&self, headers: &HeaderMap, body: &[u8], verdict: &Result<(), &'static str>) {
        let parsed: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let id = text(headers, "webhook-id");
        if self.json {
            let line = serde_json::json!({ "id": id, "verified": verdict.is_ok(), "body": parsed });
            screen::say(line.to_string());
            return;
        }
        let word = match verdict {
            Ok(()) => screen::ink(TextStyle::Good, "signature holds"),
            Err(why) => screen::ink(TextStyle::Bad, why),
        };
        screen::say(format!(
            "{} {id}  {word}",
            screen::ink(TextStyle::Bold, "callback")
        ));
        screen::say(serde_json::to_string_pretty(&parsed).unwrap_or_default());
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

/// Whether a callback was signed with one of some secrets, not long ago.
fn judged(
    secrets: &[String],
    headers: &HeaderMap,
    body: &[u8],
    now_s: i64,
) -> Result<(), &'static str> {
    let (id, signatures) = (
        text(headers, "webhook-id"),
        text(headers, "webhook-signature"),
    );
    let Ok(time) = text(headers, "webhook-timestamp").parse::<i64>() else {
        return Err("no webhook-timestamp");
    };
    if (now_s - time).abs() > OLDEST_S {
        return Err("signed too long ago");
    }
    let signed = |secret: &String| {
        let wanted = webhook::sign_webhook(&[secret], id, time, body);
        !wanted.is_empty() && signatures.split(' ').any(|given| given == wanted)
    };
    if secrets.iter().any(signed) {
        Ok(())
    } else {
        Err("the signature is wrong")
    }
}

/// The time of this machine, which is all that a receiver has.
#[expect(
    clippy::disallowed_methods,
    reason = "no clock of a service is at hand on this side of the wire"
)]
fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_secret_signed_a_moment_ago_holds() {
        let secret = webhook::new_webhook_secret(&[7; 24]);
        let signature = webhook::sign_webhook(&[&secret], "id", 1000, b"{}");
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", "id".parse().expect("a header"));
        headers.insert("webhook-timestamp", "1000".parse().expect("a header"));
        let both = format!("v1,old {signature}");
        headers.insert("webhook-signature", both.parse().expect("a header"));
        let secrets = [secret];
        assert_eq!(judged(&secrets, &headers, b"{}", 1010), Ok(()));
        assert!(judged(&secrets, &headers, b"{ }", 1010).is_err());
        assert!(judged(&secrets, &headers, b"{}", 2000).is_err());
        assert!(judged(&[], &headers, b"{}", 1010).is_err());
    }
}
