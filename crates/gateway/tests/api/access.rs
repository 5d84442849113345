//! The access matrix: every route of both tables, asked by everybody. The pages come from the document the service
//! makes of its tables, so that a new one is asked too; a route whose access or placeholder has no case here fails.

mod routes;
mod service;

use std::collections::HashSet;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::json;
use tokio::time::timeout;

use crate::gateway::{Answer, send};
use routes::{Needs, Route, routes};
use service::{Ids, Service};

/// A stream that says nothing for this long has said what it has to say.
const FIRST_WORDS: Duration = Duration::from_millis(400);

/// As whom a route is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Nobody,
    Malformed,
    Revoked,
    /// The owner of what is asked for, with a key that has every scope but the one that is needed.
    WithoutScope,
    /// Another account, with a key that may do everything.
    Stranger,
    /// The owner, with a key that has the needed scope and no other.
    Owner,
    Viewer,
    Operator,
    Root,
    /// A browser that is signed in as the owner, with that same key, and as an operator.
    Session,
    /// The same browser, led here by a page of somebody else's: it has the cookie and not the proof.
    Unproven,
    /// A browser in which a person is signed in.
    Person(PersonKind),
}

/// What a person is to the owner's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PersonKind {
    Owner,
    Member,
    Viewer,
    /// Invited there, and a member of nothing.
    Invited,
    /// Once a member, and none any more.
    Removed,
    /// An operator, and a member of nothing.
    Operator,
}

impl PersonKind {
    /// The scopes that it has in the owner's account.
    const fn scopes(self) -> &'static [&'static str] {
        match self {
            Self::Owner => &["submit", "read", "keys", "account"],
            Self::Member => &["submit", "read", "keys"],
            Self::Viewer => &["read"],
            Self::Invited | Self::Removed | Self::Operator => &[],
        }
    }
}

impl Role {
    const ALL: [Self; 17] = [
        Self::Nobody,
        Self::Malformed,
        Self::Revoked,
        Self::WithoutScope,
        Self::Stranger,
        Self::Owner,
        Self::Viewer,
        Self::Operator,
        Self::Root,
        Self::Session,
        Self::Unproven,
        Self::Person(PersonKind::Owner),
        Self::Person(PersonKind::Member),
        Self::Person(PersonKind::Viewer),
        Self::Person(PersonKind::Invited),
        Self::Person(PersonKind::Removed),
        Self::Person(PersonKind::Operator),
    ];
}

/// What the route must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedAccess {
    /// 401 `unauthorized`.
    Unknown,
    /// 403 `forbidden`.
    Forbidden,
    /// The gate is open; what follows is the page's own business.
    Passes,
    /// The gate is open, and what belongs to others is as if it were not there.
    Blind,
    /// The same as everybody gets.
    Open,
}

fn due(route: &Route, who: Role) -> ExpectedAccess {
    if let Role::Person(kind) = who {
        return due_to_person(route, kind);
    }
    match (route.needs, who) {
        (Needs::Nothing, _) => ExpectedAccess::Open,
        // Who takes its session away with that is not let try.
        (Needs::Person, Role::Unproven) if route.ends_session() => ExpectedAccess::Unknown,
        (_, Role::Unproven) if route.method != Method::GET => ExpectedAccess::Forbidden,
        (Needs::Scope("submit") | Needs::Operator, Role::Unproven)
        | (Needs::Scope(_), Role::WithoutScope)
        | (Needs::Operator, Role::Viewer) => ExpectedAccess::Forbidden,
        (Needs::Scope(_), Role::Stranger) => ExpectedAccess::Blind,
        (Needs::Person, _) => ExpectedAccess::Unknown,
        (_, Role::Session | Role::Unproven)
        | (Needs::Scope(_), Role::Owner)
        | (Needs::Viewer | Needs::Operator, Role::Operator | Role::Root)
        | (Needs::Viewer, Role::Viewer) => ExpectedAccess::Passes,
        _ => ExpectedAccess::Unknown,
    }
}

/// The same of somebody who is signed in: in the account they are what their role says, elsewhere nobody.
fn due_to_person(route: &Route, kind: PersonKind) -> ExpectedAccess {
    let is_out = kind == PersonKind::Removed || route.ends_session();
    match route.needs {
        Needs::Nothing => ExpectedAccess::Open,
        Needs::Person if !is_out => ExpectedAccess::Passes,
        Needs::Scope(scope) if kind.scopes().contains(&scope) => ExpectedAccess::Passes,
        Needs::Scope(_) if !kind.scopes().is_empty() => ExpectedAccess::Forbidden,
        Needs::Viewer | Needs::Operator if kind == PersonKind::Operator => ExpectedAccess::Passes,
        _ => ExpectedAccess::Unknown,
    }
}

fn is(answer: &Answer, status: u16, code: &str) -> bool {
    answer.status == status && (answer.json["code"] == code || answer.json["error"]["code"] == code)
}

