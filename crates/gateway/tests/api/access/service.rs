//! An owner with one thing of every kind, everybody's credentials, and what shows that nothing of it was touched.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use atelier_contract::FAMILIES;
use reqwest::Method;
use serde_json::{Value, json};

use super::routes::{Needs, Route};
use super::{PersonKind, Role};
use crate::backends::finished;
use crate::files::{png, upload};
use crate::gateway::{ADMIN_TOKEN, Account, Answer, Gateway, Options, send};
use crate::people::browser::{Browser, letter};

const SCOPES: [&str; 4] = ["submit", "read", "keys", "account"];

/// One thing of every kind that a path or body can name.
pub(super) struct Ids {
    pub(super) account: String,
    pub(super) backend: String,
    pub(super) batch: String,
    pub(super) callback: String,
    pub(super) custody: String,
    pub(super) file: String,
    /// A job that others can follow.
    pub(super) job: String,
    /// A job that made something, where work takes no time; otherwise the same.
    pub(super) made: String,
    pub(super) key: String,
    pub(super) invitation: String,
    pub(super) member: String,
    pub(super) operator: String,
    pub(super) worker: String,
    jobs: HashMap<&'static str, String>,
    count: AtomicU64,
}

impl Ids {
    /// A number that nobody was given before.
    pub(super) fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// A job of a family.
    pub(super) fn job_of(&self, family: &str) -> &str {
        self.jobs.get(family).unwrap_or(&self.job)
    }

    fn absent() -> Self {
        let id = || "019a0000-0000-7000-8000-00000000dead".to_owned();
        Self {
            account: id(),
            backend: id(),
            batch: id(),
            callback: id(),
            custody: id(),
            file: id(),
            job: id(),
            made: id(),
            key: id(),
            invitation: id(),
            member: id(),
            operator: id(),
            worker: id(),
            jobs: HashMap::new(),
            count: AtomicU64::new(0),
        }
    }
}

pub(super) struct Service {
    pub(super) gateway: Gateway,
    /// What the owner has.
    pub(super) owned: Ids,
    /// What nobody has.
    pub(super) absent: Ids,
    owner: Account,
    stranger: Account,
    revoked: String,
    /// Keys of the owner by the one scope they have, and by the one they lack.
    only: HashMap<&'static str, String>,
    without: HashMap<&'static str, String>,
    viewer: String,
    operator: String,
    /// Sessions of the operator and of the owner with each of those keys: the cookie and its proof.
    sessions: HashMap<&'static str, (String, String)>,
    /// People who are signed in, by what they are.
    people: HashMap<PersonKind, Browser>,
    /// The owner's things as they were.
    before: Vec<Value>,
}

impl Service {
    pub(super) async fn build(pace: &str) -> Self {
        let gateway = Options::default()
            .set("LIMITS_WRONG_KEYS_PER_MINUTE", "0")
            .set("LIMITS_ACTS_BURST", "100")
            .set("STUDIO_PACE", pace)
            .set("BASE_URL", "https://atelier.example.com")
            .spawn()
            .await;
        let owner = gateway.account(100_000).await;
        let stranger = gateway.account(100_000).await;
        let key = |wish: Value| issue(&gateway, &owner, wish);
        let (key_id, revoked) = key(json!({})).await;
        let path = format!("/account/v1/keys/{key_id}");
        let revoke = gateway.request(Method::DELETE, &path);
        let gone = send(revoke.header("SVC-API-KEY", &owner.key)).await;
        assert_eq!(gone.status, 200, "{}", gone.json);
        let (mut only, mut without) = (HashMap::new(), HashMap::new());
        for scope in SCOPES {
            // What changes all keys of an account changes its own.
            let lacks = |one: &&str| *one != scope && !(scope == "keys" && *one == "account");
            let others: Vec<&str> = SCOPES.into_iter().filter(lacks).collect();
            only.insert(scope, key(json!({ "scopes": [scope] })).await.1);
            without.insert(scope, key(json!({ "scopes": others })).await.1);
        }
        let (operator_id, operator) = make_operator(&gateway, "ada", "operator").await;
        let (_, viewer) = make_operator(&gateway, "eve", "viewer").await;
        let mut owned = own(&gateway, &owner, operator_id).await;
        if pace == "instant" {
            owned.made = gateway.imagine(&owner.key, "a lake").await;
            let job = finished(&gateway, &owner.key, &owned.made).await;
            assert_eq!(job["status"], "SUCCESS", "{job}");
        }
        let mut sessions = HashMap::new();
        for scope in SCOPES {
            let first = sign_in(&gateway, &only[scope], None).await;
            let both = sign_in(&gateway, &operator, Some(&first.0)).await;
            sessions.insert(scope, both);
        }
        let people = people(&gateway, &owner, &mut owned).await;
        let mut service = Self {
            people,
            owned,
            absent: Ids::absent(),
            stranger,
            revoked,
            only,
            without,
            viewer,
            operator,
            sessions,
            before: Vec::new(),
            owner,
            gateway,
        };
        service.before = service.things().await;
        service
    }

