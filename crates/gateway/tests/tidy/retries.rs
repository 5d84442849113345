//! The tests that may need a second try are listed by name, with a reason and a date.

use std::collections::BTreeSet;

use super::{root, visit};

/// A part of the list: tests of one binary that share a reason.
struct Entry {
    since: String,
    binary: String,
    tests: Vec<String>,
}

fn config() -> String {
    std::fs::read_to_string(root().join(".config/nextest.toml")).expect("a configuration")
}

/// What stands between two texts.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// The entries that repeat tests, each with the comment that belongs to it.
fn entries(text: &str) -> Vec<Entry> {
    let parts: Vec<&str> = text.split("[[profile.default.overrides]]\n").collect();
    let pairs = parts.windows(2).map(|pair| (pair[0], pair[1]));
    let listed = pairs.filter(|(_, entry)| {
        let own = entry.split("\n\n").next().unwrap_or_default();
        own.contains("retries")
    });
    let read = |(before, entry): (&str, &str)| {
        let comment = before.lines().next_back().unwrap_or_default();
        let said = comment
            .strip_prefix("# since ")
            .and_then(|said| said.split_once(": "));
        let (since, reason) = said.unwrap_or_else(|| panic!("no date and reason: {entry}"));
        assert!(reason.len() > 10, "no reason: {entry}");
        assert!(entry.contains("\nretries = 1\n"), "one second try: {entry}");
        let filter = between(entry, "\"\"\"\n", "\"\"\"").unwrap_or_else(|| panic!("{entry}"));
        let binary = between(filter, "binary(", ")").unwrap_or_else(|| panic!("{entry}"));
        let tests = filter.split("test(=").skip(1);
        let tests: Vec<String> = tests
            .map(|test| test.split(')').next().unwrap_or_default().to_owned())
            .collect();
        // Nothing but names: no pattern takes a test along that nobody thought of.
        assert_eq!(filter.matches("test(").count(), tests.len(), "{entry}");
        assert!(
            !tests.is_empty() && !filter.contains(" and test("),
            "{entry}"
        );
        Entry {
            since: since.to_owned(),
            binary: binary.to_owned(),
            tests,
        }
    };
    listed.map(read).collect()
}

#[test]
fn every_test_that_may_be_repeated_is_named_with_a_reason_and_a_date() {
    let text = config();
    let parsed: toml::Table = text.parse().expect("TOML");
    let profile = &parsed["profile"]["default"];
    assert_eq!(profile["retries"].as_integer(), Some(0));
    let all = profile["overrides"].as_array().expect("overrides");
    let repeated = all.iter().filter(|one| one.get("retries").is_some());
    let entries = entries(&text);
    assert_eq!(entries.len(), repeated.count(), "each in the same form");
    for Entry { since, .. } in &entries {
        let digits = |at: std::ops::Range<usize>| {
            let part = since.get(at).unwrap_or_default();
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_date = since.len() == 10 && digits(0..4) && digits(5..7) && digits(8..10);
        assert!(is_date, "{since}");
    }
}

#[test]
fn every_test_that_may_be_repeated_is_there() {
    let entries = entries(&config());
    let names = entries.iter().flat_map(|entry| {
        let named = |test: &String| format!("{} {test}", entry.binary);
        entry.tests.iter().map(named)
    });
    let names: Vec<String> = names.collect();
    let once: BTreeSet<&String> = names.iter().collect();
    assert_eq!(once.len(), names.len(), "each is listed once");
    let mut missing = once;
    visit(&root().join("crates"), &mut |path, text| {
        let path = path.display().to_string();
        missing.retain(|name| {
            let (binary, test) = name.split_once(' ').expect("two words");
            let (modules, function) = test.rsplit_once("::").unwrap_or(("", test));
            let file = modules.split("::").next().unwrap_or_default();
            let place = if file.is_empty() || ["s3", "folder"].contains(&file) {
                format!("/tests/{binary}.rs")
            } else {
                format!("/tests/{binary}/{file}.rs")
            };
            !(path.ends_with(&place) && text.contains(&format!("fn {function}(")))
        });
    });
    assert!(missing.is_empty(), "{missing:#?}");
}

/// What an ignored test needs, and the modules by which `scripts/test` and `scripts/proofs` choose it.
const NEEDS: &[(&str, &[&str])] = &[
    ("needs PostgreSQL", &["postgres"]),
    ("needs an S3 server", &["s3", "on_s3"]),
    ("needs ffmpeg", &["ffmpeg"]),
    ("takes long", &["proofs"]),
    ("run by another test", &["child"]),
    (
        "needs programs of others",
        &["clients", "litellm", "comfyui_real", "cog_real"],
    ),
];

#[test]
fn every_ignored_test_is_in_a_module_that_says_what_it_needs() {
    let mut seen = 0;
    for folder in ["crates", "tests/shared"] {
        visit(&root().join(folder), &mut |path, text| {
            if path.ends_with("tests/tidy/retries.rs") {
                return;
            }
            let file = path.file_stem().unwrap_or_default().to_string_lossy();
            for (at, _) in text.match_indices("#[ignore") {
                let reason = between(&text[at..], "#[ignore = \"", "\"]").unwrap_or_default();
                let (_, modules) = NEEDS
                    .iter()
                    .find(|(needs, _)| *needs == reason)
                    .unwrap_or_else(|| panic!("{}: {reason:?}", path.display()));
                let before = text[..at].lines().rev().map(str::trim);
                let mut opened = before.filter_map(|line| between(line, "mod ", " {"));
                let module = opened.next().unwrap_or(&file);
                assert!(modules.contains(&module), "{}: {module}", path.display());
                seen += 1;
            }
        });
    }
    assert!(seen >= 15, "{seen}");
}
