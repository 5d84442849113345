//! What a signed file says, read again by the library of the standard, with its defaults.

use std::io::Cursor;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use atelier_media::credentials::{
    Act, Chain, CredentialsError, Ingredient, Relation, Signatory, Statement, carries_manifest,
    own_chain,
};
use atelier_media::{Encoding, Picture, encode};
use c2pa::validation_results::ValidationState;
use c2pa::{Context, Reader};
use serde_json::Value;

/// A time that is over whenever this runs.
const BEFORE_S: i64 = 1_760_000_000;
const YEAR_S: i64 = 365 * 24 * 3600;
/// So long is a chain of the service's own good for.
const GOOD_FOR_S: i64 = 10 * YEAR_S;
const GENERATED: &str = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";

fn chain() -> Chain {
    own_chain("Atelier", BEFORE_S).expect("a chain")
}

fn statement(act: Act) -> Statement<'static> {
    Statement {
        program: ("Atelier", "0.1.0"),
        model: "v7",
        when: "2026-09-21T13:33:20Z",
        act,
        composite: false,
    }
}

fn picture(encoding: Encoding) -> Vec<u8> {
    encode(&Picture::filled(64, 48, [200, 80, 10, 255]), encoding, None)
}

fn read(file: &[u8], media_type: &str) -> Value {
    let reader = Reader::from_context(Context::new()).with_stream(media_type, Cursor::new(file));
    let reader = reader.expect("a manifest");
    // Nobody trusts a certificate that we made ourselves; everything else must hold.
    assert_eq!(
        reader.validation_state(),
        ValidationState::Valid,
        "{reader}"
    );
    let whole: Value = serde_json::from_str(&reader.json()).expect("JSON");
    let active = whole["active_manifest"].as_str().expect("a label");
    whole["manifests"][active].clone()
}

fn actions(manifest: &Value) -> &Vec<Value> {
    let assertions = manifest["assertions"].as_array().expect("a list");
    let found = assertions
        .iter()
        .find(|one| one["label"] == "c2pa.actions.v2");
    found.expect("actions")["data"]["actions"]
        .as_array()
        .expect("a list")
}

#[test]
fn pictures_say_that_they_are_generated_by_which_model_and_when() {
    let signatory = Signatory::new(&chain()).expect("it can sign");
    assert!(
        signatory.subject().contains("Atelier media signing"),
        "{}",
        signatory.subject()
    );
    for (encoding, media_type) in [
        (Encoding::Png, "image/png"),
        (Encoding::Jpeg { quality: 90 }, "image/jpeg"),
        (Encoding::Webp { quality: Some(90) }, "image/webp"),
        (Encoding::Webp { quality: None }, "image/webp"),
    ] {
        let plain = picture(encoding);
        assert!(!carries_manifest(&plain));
        let signed = signatory.sign(&plain, media_type, &statement(Act::Created), &[]);
        let signed = signed.expect("signed");
        assert!(carries_manifest(&signed), "{media_type}");
        let manifest = read(&signed, media_type);
        assert_eq!(manifest["claim_generator_info"][0]["name"], "Atelier");
        let actions = actions(&manifest);
        assert_eq!(actions.len(), 1);
        assert_eq!(actions[0]["action"], "c2pa.created");
        assert_eq!(actions[0]["digitalSourceType"], GENERATED);
        assert_eq!(actions[0]["softwareAgent"]["name"], "Atelier");
        assert_eq!(actions[0]["when"], "2026-09-21T13:33:20Z");
        assert_eq!(actions[0]["parameters"]["atelier.model"], "v7");
    }
}

#[test]
fn the_pixels_stay_as_they_were() {
    let signatory = Signatory::new(&chain()).expect("it can sign");
    let plain = picture(Encoding::Png);
    let signed = signatory.sign(&plain, "image/png", &statement(Act::Created), &[]);
    let limits = atelier_media::Limits {
        max_pixels: 1 << 20,
        max_side: 4096,
    };
    let read = |file: &[u8]| atelier_media::decode(file, limits).expect("a picture");
    let (before, after) = (read(&plain), read(&signed.expect("signed")));
    assert_eq!((before.width, before.height), (after.width, after.height));
    assert_eq!(before.pixel(3, 3), after.pixel(3, 3));
}

