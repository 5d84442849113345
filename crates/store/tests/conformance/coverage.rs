//! Every public function of the store and of its groups (`store.jobs()`, …) is called by this suite.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn sources(folder: &Path, out: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push(fs::read_to_string(path).expect("a source"));
        }
    }
}

/// The groups by their types: `Jobs` is had by `jobs`.
fn groups(code: &[String]) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for line in code.iter().flat_map(|text| text.lines()) {
        if let Some(rest) = line.strip_prefix("    pub fn ")
            && let Some(rest) = rest.strip_suffix("<'_> {").or(rest.strip_suffix("<'a> {"))
            && let Some((group, of)) = rest.split_once("self) -> ")
            && let Some(group) = group.strip_suffix("(&").or(group.strip_suffix('('))
        {
            found.insert(of, group);
        }
    }
    found
}

/// How the public asynchronous functions of the store and of its groups are called.
fn calls(text: &str, groups: &BTreeMap<&str, &str>) -> Vec<Vec<String>> {
    let mut receiver = None;
    let mut calls = Vec::new();
    for line in text.lines() {
        if line == "impl Store {" {
            receiver = Some(String::new());
        } else if let Some(name) = line.strip_prefix("impl ")
            && let Some(group) = name.strip_suffix("<'_> {")
        {
            receiver = groups.get(group).map(|group| format!(".{group}()"));
        } else if line == "}" {
            receiver = None;
        }
        if let Some(receiver) = &receiver
            && let Some(rest) = line.strip_prefix("    pub async fn ")
            && let Some(name) = rest.split(['(', '<']).next()
        {
            let mut ways = vec![format!("{receiver}.{name}(")];
            if receiver.is_empty() {
                ways.push(format!("Store::{name}("));
            }
            calls.push(ways);
        }
    }
    calls
}

#[test]
fn every_public_function_is_called() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut code, mut cases) = (Vec::new(), Vec::new());
    sources(&root.join("src"), &mut code);
    sources(&root.join("tests/conformance"), &mut cases);
    let cases: String = cases.join("\n").split_whitespace().collect();
    let groups = groups(&code);
    assert!(
        groups.len() > 10,
        "only these groups were found: {groups:?}"
    );
    let calls: Vec<Vec<String>> = code.iter().flat_map(|text| calls(text, &groups)).collect();
    assert!(
        calls.len() > 130,
        "only {} functions were found",
        calls.len()
    );
    let missing: Vec<&Vec<String>> = calls
        .iter()
        .filter(|ways| !ways.iter().any(|call| cases.contains(call)))
        .collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
}