    /// The session somebody has; ending it here would end it for every other route.
    pub(super) fn session(&self, who: Role, route: &Route) -> Option<(&str, &str)> {
        if let Role::Person(kind) = who {
            let browser = &self.people[&kind];
            let session = browser.cookies.get("atelier_session");
            let session = session.filter(|_| !route.ends_session());
            return session.map(|session| (session.as_str(), browser.proof.as_str()));
        }
        if route.ends_session() || ![Role::Session, Role::Unproven].contains(&who) {
            return None;
        }
        let scope = match route.needs {
            Needs::Scope(scope) => scope,
            _ => "read",
        };
        Some(self.session_of(scope))
    }

    /// A session whose key has one scope, with its proof.
    pub(super) fn session_of(&self, scope: &str) -> (&str, &str) {
        let (cookie, proof) = &self.sessions[scope];
        (cookie, proof)
    }

    /// What somebody comes with.
    pub(super) fn credential(&self, who: Role, needs: Needs) -> Option<&str> {
        Some(match who {
            Role::Nobody | Role::Session | Role::Unproven | Role::Person(_) => return None,
            Role::Malformed => "at_not-a-key",
            Role::Revoked => &self.revoked,
            Role::WithoutScope => self.of(&self.without, needs),
            Role::Stranger => &self.stranger.key,
            Role::Owner => self.of(&self.only, needs),
            Role::Viewer => &self.viewer,
            Role::Operator => &self.operator,
            Role::Root => ADMIN_TOKEN,
        })
    }

    fn of<'a>(&'a self, keys: &'a HashMap<&'static str, String>, needs: Needs) -> &'a str {
        match needs {
            Needs::Scope(scope) => &keys[scope],
            _ => &self.owner.key,
        }
    }

    /// Whether an answer shows anything of the owner's.
    pub(super) fn shows_owner(&self, answer: &Answer) -> bool {
        let text = String::from_utf8_lossy(&answer.bytes);
        let Ids {
            account,
            batch,
            callback,
            custody,
            file,
            job,
            key,
            invitation,
            member,
            jobs,
            ..
        } = &self.owned;
        let ids = [
            account, batch, callback, custody, file, job, key, invitation, member,
        ];
        ids.into_iter()
            .chain(jobs.values())
            .any(|id| text.contains(id.as_str()))
    }

    /// Asserts that the owner has what it had.
    pub(super) async fn is_untouched(&self) {
        let now = self.things().await;
        assert_eq!(now, self.before);
    }

    /// The same, and what those who may have changed in passing.
    pub(super) async fn everything(&self) -> Vec<Value> {
        let mut things = self.things().await;
        let key = &self.owner.key;
        let keys = self.gateway.get(key, "/account/v1/keys").await;
        things.push(ids_of(&keys.json["data"]));
        let ledger = self.gateway.get(key, "/account/v1/ledger?limit=1").await;
        things.push(ledger.json["total"].clone());
        let secret = self.gateway.get(key, "/account/v1/callbacks/secret").await;
        things.push(secret.json["data"]["secret"].clone());
        let account = format!("/admin/v1/accounts/{}", self.owned.account);
        let account = self.gateway.operate(Method::GET, &account, None).await;
        for field in ["max_queue", "balance"] {
            things.push(account.json["data"][field].clone());
        }
        for path in ["/admin/v1/prices", "/admin/v1/banned", "/admin/v1/models"] {
            let answer = self.gateway.operate(Method::GET, path, None).await;
            things.push(answer.json["data"].clone());
        }
        things
    }

    async fn things(&self) -> Vec<Value> {
        let mut things = Vec::new();
        for path in [
            "/jobs/v1?limit=1".to_owned(),
            format!("/account/v1/callbacks/{}", self.owned.callback),
            "/custody/v1/accounts".to_owned(),
            "/files/v1".to_owned(),
            format!("/account/v1/members/{}", self.owned.member),
        ] {
            let answer = self.gateway.get(&self.owner.key, &path).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.json);
            let json = answer.json;
            let count = json["total"].as_i64();
            things.push(count.map_or_else(|| ids_of(&json["data"]), Value::from));
        }
        for path in ["/admin/v1/operators", "/admin/v1/backends"] {
            let answer = self.gateway.operate(Method::GET, path, None).await;
            things.push(ids_of(&answer.json["data"]));
        }
        let account = format!("/admin/v1/accounts/{}", self.owned.account);
        let account = self.gateway.operate(Method::GET, &account, None).await;
        things.push(account.json["data"]["disabled"].clone());
        things
    }
}

