//! The addresses a call names: those that can be judged without asking anybody are judged before it is accepted.

use atelier_backends::guard::Purpose;
use atelier_contract::fields::ImageData;
use atelier_contract::operation::Order;
use atelier_contract::{Code, Refusal};

use crate::house::House;
use crate::vault::Vault;

/// Refuses addresses that nothing may be fetched from or posted to.
pub(super) fn check(house: &House, vault: &Vault, order: &Order) -> Result<(), Refusal> {
    let policy = house.outbound.policy();
    let refuse = |field: &str, blocked: &dyn std::fmt::Display| {
        Err(Refusal::field(Code::AddressNotAllowed, field, blocked))
    };
    if let Some(hook) = &order.hook
        && let Err(blocked) = policy.check_url(hook.as_str(), Purpose::Callback)
    {
        return refuse(order.hook_field, &blocked);
    }
    let pictures = order
        .brief
        .inputs()
        .filter_map(|source| match &source.image {
            ImageData::Url(url) => Some((source.field.as_str(), url.as_str())),
            ImageData::Inline(_) => None,
        });
    let video = order.brief.video.as_ref();
    let video = video.map(|(field, url)| (field.as_str(), url.as_str()));
    let mentions = order.mentions.iter();
    let mentions = mentions.map(|(field, url)| (field.as_str(), url.as_str()));
    for (field, url) in pictures.chain(video).chain(mentions) {
        if vault.own_asset(url).is_none()
            && let Err(blocked) = policy.check_url(url, Purpose::Image)
        {
            return refuse(field, &blocked);
        }
    }
    Ok(())
}
