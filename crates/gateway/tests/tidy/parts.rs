//! The table of the engine's parts in ARCHITECTURE.md says who uses whom: its last column is made from the imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::root;

const BEGIN: &str = "<!-- parts: begin -->";
const END: &str = "<!-- parts: end -->";
/// What a part that uses no other has in its column.
const NONE: &str = "–";

/// The sources of a module, its tests left out.
fn sources(of: &Path, module: &str) -> Vec<PathBuf> {
    let mut found = vec![of.join(format!("{module}.rs"))];
    let mut folders = vec![of.join(module)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("tests.rs") {
                found.push(path);
            }
        }
    }
    found
}

/// The modules of its crate that a text names from the crate's root.
fn named(text: &str) -> BTreeSet<String> {
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    assert!(
        !shipped.contains("crate::{"),
        "one import a line, or this test does not see it"
    );
    let after = shipped.split("crate::").skip(1);
    let word = |rest: &str| {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    after.map(word).collect()
}

/// The rows of the table: part, what it does, what it uses.
fn rows(text: &str) -> Vec<[String; 3]> {
    let inside = text
        .split_once(BEGIN)
        .and_then(|(_, rest)| rest.split_once(END));
    let (inside, _) = inside.expect("the marks of the table");
    let cells = |line: &str| -> Option<[String; 3]> {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        cells.get(1..4)?.to_vec().try_into().ok()
    };
    inside
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .filter_map(cells)
        .collect()
}

/// One of the parts that use each other in a circle, if there is one: those that use nothing that is left are taken away until none is.
fn in_circle(mut uses: BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    loop {
        let free = uses
            .iter()
            .find(|(_, used)| !used.iter().any(|one| uses.contains_key(one)));
        match free.map(|(part, _)| part.clone()) {
            Some(part) => uses.remove(&part),
            None => return uses.into_keys().next(),
        };
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a wish of whoever runs the tests"
)]
fn the_table_of_the_engines_parts_says_who_uses_whom() {
    let page = root().join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let engine = root().join("crates/engine/src");
    let table = rows(&text);
    let parts: BTreeSet<String> = table.iter().map(|[part, ..]| part.clone()).collect();
    let mut uses = BTreeMap::new();
    let mut fresh = text.clone();
    for [part, does, shown] in &table {
        let mut used: BTreeSet<String> = BTreeSet::new();
        for file in sources(&engine, part) {
            used.extend(named(&std::fs::read_to_string(&file).expect("a source")));
        }
        used.retain(|one| one != part && parts.contains(one));
        let now = used.iter().cloned().collect::<Vec<_>>().join(", ");
        let now = if now.is_empty() { NONE.to_owned() } else { now };
        fresh = fresh.replace(
            &format!("| {part} | {does} | {shown} |"),
            &format!("| {part} | {does} | {now} |"),
        );
        uses.insert(part.clone(), used);
    }
    if std::env::var("ATELIER_TEST_UPDATE").is_ok() {
        std::fs::write(&page, &fresh).expect("written");
    } else {
        assert_eq!(
            fresh, text,
            "ARCHITECTURE.md is stale; run the test with ATELIER_TEST_UPDATE=1"
        );
    }
    assert_eq!(in_circle(uses), None, "parts use each other");
    // Every module is a part or stands among the small ones.
    let listed = std::fs::read_to_string(engine.join("lib.rs")).expect("the root");
    let module = |line: &str| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?
            .strip_suffix(';')
            .map(str::to_owned)
    };
    for one in listed.lines().filter_map(module) {
        assert!(
            parts.contains(&one) || text.contains(&format!("`{one}`")),
            "{one} is neither in the table nor named below it"
        );
    }
}

#[test]
fn a_circle_and_an_import_are_seen() {
    let used = |parts: &[&str]| {
        parts
            .iter()
            .map(|one| (*one).to_owned())
            .collect::<BTreeSet<_>>()
    };
    let chain = BTreeMap::from([("a".to_owned(), used(&["b"])), ("b".to_owned(), used(&[]))]);
    assert_eq!(in_circle(chain.clone()), None);
    let mut circle = chain;
    circle.insert("b".to_owned(), used(&["a"]));
    assert_eq!(in_circle(circle).as_deref(), Some("a"));
    let text = "use crate::context::Context;\nlet x = crate::ids::new();\n#[cfg(test)]\nuse crate::runner::Runner;";
    assert_eq!(named(text), used(&["context", "ids"]));
}