#[test]
fn a_manifest_that_was_there_is_kept_as_an_ingredient() {
    let vendor = Signatory::new(&chain()).expect("it can sign");
    let ours = Signatory::new(&chain()).expect("it can sign");
    let theirs = Statement {
        program: ("Vendor", "9"),
        ..statement(Act::Created)
    };
    let made = vendor.sign(&picture(Encoding::Png), "image/png", &theirs, &[]);
    let made = made.expect("signed");
    let parent = Ingredient {
        title: "made by the back end",
        relation: Relation::Parent,
        file: Some(&made),
    };
    let input = Ingredient {
        title: "input",
        relation: Relation::Input,
        file: None,
    };
    // Written anew in another format, and passed on as it is.
    let jpeg = picture(Encoding::Jpeg { quality: 90 });
    for (file, media_type, act, word) in [
        (&jpeg, "image/jpeg", Act::Transcoded, "c2pa.transcoded"),
        (&made, "image/png", Act::Repackaged, "c2pa.repackaged"),
    ] {
        let signed = ours.sign(file, media_type, &statement(act), &[parent, input]);
        let manifest = read(&signed.expect("signed"), media_type);
        let ingredients = manifest["ingredients"].as_array().expect("a list");
        assert_eq!(ingredients.len(), 2);
        assert_eq!(ingredients[0]["relationship"], "parentOf");
        assert!(
            ingredients[0]["active_manifest"].is_string(),
            "{ingredients:?}"
        );
        assert_eq!(ingredients[1]["relationship"], "inputTo");
        let actions = actions(&manifest);
        assert_eq!(actions[0]["action"], "c2pa.opened");
        assert_eq!(actions[1]["action"], word);
        assert_eq!(actions[1]["digitalSourceType"], GENERATED);
    }
}

#[test]
fn an_ingredient_that_cannot_be_read_is_only_named() {
    let ours = Signatory::new(&chain()).expect("it can sign");
    let damaged = Ingredient {
        title: "image",
        relation: Relation::Parent,
        file: Some(b"\x89PNG\r\n\x1a\n and then nothing"),
    };
    let png = picture(Encoding::Png);
    let edited = Statement {
        composite: true,
        ..statement(Act::Edited)
    };
    let signed = ours
        .sign(&png, "image/png", &edited, &[damaged])
        .expect("signed");
    let manifest = read(&signed, "image/png");
    assert_eq!(manifest["ingredients"][0]["title"], "image");
    assert_eq!(actions(&manifest)[1]["action"], "c2pa.edited");
}

#[test]
fn a_key_of_another_certificate_is_refused_before_it_signs_anything() {
    let wrong = Chain {
        key: chain().key,
        ..chain()
    };
    let error = Signatory::new(&wrong).expect_err("refused");
    assert!(matches!(error, CredentialsError::Unusable(_)), "{error}");
    let words = Chain {
        certificates: "no certificate".into(),
        key: "no key".into(),
    };
    assert!(Signatory::new(&words).is_err());
}

#[test]
fn a_certificate_whose_time_is_over_or_has_not_come_is_refused_and_that_is_said() {
    for begins_s in [BEFORE_S - 20 * YEAR_S, BEFORE_S + 100 * YEAR_S] {
        let chain = own_chain("Atelier", begins_s).expect("a chain");
        let error = Signatory::new(&chain).expect_err("refused");
        assert!(matches!(error, CredentialsError::Unusable(_)), "{error}");
        assert!(
            error.to_string().contains("not valid at time of signing"),
            "{error}"
        );
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "certificates are judged by the machine's clock"
)]
fn a_certificate_whose_time_ends_later_signs_nothing_any_more() {
    // A machine may be so busy that the time is over before it was tried out.
    for seconds in [2, 8, 32] {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.expect("after 1970").as_secs() as i64;
        let chain = own_chain("Atelier", now + seconds - GOOD_FOR_S).expect("a chain");
        let Ok(signatory) = Signatory::new(&chain) else {
            continue;
        };
        std::thread::sleep(Duration::from_secs(seconds as u64 + 1));
        let png = picture(Encoding::Png);
        let unsigned = signatory.sign(&png, "image/png", &statement(Act::Created), &[]);
        let error = unsigned.expect_err("its time is over");
        assert!(matches!(error, CredentialsError::Unsigned(_)), "{error}");
        return;
    }
    panic!("it was never good");
}

#[test]
fn a_file_that_is_none_is_an_error_and_no_panic() {
    let ours = Signatory::new(&chain()).expect("it can sign");
    let unsigned = ours.sign(b"no picture", "image/png", &statement(Act::Created), &[]);
    assert!(matches!(unsigned, Err(CredentialsError::Unsigned(_))));
}
