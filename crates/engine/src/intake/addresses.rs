//! The addresses a call names: those that can be judged without asking anybody outside are judged before it is accepted.

use atelier_backends::guard::Purpose;
use atelier_contract::fields::ImageData;
use atelier_contract::operation::Order;
use atelier_contract::{Code, Refusal};

use crate::house::House;
use crate::office::Caller;
use crate::vault::Vault;

const KEPT_ONLY: &str =
    "must be a data-URI or base64 of an image, or the address of a file uploaded to /files/v1";

/// An address that something is to be read from.
struct Named<'a> {
    field: &'a str,
    url: &'a str,
    kept_only: bool,
}

/// Refuses addresses that nothing may be fetched from or posted to, and files of other accounts.
pub(super) async fn check(
    house: &House,
    vault: &Vault,
    caller: &Caller,
    order: &Order,
) -> Result<(), Refusal> {
    let policy = house.outbound.policy_for(caller.outside);
    let refuse = |field: &str, blocked: &dyn std::fmt::Display| {
        Err(Refusal::field(Code::AddressNotAllowed, field, blocked))
    };
    if let Some(hook) = &order.hook
        && let Err(blocked) = policy.check_url(hook.as_str(), Purpose::Callback)
    {
        return refuse(order.hook_field, &blocked);
    }
    for Named {
        field,
        url,
        kept_only,
    } in named(order)
    {
        match vault.own_asset(url) {
            Some(key) => {
                vault
                    .uploads()
                    .admit(&caller.account_id, field, &key)
                    .await?;
            }
            None if kept_only => return Err(Refusal::invalid(field, KEPT_ONLY)),
            None => {
                if let Err(blocked) = policy.check_url(url, Purpose::Image) {
                    return refuse(field, &blocked);
                }
            }
        }
    }
    Ok(())
}

/// Every address that something is to be read from.
fn named(order: &Order) -> Vec<Named<'_>> {
    let mut named = Vec::new();
    for source in order.brief.inputs() {
        if let ImageData::Url(url) = &source.image {
            named.push(Named {
                field: &source.field,
                url: url.as_str(),
                kept_only: source.wanted.kept_only,
            });
        }
    }
    let video = order.brief.video.iter();
    for (field, url) in video.chain(&order.mentions) {
        named.push(Named {
            field,
            url: url.as_str(),
            kept_only: false,
        });
    }
    named
}
