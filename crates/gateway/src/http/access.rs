//! Who may: the one place that lets a request through, by the column of the table it was found in and before its body
//! is read.

use std::sync::Arc;

use atelier_contract::pages::Access;
use atelier_contract::pages::operators::OperatorRole;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_engine::{Caller, Operator, SignedInPerson};
use hyper::header::HeaderMap;

use super::admission::{Admission, Credential};
use super::caller::{self, KeyGate};
use super::denial::Denial;
use super::rate::CallKind;
use super::request::{IncomingRequest, Requester};
use super::session;
use crate::app::App;
use crate::server::watch::Connection;

/// Who sent a request, when that is known without a wait and who it is may.
pub(super) fn cached_caller(
    app: &App,
    conn: &Connection,
    access: Access,
    headers: &HeaderMap,
) -> Option<Caller> {
    let Access::Caller(scope) = access else {
        return None;
    };
    caller::cached_caller(app, conn, headers).filter(|caller| caller.scopes.allow(scope))
}

/// Takes a place for a request until it is looked up whose key, token or session it carries.
pub(super) async fn arrive(
    app: &App,
    admission: &Admission,
    headers: &HeaderMap,
    kind: CallKind,
) -> Result<(), Denial> {
    let secret = match caller::key_of(headers) {
        Ok(None) => session::session_token(headers),
        key => key.unwrap_or_default(),
    };
    let credential = secret.map_or(Credential::Unknown, |secret| caller::recognize(app, secret));
    let arrived = admission.arrive(&app.request_slots, kind, credential);
    arrived.await
}

/// Who sent a request, or why it goes no further.
pub(super) async fn admit(
    app: &Arc<App>,
    conn: &Connection,
    access: Access,
    received: &IncomingRequest,
    by_key: KeyGate<'_>,
) -> Result<Requester, Denial> {
    match access {
        Access::Open => Ok(Requester::Anonymous),
        Access::Caller(scope) => {
            let visitor = session::visitor(app, access, received).await?;
            let caller = match visitor.and_then(|visitor| visitor.caller) {
                Some(caller) => {
                    by_key(&caller)?;
                    received
                        .admission
                        .admit(&app.request_slots, &app.rates, &caller.account_id)?;
                    caller
                }
                None => caller::authenticate(app, conn, received, by_key).await?,
            };
            if !caller.scopes.allow(scope) {
                let message = format!("this call needs a key with the scope `{}`", scope.word());
                return Err(Refusal::new(Code::Forbidden, message).into());
            }
            Ok(Requester::Caller(caller))
        }
        Access::Person => Ok(Requester::Person(person(app, access, received).await?)),
        Access::Viewer => Ok(Requester::Operator(operator(app, access, received).await?)),
        Access::Operator => {
            let operator = operator(app, access, received).await?;
            if operator.role != OperatorRole::Operator {
                let message = "a viewer looks and changes nothing; this call needs an operator";
                return Err(Refusal::new(Code::Forbidden, message).into());
            }
            Ok(Requester::Operator(operator))
        }
    }
}

/// Refuses a request for a page that answers under the service's own names alone, when it came under another one and without
/// a credential of its own. A session is none: it comes along by itself.
pub(super) async fn admit_name(
    app: &Arc<App>,
    conn: &Connection,
    received: &IncomingRequest,
) -> Result<(), Denial> {
    let (head, by_proxy) = (&received.head, received.from.by_proxy);
    let Err(foreign) = app.names.check(head, by_proxy, &app.origins) else {
        return Ok(());
    };
    let vouched = match received.requester {
        _ if !caller::has_credential(&received.head.headers) => false,
        Requester::Anonymous => {
            let (admission, headers) = (&received.admission, &received.head.headers);
            arrive(app, admission, headers, CallKind::Call).await?;
            caller::has_valid_credential(app, conn, received).await?
        }
        Requester::Caller(_) | Requester::Operator(_) | Requester::Person(_) => true,
    };
    if vouched { Ok(()) } else { Err(foreign.into()) }
}

/// Whether who asks may see what is no stranger's business: from inside and under a name of the service, or with a token that
/// may look. Whoever may not is answered all the same, with less.
pub(crate) async fn may_look(app: &Arc<App>, received: &IncomingRequest) -> bool {
    let (head, by_proxy) = (&received.head, received.from.by_proxy);
    // A page of somebody whose name leads here would read it otherwise.
    if received.inside && app.names.check(head, by_proxy, &app.origins).is_ok() {
        return true;
    }
    let headers = &received.head.headers;
    if !caller::has_credential(headers) && session::session_token(headers).is_none() {
        return false;
    }
    // The page itself needs no place; looking somebody up does, here as everywhere.
    let place = arrive(app, &received.admission, headers, CallKind::Call).await;
    place.is_ok() && operator(app, Access::Viewer, received).await.is_ok()
}

/// The person whose session a request carries. A key or a token stands for no person.
async fn person(
    app: &Arc<App>,
    access: Access,
    received: &IncomingRequest,
) -> Result<SignedInPerson, Denial> {
    let visitor = session::visitor(app, access, received).await?;
    let Some(person) = visitor.and_then(|visitor| visitor.person) else {
        let message = "this call is for people who are signed in; a key or a token is nobody here";
        return Err(Refusal::new(Code::Unauthorized, message).into());
    };
    let whose = AccountId::from(&*person.id);
    received
        .admission
        .admit(&app.request_slots, &app.rates, &whose)?;
    Ok(person)
}

/// The operator whose token or session a request carries.
async fn operator(
    app: &Arc<App>,
    access: Access,
    received: &IncomingRequest,
) -> Result<Operator, Denial> {
    let visitor = session::visitor(app, access, received).await?;
    let operator = match visitor.and_then(|visitor| visitor.operator) {
        Some(operator) => operator,
        None => caller::operator(app, received).await?,
    };
    received
        .admission
        .admit_operator(&app.request_slots, &operator.name)?;
    Ok(operator)
}