/// Everybody who may be signed in: members of the owner's account, somebody who is invited there, somebody who was removed, and an
/// operator.
async fn people(
    gateway: &Gateway,
    owner: &Account,
    owned: &mut Ids,
) -> HashMap<PersonKind, Browser> {
    let invite = async |email: &str, role: &str| {
        let body = json!({ "email": email, "role": role });
        let path = "/account/v1/invitations";
        let sent = gateway.post(&owner.key, path, body).await;
        text(&sent.json["data"], "id")
    };
    let mut people = HashMap::new();
    let members = [
        (PersonKind::Owner, "owner"),
        (PersonKind::Member, "member"),
        (PersonKind::Viewer, "viewer"),
        (PersonKind::Removed, "member"),
    ];
    for (kind, role) in members {
        let email = format!("{kind:?}@example.com").to_lowercase();
        invite(&email, role).await;
        let mut browser = Browser::default();
        let word = letter(gateway, &email, 0).await;
        let joined = browser.follow(gateway, &word).await;
        assert_eq!(joined.status, 200, "{}", joined.json);
        people.insert(kind, browser);
    }
    let members = gateway.get(&owner.key, "/account/v1/members").await;
    let of = |email: &str| {
        let rows = members.json["data"].as_array().expect("members");
        let row = rows.iter().find(|row| row["email"] == email);
        text(row.expect("a member"), "id")
    };
    owned.member = of("member@example.com");
    let path = format!("/account/v1/members/{}", of("removed@example.com"));
    let gone = gateway.request(Method::DELETE, &path);
    let gone = send(gone.header("SVC-API-KEY", &owner.key)).await;
    assert_eq!(gone.status, 200, "{}", gone.json);
    owned.invitation = invite("invited@example.com", "owner").await;
    let invited = Browser::sign_in(gateway, "invited@example.com").await;
    people.insert(PersonKind::Invited, invited);
    let wish = json!({ "name": "person", "role": "operator", "email": "operator@example.com" });
    let made = gateway.operate(Method::POST, "/admin/v1/operators", Some(wish));
    assert_eq!(made.await.status, 200);
    let operator = Browser::sign_in(gateway, "operator@example.com").await;
    people.insert(PersonKind::Operator, operator);
    people
}

fn ids_of(data: &Value) -> Value {
    match data.as_array() {
        Some(rows) => rows.iter().map(|row| row["id"].clone()).collect(),
        None => data["id"].clone(),
    }
}

async fn issue(gateway: &Gateway, owner: &Account, wish: Value) -> (String, String) {
    let issued = gateway.post(&owner.key, "/account/v1/keys", wish).await;
    let data = &issued.json["data"];
    (text(data, "id"), text(data, "api_key"))
}

/// Signs in, keeping what an earlier session stood for; the cookie and its proof.
async fn sign_in(gateway: &Gateway, secret: &str, earlier: Option<&str>) -> (String, String) {
    let mut request = gateway
        .request(Method::POST, "/console/session")
        .json(&json!({ "secret": secret }));
    if let Some(cookie) = earlier {
        request = request.header("cookie", cookie);
    }
    let answer = send(request).await;
    let cookie = answer.header("set-cookie").split(';').next();
    let cookie = cookie.expect("a cookie").to_owned();
    (cookie, text(&answer.json["data"], "csrf"))
}

