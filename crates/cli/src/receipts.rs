//! Receipts are checked without the service: signatures, the chain of each account, and files by their hashes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use atelier_contract::receipts::{ReceiptKeys, ReceiptPayload, SignedReceipt, receipt_hash};
use ring::signature::{ED25519, UnparsedPublicKey};

/// A receipt whose signature is right.
#[derive(Debug)]
pub(crate) struct VerifiedReceipt {
    pub(crate) payload: ReceiptPayload,
    pub(crate) kid: String,
    /// The hash of its text.
    pub(crate) hash: String,
}

/// Checks the signature of a receipt; why it is not right.
pub(crate) fn verify(whole: &str, keys: &ReceiptKeys) -> Result<VerifiedReceipt, String> {
    let read = SignedReceipt::read(whole).ok_or("is not a signed receipt (compact JWS, EdDSA)")?;
    let kid = read.head.kid.clone();
    let key = keys.keys.iter().find(|key| key.kid == kid);
    let key =
        key.ok_or_else(|| format!("is signed by the key {kid}, which is not among the keys"))?;
    let public = key.public().unwrap_or_default();
    UnparsedPublicKey::new(&ED25519, public)
        .verify(read.signed.as_bytes(), &read.signature)
        .map_err(|_| "has a wrong signature: it was changed, or the key is another")?;
    let payload = read
        .payload()
        .ok_or("is signed, but of a form that this program does not know")?;
    if payload.v != 1 {
        return Err(format!(
            "is of version {}, which this program does not know",
            payload.v
        ));
    }
    Ok(VerifiedReceipt {
        hash: receipt_hash(&read.text),
        payload,
        kid,
    })
}

/// The receipts of one account in the order of their chain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReceiptChain {
    pub(crate) account: String,
    /// How many there are.
    pub(crate) receipts: usize,
    /// The jobs whose receipts follow from none of the others, beside the first of the chain.
    pub(crate) breaks: Vec<String>,
}

/// Follows the chain of each account. The same receipt may be there twice.
pub(crate) fn chains(receipts: &[VerifiedReceipt]) -> Vec<ReceiptChain> {
    let mut accounts: BTreeMap<&str, HashMap<&str, &VerifiedReceipt>> = BTreeMap::new();
    for receipt in receipts {
        let of_account = accounts.entry(&receipt.payload.account).or_default();
        of_account.insert(&receipt.hash, receipt);
    }
    let chain = |(account, known): (&str, HashMap<&str, &VerifiedReceipt>)| {
        let follows = |receipt: &&&VerifiedReceipt| {
            let previous = receipt.payload.previous.as_deref();
            previous.is_some_and(|previous| known.contains_key(previous))
        };
        let starts = known.values().filter(|receipt| !follows(receipt));
        let mut starts: Vec<&&VerifiedReceipt> = starts.collect();
        // By time: the first of them is where the chain begins, the others are where something is missing.
        starts.sort_by_key(|receipt| (&receipt.payload.time, &receipt.hash));
        let breaks = starts.iter().skip(1);
        ReceiptChain {
            account: account.to_owned(),
            receipts: known.len(),
            breaks: breaks.map(|receipt| receipt.payload.job.clone()).collect(),
        }
    };
    accounts.into_iter().map(chain).collect()
}

/// All hashes of files that receipts name.
pub(crate) fn hashes(receipts: &[VerifiedReceipt]) -> BTreeSet<&str> {
    let files = receipts.iter().flat_map(|receipt| &receipt.payload.files);
    files.map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use atelier_contract::Quota;
    use atelier_contract::receipts::ReceiptKey;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;

    fn signed(pair: &Ed25519KeyPair, job: &str, account: &str, previous: Option<&str>) -> String {
        let payload = ReceiptPayload {
            v: 1,
            job: job.into(),
            account: account.into(),
            operation: "artgen.imagine".into(),
            model: None,
            quota: Quota::from_thousandths(1),
            lines: Vec::new(),
            files: vec![format!("hash of {job}")],
            time: format!("2026-10-05T12:00:00.{job:0>3}Z"),
            previous: previous.map(str::to_owned),
        };
        let unsigned = SignedReceipt::unsigned("key", &payload.text());
        SignedReceipt::whole(&unsigned, pair.sign(unsigned.as_bytes()).as_ref())
    }

    #[test]
    fn a_changed_receipt_and_a_broken_chain_are_found() {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key");
        let keys = ReceiptKeys {
            keys: vec![ReceiptKey::new("key", pair.public_key().as_ref())],
        };
        let mut all = Vec::new();
        for job in ["1", "2", "3", "4"] {
            let previous = all.last().map(|one: &VerifiedReceipt| one.hash.clone());
            let whole = signed(&pair, job, "a", previous.as_deref());
            all.push(verify(&whole, &keys).expect("a receipt"));
        }
        let other = signed(&pair, "1", "b", Some("archived"));
        all.push(verify(&other, &keys).expect("a receipt"));
        let chain = |account: &str, receipts, breaks: &[&str]| ReceiptChain {
            account: account.into(),
            receipts,
            breaks: breaks.iter().map(|job| (*job).to_owned()).collect(),
        };
        assert_eq!(chains(&all), [chain("a", 4, &[]), chain("b", 1, &[])]);
        assert!(hashes(&all).contains("hash of 3"));
        all.remove(1);
        all.reverse();
        assert_eq!(chains(&all), [chain("a", 3, &["3"]), chain("b", 1, &[])]);

        let whole = signed(&pair, "1", "a", None);
        for place in 0..whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            // The last letter of a part may hold bits that say nothing; readers refuse those as well.
            assert!(verify(&changed, &keys).is_err(), "{place}");
        }
        let none = ReceiptKeys { keys: Vec::new() };
        assert!(verify(&whole, &none).expect_err("no key").contains("key"));
    }
}
