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
            let visitor = session::visitor(app, received).await?;
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
        Access::Viewer => Ok(Who::Operator(operator(app, received).await?)),
        Access::Operator => {
            let operator = operator(app, received).await?;
            if operator.role != OperatorRole::Operator {
                let message = "a viewer looks and changes nothing; this call needs an operator";
                return Err(Refusal::new(Code::Forbidden, message).into());
            }
            Ok(Who::Operator(operator))
        }
    }
}

/// The operator whose token or session a request carries.
async fn operator(app: &Arc<App>, received: &Received) -> Result<Operator, Denial> {
    let visitor = session::visitor(app, received).await?;
    let operator = match visitor.and_then(|visitor| visitor.operator) {
        Some(operator) => operator,
        None => caller::operator(app, received).await?,
    };
    received.pass.admit_operator(&app.places, &operator.name)?;
    Ok(operator)
}
