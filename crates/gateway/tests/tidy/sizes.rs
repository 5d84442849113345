//! How much a struct does: one that many functions hang on is cut by subject.

use std::collections::BTreeMap;

use super::{root, visit};

/// The most functions of one struct that others may call.
const MOST: usize = 29;

/// The struct whose functions a line opens: `impl Jobs<'_> {`. Functions of a trait are the trait's.
fn opened(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?.strip_suffix('{')?;
    if rest.contains(" for ") {
        return None;
    }
    let named = match rest.strip_prefix('<') {
        Some(generic) => generic.split_once("> ")?.1,
        None => rest.trim_start(),
    };
    named.split(['<', ' ']).next()
}

/// Whether a line begins a function that others may call.
fn is_callable(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("    pub") else {
        return false;
    };
    let rest = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(')').map_or("", |(_, rest)| rest),
        None => rest,
    };
    rest.strip_prefix(' ').is_some_and(|rest| {
        let rest = rest.trim_start_matches("const ");
        rest.trim_start_matches("async ").starts_with("fn ")
    })
}

/// Adds the functions of every struct of a source.
fn count(text: &str, counts: &mut BTreeMap<String, usize>) {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut of = None;
    for line in code.lines() {
        if line.starts_with("impl") {
            of = opened(line);
        } else if line.starts_with('}') {
            of = None;
        } else if let Some(of) = of.filter(|_| is_callable(line)) {
            *counts.entry(of.to_owned()).or_default() += 1;
        }
    }
}

#[test]
fn no_struct_has_more_functions_than_a_reader_can_keep_in_mind() {
    for crate_name in ["store", "engine"] {
        let mut counts = BTreeMap::new();
        let source = root().join("crates").join(crate_name).join("src");
        visit(&source, &mut |_, text| count(text, &mut counts));
        assert!(counts.len() > 30, "{crate_name}: {counts:?}");
        counts.retain(|_, functions| *functions > MOST);
        assert!(counts.is_empty(), "{crate_name}: {counts:?}");
    }
}

#[test]
fn functions_are_counted_over_files_and_blocks() {
    let mut counts = BTreeMap::new();
    count(
        "impl Jobs<'_> {\n    pub async fn find(self) {}\n    fn look(self) {}\n}\nimpl Store {\n    pub const fn a() {}\n}\n",
        &mut counts,
    );
    count(
        "impl<'a> Jobs<'a> {\n    pub(crate) fn list(self) {\n        pub_fn();\n    }\n    pub number: u8,\n}\n\
         impl Clone for Jobs<'_> {\n    pub fn clone() {}\n}\n#[cfg(test)]\nmod tests {\nimpl Jobs<'_> {\n    pub fn x() {}\n}\n}\n",
        &mut counts,
    );
    let counts: Vec<(&str, usize)> = counts.iter().map(|(of, n)| (of.as_str(), *n)).collect();
    assert_eq!(counts, [("Jobs", 2), ("Store", 1)]);
}