async fn make_operator(gateway: &Gateway, name: &str, role: &str) -> (String, String) {
    let body = json!({ "name": name, "role": role });
    let path = "/admin/v1/operators";
    let made = gateway.operate(Method::POST, path, Some(body)).await;
    let data = &made.json["data"];
    (text(data, "id"), text(data, "token"))
}

fn text(data: &Value, name: &str) -> String {
    let text = data[name].as_str();
    text.unwrap_or_else(|| panic!("{name} of {data}"))
        .to_owned()
}

/// Gives the owner one thing of every kind.
async fn own(gateway: &Gateway, owner: &Account, operator: String) -> Ids {
    let made = |answer: Answer| text(&answer.json["data"], "id");
    let worker = json!({ "vendor": "relay", "base_url": "https://media.example.com", "credential": "at_secret" });
    let custody = made(
        gateway
            .post(&owner.key, "/custody/v1/accounts", worker)
            .await,
    );
    let create =
        async |path: &str, body: Value| made(gateway.operate(Method::POST, path, Some(body)).await);
    let backend = json!({
        "vendor": "relay", "name": "upstream", "base_url": "https://media.example.com", "enabled": false,
    });
    let backend = create("/admin/v1/backends", backend).await;
    let accounts = format!("/admin/v1/backends/{backend}/accounts");
    let worker = create(
        &accounts,
        json!({ "name": "first", "credential": "at_secret" }),
    )
    .await;
    let (key, _) = issue(gateway, owner, json!({ "name": "named" })).await;
    let mut jobs = HashMap::new();
    for family in FAMILIES.iter().filter(|family| !family.fetches.is_empty()) {
        let body = |example: &str| serde_json::from_str::<Value>(example).expect("JSON");
        let submit = family
            .submits
            .iter()
            .map(|submit| (submit, body(submit.example)));
        let first = submit
            .into_iter()
            .find(|(_, body)| body.get("jobId").is_none());
        let (submit, mut body) = first.expect("a submit that follows no job");
        if let Some(prompt) = body["prompt"]
            .as_str()
            .map(|text| format!("[[stall]] {text}"))
        {
            body["prompt"] = prompt.into();
        }
        // Nothing answers at the addresses of the examples: such a job would fail in the middle of a test.
        let reads = body.to_string().contains("https://");
        let answer = gateway.post(&owner.key, submit.path, body).await;
        let job = text(&answer.json["data"], "jobId");
        if reads {
            cancel(gateway, owner, &job).await;
        }
        jobs.insert(family.name, job);
    }
    let (job, callback) = finished_job(gateway, owner).await;
    let one = json!({ "operation": "artgen.imagine", "request": { "prompt": "a lake [[stall]]" } });
    let batch = json!({ "requests": [one] });
    let batch = gateway.post(&owner.key, "/jobs/v1/batch", batch).await;
    let file = upload(gateway, &owner.key, png(8, 8), "image/png").await;
    Ids {
        account: owner.id.clone(),
        backend,
        batch: text(&batch.json["data"], "batchId"),
        callback,
        custody,
        file: text(&file.json["data"], "id"),
        made: job.clone(),
        job,
        key,
        invitation: String::new(),
        member: String::new(),
        operator,
        worker,
        jobs,
        count: AtomicU64::new(0),
    }
}

/// A job that is over, and the callback that is owed for it.
async fn finished_job(gateway: &Gateway, owner: &Account) -> (String, String) {
    let hook = "https://receiver.example.com/hook";
    let body = json!({ "prompt": "a lake [[stall]]", "hookUrl": hook });
    let answer = gateway.post(&owner.key, "/artgen/v1/imagine", body).await;
    let job = text(&answer.json["data"], "jobId");
    cancel(gateway, owner, &job).await;
    let callbacks = gateway.get(&owner.key, "/account/v1/callbacks").await;
    let id = text(&callbacks.json["data"][0], "id");
    (job, id)
}

async fn cancel(gateway: &Gateway, owner: &Account, job: &str) {
    let path = format!("/jobs/v1/{job}/cancel");
    let cancelled = gateway.post(&owner.key, &path, json!({})).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.json);
}
