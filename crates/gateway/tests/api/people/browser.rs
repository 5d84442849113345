//! A browser: it keeps cookies, says which page it is on, and reads its mail in the log of the service.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::gateway::{Answer, Gateway, send};

/// How long a letter may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Goes nowhere by itself: where it is led is what these tests look at.
static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy();
    let client = client.redirect(Policy::none()).build();
    client.expect("a client")
});

/// A browser with its cookies.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    pub(crate) cookies: BTreeMap<String, String>,
    /// What a page of the service sends beside its session.
    pub(crate) proof: String,
}

impl Browser {
    /// A request with its cookies.
    fn plain(&self, gateway: &Gateway, method: Method, path: &str) -> RequestBuilder {
        let cookies = self.cookies.iter();
        let cookies: Vec<String> = cookies
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = CLIENT.request(method, format!("{}{path}", gateway.base_url));
        if cookies.is_empty() {
            return request;
        }
        request.header(COOKIE, cookies.join("; "))
    }

    /// The same from a page of the service.
    pub(crate) fn request(&self, gateway: &Gateway, method: Method, path: &str) -> RequestBuilder {
        self.plain(gateway, method, path)
            .header("origin", &gateway.base_url)
            .header("x-csrf-token", &self.proof)
    }

    /// Opens a page that somebody was led to from elsewhere.
    pub(crate) async fn visit(&mut self, gateway: &Gateway, path: &str) -> Answer {
        let request = self.plain(gateway, Method::GET, path);
        let answer = send(request.header("accept", "text/html")).await;
        self.keep(&answer);
        answer
    }

    /// Keeps what an answer has it keep.
    pub(crate) fn keep(&mut self, answer: &Answer) {
        for line in answer.headers.get_all(SET_COOKIE) {
            let line = line.to_str().expect("a cookie");
            let pair = line.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').expect("a cookie");
            if line.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        if let Some(proof) = answer.json["data"]["csrf"].as_str() {
            proof.clone_into(&mut self.proof);
        }
    }

    /// Calls, and keeps what it is to keep.
    pub(crate) async fn call(
        &mut self,
        gateway: &Gateway,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let request = self.request(gateway, method, path);
        let answer = send(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await;
        self.keep(&answer);
        answer
    }

    pub(crate) async fn get(&mut self, gateway: &Gateway, path: &str) -> Answer {
        self.call(gateway, Method::GET, path, None).await
    }

    pub(crate) async fn post(&mut self, gateway: &Gateway, path: &str, body: Value) -> Answer {
        self.call(gateway, Method::POST, path, Some(body)).await
    }

    /// Asks for a link to an address.
    pub(crate) async fn ask(&mut self, gateway: &Gateway, email: &str) -> Answer {
        let wish = json!({ "email": email });
        self.post(gateway, "/auth/v1/link", wish).await
    }

    /// Follows a link, or types a code.
    pub(crate) async fn follow(&mut self, gateway: &Gateway, word: &str) -> Answer {
        let path = format!("/auth/v1/link/{word}");
        self.call(gateway, Method::POST, &path, None).await
    }

    /// Signs in by e-mail.
    pub(crate) async fn sign_in(gateway: &Gateway, email: &str) -> Self {
        let mut browser = Self::default();
        let before = letters(gateway, email).len();
        let asked = browser.ask(gateway, email).await;
        assert_eq!(asked.status, 200, "{}", asked.json);
        let word = letter(gateway, email, before).await;
        let opened = browser.follow(gateway, &word).await;
        assert_eq!(opened.status, 200, "{}", opened.json);
        browser
    }

    /// Who is signed in; null for nobody.
    pub(crate) async fn who(&mut self, gateway: &Gateway) -> Value {
        let shown = self.get(gateway, "/console/session").await;
        shown.json["data"].clone()
    }
}

/// The words of the links that were sent to an address, the first one first.
pub(crate) fn letters(gateway: &Gateway, email: &str) -> Vec<String> {
    let printed = gateway.printed();
    let to = format!("to=\"{email}\"");
    let lines = printed.lines().filter(|line| line.contains(&to));
    let words = lines.filter_map(|line| line.split_once("/auth/v1/link/"));
    words
        .map(|(_, rest)| {
            rest.chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
        })
        .map(String::from_iter)
        .collect()
}

/// The word of the link that comes to an address after so many others.
pub(crate) async fn letter(gateway: &Gateway, email: &str, before: usize) -> String {
    let arrived = async {
        loop {
            if let Some(word) = letters(gateway, email).into_iter().nth(before) {
                return word;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let arrived = tokio::time::timeout(PATIENCE, arrived).await;
    arrived.unwrap_or_else(|_| panic!("no letter to {email}:\n{}", gateway.printed()))
}

/// An account with an owner who is signed in.
pub(crate) struct Studio {
    pub(crate) account: String,
    pub(crate) key: String,
    pub(crate) owner: Browser,
}

impl Studio {
    /// Makes an account, invites its owner with its key, and has the owner join.
    pub(crate) async fn of(gateway: &Gateway, owner: &str, balance: u32) -> Self {
        let account = gateway.account(balance).await;
        let invitation = json!({ "email": owner, "role": "owner" });
        let path = "/account/v1/invitations";
        let invited = gateway.post(&account.key, path, invitation).await;
        assert_eq!(invited.status, 200, "{}", invited.json);
        let word = letter(gateway, owner, 0).await;
        let mut browser = Browser::default();
        let joined = browser.follow(gateway, &word).await;
        assert_eq!(joined.status, 200, "{}", joined.json);
        Self {
            account: account.id,
            key: account.key,
            owner: browser,
        }
    }

    /// Invites somebody and has them join; their browser, and their identifier as a member.
    pub(crate) async fn join(
        &mut self,
        gateway: &Gateway,
        email: &str,
        role: &str,
    ) -> (Browser, String) {
        let before = letters(gateway, email).len();
        let invitation = json!({ "email": email, "role": role });
        let invited = self
            .owner
            .post(gateway, "/account/v1/invitations", invitation)
            .await;
        assert_eq!(invited.status, 200, "{}", invited.json);
        let word = letter(gateway, email, before).await;
        let mut browser = Browser::default();
        let joined = browser.follow(gateway, &word).await;
        assert_eq!(joined.status, 200, "{}", joined.json);
        let listed = self.owner.get(gateway, "/account/v1/members").await;
        let rows = listed.json["data"].as_array().expect("members");
        let row = rows.iter().find(|row| row["email"] == email);
        let id = row.expect("the member")["id"].as_str().expect("an id");
        (browser, id.to_owned())
    }
}
