//! Where browsers are sent back to: this service and origins that the operator allows, so that no one is led elsewhere by a
//! provider's page that people trust.

use atelier_contract::Refusal;
use url::{Origin, Url};

/// The address that a caller named, or the console.
pub(super) fn checked(
    given: Option<&str>,
    base_url: &str,
    own: &[String],
    allowed: &[String],
) -> Result<String, Refusal> {
    let base = format!("{}/", base_url.trim_end_matches('/'));
    let Some(given) = given else {
        return Ok(format!("{base}console/"));
    };
    let wrong = || {
        let message =
            "must be a path of this service or an address of an origin that the operator allows";
        Refusal::invalid("returnUrl", message)
    };
    // What browsers leave out of an address could hide where it leads to.
    if given.chars().any(|c| c.is_control() || c == '\\') {
        return Err(wrong());
    }
    let base = Url::parse(&base).map_err(|_| wrong())?;
    let url = base.join(given).map_err(|_| wrong())?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none();
    let origins = own.iter().chain(allowed).filter_map(|text| origin(text));
    let is_known = origins
        .chain([base.origin()])
        .any(|origin| origin == url.origin());
    if is_plain && is_known {
        Ok(url.into())
    } else {
        Err(wrong())
    }
}

fn origin(text: &str) -> Option<Origin> {
    Url::parse(text)
        .ok()
        .map(|url| url.origin())
        .filter(Origin::is_tuple)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_elsewhere() {
        let allowed = ["https://shop.example.com".to_owned()];
        let own = ["https://cdn.example.com".to_owned(), String::new()];
        let check = |given| checked(given, "https://media.example.com", &own, &allowed);
        for (given, leads) in [
            (None, "https://media.example.com/console/"),
            (
                Some("/console/paid?x=1"),
                "https://media.example.com/console/paid?x=1",
            ),
            (
                Some("https://media.example.com/a"),
                "https://media.example.com/a",
            ),
            (
                Some("https://cdn.example.com/a"),
                "https://cdn.example.com/a",
            ),
            (
                Some("https://shop.example.com/thanks"),
                "https://shop.example.com/thanks",
            ),
        ] {
            assert_eq!(check(given).as_deref(), Ok(leads), "{given:?}");
        }
        for given in [
            "//evil.example.com",
            "/\\evil.example.com",
            "\\\\evil.example.com",
            "https://evil.example.com",
            "http://shop.example.com",
            "https://shop.example.com:8443/",
            "https://shop.example.com@evil.example.com/",
            "https://evil@shop.example.com/",
            "https://shop.example.com.evil.example.com/",
            "javascript:alert(1)",
            "data:text/html,x",
            "/\t/evil.example.com",
            "http:evil.example.com",
        ] {
            assert!(check(Some(given)).is_err(), "{given}");
        }
    }
}
