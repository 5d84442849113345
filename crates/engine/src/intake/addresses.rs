//! The addresses a call names: those that can be judged without asking anybody outside are judged before it is accepted.

use atelier_backends::guard::Purpose;
use atelier_contract::fields::ImageData;
use atelier_contract::operation::Order;
use atelier_contract::{Code, Refusal};

use crate::admin::Caller;
use crate::assets::Assets;
use crate::context::Context;

const KEPT_ONLY: &str =
    "must be a data-URI or base64 of an image, or the URL of a file uploaded to /files/v1";

/// An address that something is to be read from.
struct InputUrl<'a> {
    field: &'a str,
    url: &'a str,
    kept_only: bool,
}

/// Refuses addresses that nothing may be fetched from or posted to, and files of other accounts.
pub(super) async fn check(
    context: &Context,
    assets: &Assets,
    caller: &Caller,
    order: &Order,
) -> Result<(), Refusal> {
    let policy = context.outbound().policy_for(caller.outside);
    let refuse = |field: &str, blocked: &dyn std::fmt::Display| {
        Err(Refusal::field(Code::AddressNotAllowed, field, blocked))
    };
    if let Some(hook) = &order.hook
        && let Err(blocked) = policy.check_url(hook.as_str(), Purpose::Callback)
    {
        return refuse(order.hook_field, &blocked);
    }
    for InputUrl {
        field,
        url,
        kept_only,
    } in input_urls(order)
    {
        match assets.own_asset(url) {
            Some(key) => {
                assets
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
fn input_urls(order: &Order) -> Vec<InputUrl<'_>> {
    let mut named = Vec::new();
    for source in order.brief.inputs() {
        if let ImageData::Url(url) = &source.image {
            named.push(InputUrl {
                field: &source.field,
                url: url.as_str(),
                kept_only: source.wanted.kept_only,
            });
        }
    }
    let video = order.brief.video.iter();
    for (field, url) in video.chain(&order.mentions) {
        named.push(InputUrl {
            field,
            url: url.as_str(),
            kept_only: false,
        });
    }
    named
}