#[tokio::test]
async fn everybody_gets_what_is_due_at_every_route() {
    let service = Service::build("realistic").await;
    let routes = routes(&service.gateway).await;
    let mut wrong = Vec::new();
    let mut asked = HashSet::new();
    for route in &routes {
        for who in Role::ALL {
            assert!(
                asked.insert((route.method.clone(), route.path.clone(), format!("{who:?}"))),
                "{} {} is listed twice",
                route.method,
                route.path
            );
            if let Some(why) = ask(&service, route, who).await {
                wrong.push(format!("{} {} by {who:?}: {why}", route.method, route.path));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        asked.len(),
        wrong.join("\n")
    );
    service.is_untouched().await;
    eprintln!(
        "access matrix: {} routes x {} = {} answers",
        routes.len(),
        Role::ALL.len(),
        asked.len()
    );
}

/// The promise: a browser that a page of somebody else's has led here makes and changes nothing of what its user has,
/// whatever the method, also where reading makes something.
#[tokio::test]
async fn a_session_without_its_proof_makes_and_changes_nothing() {
    let service = Service::build("instant").await;
    let before = service.everything().await;
    let mut asked = 0;
    for route in routes(&service.gateway).await {
        let reads = route.method == Method::GET;
        call(&service, &route, Role::Unproven, &service.owned).await;
        asked += 1;
        if reads && !route.is_endless() {
            call(
                &service,
                &route.by(Method::HEAD),
                Role::Unproven,
                &service.owned,
            )
            .await;
            asked += 1;
        }
    }
    assert!(asked > 150, "{asked} calls");
    assert_eq!(service.everything().await, before);
    // With its proof, the same session may.
    let (cookie, proof) = service.session_of("submit");
    let path = format!("/mj/task/{}/image-seed", service.owned.made);
    let request = service.gateway.request(Method::GET, &path);
    let request = request.header("cookie", cookie);
    let seed = send(request.header("x-csrf-token", proof)).await;
    assert_eq!(
        (seed.status.as_u16(), &seed.json["code"]),
        (200, &json!(1)),
        "{}",
        seed.json
    );
}

/// Asks; what is wrong with the answer, if anything.
async fn ask(service: &Service, route: &Route, who: Role) -> Option<String> {
    let due = due(route, who);
    // Whoever passes asks for what is not there, so that nothing is changed and every other answer is a refusal.
    let theirs = [ExpectedAccess::Passes, ExpectedAccess::Open].contains(&due);
    let ids = if theirs {
        &service.absent
    } else {
        &service.owned
    };
    let answer = call(service, route, who, ids).await;
    let good = match due {
        ExpectedAccess::Unknown => is(&answer, 401, "unauthorized"),
        ExpectedAccess::Forbidden => is(&answer, 403, "forbidden"),
        ExpectedAccess::Passes => passed(&answer),
        ExpectedAccess::Open => {
            let first = call(service, route, Role::Nobody, ids).await;
            // What is rare for everybody may run out between the two.
            let same = answer.status == first.status;
            let rare = [answer.status, first.status].contains(&StatusCode::TOO_MANY_REQUESTS);
            answer.status != 401 && (same || rare)
        }
        ExpectedAccess::Blind if route.names_something() => {
            let absent = call(service, route, who, &service.absent).await;
            let nothing = answer.status == 200 && answer.bytes == b"null";
            let hidden =
                nothing || is(&answer, 404, "not_found") || is(&answer, 400, "job_not_found");
            // What is somebody else's cannot be told from what does not exist.
            hidden && answer.bytes == absent.bytes
        }
        ExpectedAccess::Blind => passed(&answer) && !service.shows_owner(&answer),
    };
    (!good).then(|| format!("{due:?} was due, got {} {}", answer.status, answer.json))
}

fn passed(answer: &Answer) -> bool {
    ![StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&answer.status)
        && !answer.status.is_server_error()
}

async fn call(service: &Service, route: &Route, who: Role, ids: &Ids) -> Answer {
    let mut request = service
        .gateway
        .request(route.method.clone(), &route.path_of(ids));
    if let Some((cookie, proof)) = service.session(who, route) {
        request = request.header("cookie", cookie);
        if who != Role::Unproven {
            request = request.header("x-csrf-token", proof);
        }
    } else if let Some(credential) = service.credential(who, route.needs) {
        request = request.bearer_auth(credential);
    }
    if route.has_body() {
        let body = route.body_of(ids).unwrap_or_else(|| json!({}));
        request = request.json(&body);
    }
    if route.is_endless() {
        return begun(request).await;
    }
    send(request).await
}

/// What an answer that does not end says at first.
async fn begun(request: RequestBuilder) -> Answer {
    let mut response = request.send().await.expect("an answer");
    let (status, headers) = (response.status(), response.headers().clone());
    let mut bytes = Vec::new();
    while let Ok(Ok(Some(more))) = timeout(FIRST_WORDS, response.chunk()).await {
        bytes.extend_from_slice(&more);
    }
    Answer {
        json: serde_json::from_slice(&bytes).unwrap_or_default(),
        status,
        headers,
        bytes,
    }
}
