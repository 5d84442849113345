//! A trait has two implementations, or CONTRIBUTING.md names it among the exceptions.

use std::collections::{BTreeMap, BTreeSet};

use super::{root, visit};

/// The trait that a line defines, if it defines one.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub ");
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line,
    };
    let rest = line.strip_prefix("trait ")?;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}

/// The trait that a line implements, if it implements one; a macro does so for as many types as it is given.
fn implemented(line: &str) -> Option<(&str, usize)> {
    let at = line.find("impl").filter(|at| {
        let before = &line[..*at];
        before.trim().is_empty() || before.trim_end().ends_with("$(")
    })?;
    let (head, of) = line[at + 4..].split_once(" for ")?;
    let mut depth = 0;
    let open: String = head
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '<');
            let shown = depth == 0;
            depth -= i32::from(*c == '>');
            shown
        })
        .collect();
    let name = open.trim().rsplit("::").next()?.len();
    let name = open.trim().len() - name;
    let name = &open.trim()[name..];
    let start = head.find(name)?;
    let of_many = of.starts_with('$');
    Some((&head[start..start + name.len()], 1 + usize::from(of_many)))
}

/// The traits that a source defines, and how often it implements which.
fn read(text: &str, traits: &mut BTreeSet<String>, counts: &mut BTreeMap<String, usize>) {
    let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    for line in shipped.lines() {
        if let Some(name) = defined(line.trim_start()) {
            traits.insert(name.to_owned());
        } else if let Some((name, times)) = implemented(line) {
            *counts.entry(name.to_owned()).or_default() += times;
        }
    }
}

#[test]
fn a_trait_has_two_implementations_or_is_named_as_an_exception() {
    let (mut traits, mut counts) = (BTreeSet::new(), BTreeMap::new());
    for entry in std::fs::read_dir(root().join("crates")).expect("crates") {
        let source = entry.expect("an entry").path().join("src");
        if source.is_dir() {
            visit(&source, &mut |path, text| {
                if !path.ends_with("tests.rs") {
                    read(text, &mut traits, &mut counts);
                }
            });
        }
    }
    assert!(traits.len() > 10, "{traits:?}");
    let single = traits
        .iter()
        .filter(|name| counts.get(*name).is_none_or(|times| *times < 2));
    let single: BTreeSet<&str> = single.map(String::as_str).collect();
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the page");
    let begin = page.find("- A trait needs two").expect("the rule");
    let rule = page[begin..].split(". ").nth(1).expect("its exceptions");
    let named: BTreeSet<&str> = rule.split('`').skip(1).step_by(2).collect();
    assert_eq!(single, named);
}

#[test]
fn traits_and_implementations_are_seen() {
    let (mut traits, mut counts) = (BTreeSet::new(), BTreeMap::new());
    let text = "pub(crate) trait Queue {}\nimpl<T: Send> Queue for Vec<T> {}\nimpl crate::Pool<u8> for X {\n\
        \x20       $(impl Change for $input {\n#[cfg(test)]\nmod tests {\nimpl Queue for () {}\n}";
    read(text, &mut traits, &mut counts);
    assert_eq!(traits, BTreeSet::from(["Queue".to_owned()]));
    let counts: Vec<(&str, usize)> = counts.iter().map(|(of, n)| (of.as_str(), *n)).collect();
    assert_eq!(counts, [("Change", 2), ("Pool", 1), ("Queue", 1)]);
}
