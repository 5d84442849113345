//! Changed keys and changed addresses: none that was not given out is ever good.

use atelier_engine::key;
use atelier_engine::sign::AddressSigner;

use crate::chance::Inputs;

#[test]
fn no_changed_key_is_well_formed() {
    let given = [
        key::generate(),
        key::generate_operator(),
        key::generate_session(),
    ];
    let seeds = given.iter().map(|text| text.as_bytes().to_vec()).collect();
    for input in Inputs::new(
        "keys",
        1_500,
        seeds,
        &["at_", "op_", "se_", "\u{0}", "ü", " "],
    ) {
        let text = String::from_utf8_lossy(&input);
        let formed = [
            key::well_formed(&text),
            key::well_formed_operator(&text),
            key::well_formed_session(&text),
        ];
        assert!(formed.iter().filter(|yes| **yes).count() <= 1, "{text}");
        // A checksum of six characters is hit by chance once in 56 thousand millions.
        // It covers the secret and not the word before it: one of another kind with a secret that was given out is no key,
        // because what is stored is the hash of all of it.
        let same_secret = |one: &String| text.len() == one.len() && text[3..] == one[3..];
        assert!(
            !formed.contains(&true) || given.iter().any(same_secret),
            "{text}"
        );
        assert_eq!(key::hash(&text).len(), 64);
        let _ = key::display_prefix(&text);
    }
}

#[test]
fn no_changed_address_is_good() {
    let signer = AddressSigner::new(vec![("2".into(), [7; 32]), ("1".into(), [9; 32])]);
    let path = "out/2026/11/a job/1-0.png";
    let good = signer.sign(path, 2_000);
    let seeds = vec![
        good.as_bytes().to_vec(),
        signer.sign(path, 1_000).into_bytes(),
        signer.sign("out/other", 2_000).into_bytes(),
    ];
    let words = [
        "e=", "&k=", "&s=", "&e=2000", "&", "=", "+", "%26", "k=1", "2000",
    ];
    for input in Inputs::new("signed-addresses", 1_500, seeds, &words) {
        let query = String::from_utf8_lossy(&input);
        let _ = signer.knows(&query);
        if signer.verify(path, &query, 1_500).is_ok() {
            // What others append is none of our business; what we signed is there whole.
            let parts: Vec<&str> = query.split('&').collect();
            assert!(good.split('&').all(|part| parts.contains(&part)), "{query}");
        }
    }
}
