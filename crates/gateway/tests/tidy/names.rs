//! Names of types: each means one thing within its crate, hides nothing of the prelude and is a noun.

use std::collections::BTreeMap;
use std::path::Path;

use super::root;

/// What every file sees without an import. `Result` is every crate's own alias of it.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Send",
    "Sized",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// Words that say nothing by themselves: participles, pronouns, adverbs and what could be anything.
const NEVER_ALONE: &[&str] = &[
    "Accepted",
    "Again",
    "Ahead",
    "Arranged",
    "Asked",
    "Batched",
    "Began",
    "Begun",
    "Believed",
    "Between",
    "Blocked",
    "Born",
    "Brought",
    "Called",
    "Changed",
    "Chosen",
    "Composed",
    "Continued",
    "Counted",
    "Credited",
    "Damaged",
    "Declared",
    "Deleted",
    "Described",
    "Does",
    "Drawn",
    "Due",
    "Earlier",
    "Finished",
    "Followed",
    "Found",
    "Given",
    "Gives",
    "Gone",
    "Granted",
    "Guarded",
    "Handed",
    "Hashed",
    "Heard",
    "Held",
    "Here",
    "It",
    "Kept",
    "Known",
    "Last",
    "Lately",
    "Later",
    "Leased",
    "Led",
    "Left",
    "Lent",
    "Listed",
    "Looked",
    "Made",
    "Makes",
    "Misc",
    "Most",
    "Moved",
    "Named",
    "Next",
    "Noted",
    "Old",
    "Ordered",
    "Other",
    "Out",
    "Outlined",
    "Owed",
    "Own",
    "Owned",
    "Painted",
    "Placed",
    "Posted",
    "Prepared",
    "Read",
    "Ready",
    "Received",
    "Referred",
    "Refused",
    "Regarded",
    "Remembered",
    "Removed",
    "Rendered",
    "Repeated",
    "Reserved",
    "Said",
    "Sealed",
    "Seen",
    "Sending",
    "Sent",
    "Served",
    "Settled",
    "Shown",
    "Single",
    "Something",
    "Spent",
    "Spoken",
    "Started",
    "Stepped",
    "Stored",
    "Submitted",
    "Swapped",
    "Taken",
    "Takes",
    "Thing",
    "Told",
    "Underway",
    "Untaken",
    "Utils",
    "Waited",
    "Waiting",
    "Wanted",
    "Watched",
    "What",
    "Who",
    "Whose",
    "Why",
    "Wished",
    "Written",
    "Wrong",
    "Yours",
];

/// A painter has things, and a painting's words are not this service's.
const PAINTER: &str = "studio";

/// The type that a line of a file defines outside everything else, if it defines one.
fn defined(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

/// Every type that the sources of a crate define, with the files that do.
fn types(sources: &Path) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut folders = vec![sources.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                let file = path.strip_prefix(sources).expect("below it");
                for name in text.lines().filter_map(defined) {
                    let files = found.entry(name.to_owned()).or_default();
                    files.push(file.display().to_string());
                }
            }
        }
    }
    found
}

/// The names of a crate that are several types, a line each.
fn repeated(of: &str, types: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let several = types.iter().filter(|(_, files)| files.len() > 1);
    several
        .map(|(name, files)| format!("{of}: {name} is several types: {}", files.join(", ")))
        .collect()
}

/// What is wrong with each name by itself, a line each.
fn complaints(of: &str, types: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, files) in types {
        let files_said = files.join(", ");
        if PRELUDE.contains(&name.as_str()) {
            wrong.push(format!("{of}: {name} hides the prelude's: {files_said}"));
        }
        if of != PAINTER && NEVER_ALONE.contains(&name.as_str()) {
            wrong.push(format!(
                "{of}: {name} does not say what it is: {files_said}"
            ));
        }
    }
    wrong
}

#[test]
fn a_type_has_a_name_of_its_own_that_says_what_it_is() {
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).expect("crates") {
        let path = entry.expect("an entry").path();
        if path.join("src").is_dir() {
            let of = path.file_name().expect("a name").to_string_lossy();
            let own = types(&path.join("src"));
            wrong.extend(repeated(&of, &own));
            wrong.extend(complaints(&of, &own));
            // Each file of tests may be a crate of its own.
            if path.join("tests").is_dir() {
                let tests = format!("{of}/tests");
                wrong.extend(complaints(&tests, &types(&path.join("tests"))));
            }
        }
    }
    wrong.extend(complaints("bench", &types(&root().join("bench/src"))));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_bad_name_is_seen() {
    let lines = [
        "pub(crate) enum Told {",
        "pub struct From;",
        "struct Job<'a> {",
        "    struct Inner;",
        "let type_ = 1;",
    ];
    let found: Vec<&str> = lines.iter().filter_map(|line| defined(line)).collect();
    assert_eq!(found, ["Told", "From", "Job"]);
    let twice = vec!["a.rs".to_owned(), "b.rs".to_owned()];
    let types = BTreeMap::from([
        ("Told".to_owned(), vec!["a.rs".to_owned()]),
        ("From".to_owned(), vec!["a.rs".to_owned()]),
        ("Job".to_owned(), twice),
    ]);
    assert_eq!(complaints("engine", &types).len(), 2);
    assert_eq!(repeated("engine", &types).len(), 1);
}
