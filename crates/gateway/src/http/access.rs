//! Who may: the one place that lets a request through, by the column of the table it was found in and before its body
//! is read.

use std::sync::Arc;

use atelier_contract::pages::Access;
use atelier_contract::pages::operators::OperatorRole;
use atelier_contract::{Code, Refusal};
use atelier_engine::{Caller, Operator};
use hyper::header::HeaderMap;

use super::caller;
use super::denial::Denial;
use super::rate::Kind;
use super::received::{Received, Who};
use super::session;
use crate::app::App;
use crate::server::watch::Seat;

/// Who sent a request, when that is known without a wait and who it is may.
pub(super) fn known_here(
    app: &App,
    seat: &Seat,
    access: Access,
    headers: &HeaderMap,
) -> Option<Caller> {
    let Access::Caller(scope) = access else {
        return None;
    };
    caller::known_here(app, seat, headers).filter(|caller| caller.scopes.allow(scope))
}

/// Who sent a request, or why it goes no further.
pub(super) async fn admit(
    app: &Arc<App>,
    seat: &Seat,
    access: Access,
    received: &Received,
) -> Result<Who, Denial> {
    match access {
        Access::Open => Ok(Who::Anybody),
        Access::Caller(scope) => {
            let visitor = session::visitor(app, access, received).await?;
            let caller = match visitor.and_then(|visitor| visitor.caller) {
                Some(caller) => {
                    received
                        .pass
                        .admit((&app.places, &app.rates), &caller.account_id)?;
                    caller
                }
                None => caller::known(app, seat, received).await?,
            };
            if !caller.scopes.allow(scope) {
                let message = format!("this call needs a key with the scope `{}`", scope.word());
                return Err(Refusal::new(Code::Forbidden, message).into());
            }
            Ok(Who::Caller(caller))
        }
        Access::Viewer => Ok(Who::Operator(operator(app, access, received).await?)),
        Access::Operator => {
            let operator = operator(app, access, received).await?;
            if operator.role != OperatorRole::Operator {
                let message = "a viewer looks and changes nothing; this call needs an operator";
                return Err(Refusal::new(Code::Forbidden, message).into());
            }
            Ok(Who::Operator(operator))
        }
    }
}

/// Refuses a request for a page that answers under the service's own names alone, when it came under another one and without
/// a credential of its own. A session is none: it comes along by itself.
pub(super) async fn admit_name(
    app: &Arc<App>,
    seat: &Seat,
    received: &Received,
) -> Result<(), Denial> {
    let (head, by_proxy) = (&received.head, received.from.by_proxy);
    let Err(foreign) = app.names.check(head, by_proxy, &app.origins) else {
        return Ok(());
    };
    let vouched = match received.who {
        _ if !caller::has_credential(&received.head.headers) => false,
        Who::Anybody => caller::is_vouched_for(app, seat, received).await?,
        Who::Caller(_) | Who::Operator(_) => true,
    };
    if vouched { Ok(()) } else { Err(foreign.into()) }
}

/// Whether who asks may see what is no stranger's business: from inside, or with a token that may look. Whoever may not is
/// answered all the same, with less.
pub(crate) async fn may_look(app: &Arc<App>, received: &Received) -> bool {
    if received.inside {
        return true;
    }
    let headers = &received.head.headers;
    if !caller::has_credential(headers) && session::word(headers).is_none() {
        return false;
    }
    // The page itself needs no place; looking somebody up does, here as everywhere.
    let place = received.pass.arrive(&app.places, Kind::Call, false);
    place.is_ok() && operator(app, Access::Viewer, received).await.is_ok()
}

/// The operator whose token or session a request carries.
async fn operator(app: &Arc<App>, access: Access, received: &Received) -> Result<Operator, Denial> {
    let visitor = session::visitor(app, access, received).await?;
    let operator = match visitor.and_then(|visitor| visitor.operator) {
        Some(operator) => operator,
        None => caller::operator(app, received).await?,
    };
    received.pass.admit_operator(&app.places, &operator.name)?;
    Ok(operator)
}
