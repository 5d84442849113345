//! Every clock, queue, cache and semaphore of the program has a line in `docs/bounds.md` that says whose it is, what bounds it
//! and what one account may have of it. One without a line fails here, and so does a line without one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{root, visit};

/// Where something of the kind begins, as it is written in the sources.
struct Sign {
    kind: &'static str,
    text: &'static str,
    seen: Seen,
}

/// Where a sign counts.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    /// Wherever code is; one line for each file.
    File,
    /// Wherever code is; one line for each function or type.
    Item,
    /// In the fields of a type, in a static or in an alias: what only a function has goes with its call.
    Type,
}

const fn sign(kind: &'static str, text: &'static str, seen: Seen) -> Sign {
    Sign { kind, text, seen }
}

const SIGNS: &[Sign] = &[
    sign("clock", "SystemTime::now", Seen::File),
    sign("clock", "Instant::now", Seen::File),
    sign("clock", "Timestamp::now", Seen::File),
    sign("clock", "Zoned::now", Seen::File),
    sign("clock", "clock_gettime(", Seen::File),
    sign("clock", "clock_timestamp(", Seen::File),
    sign("clock", "statement_timestamp(", Seen::File),
    sign("clock", "transaction_timestamp(", Seen::File),
    sign("clock", "CURRENT_TIMESTAMP", Seen::File),
    sign("clock", "unixepoch(", Seen::File),
    sign("clock", "julianday(", Seen::File),
    sign("clock", "now()", Seen::File),
    sign("queue", "mpsc::channel", Seen::Item),
    sign("queue", "unbounded_channel", Seen::Item),
    sign("queue", "sync_channel", Seen::Item),
    sign("queue", "broadcast::channel", Seen::Item),
    sign("queue", "watch::channel", Seen::Item),
    sign("queue", "VecDeque<", Seen::Type),
    sign("queue", "BinaryHeap<", Seen::Type),
    sign("queue", "FuturesUnordered", Seen::Item),
    sign("queue", "JoinSet::new", Seen::Item),
    sign("queue", "TaskTracker::new", Seen::Item),
    sign("cache", "Cache::new", Seen::Item),
    sign("cache", "Cache::with_weighter", Seen::Item),
    sign("cache", "DashMap", Seen::Item),
    sign("cache", "thread_local!", Seen::Item),
    sign("cache", "Mutex<", Seen::Type),
    sign("cache", "RwLock<", Seen::Type),
    sign("semaphore", "Semaphore::new", Seen::Item),
    sign("semaphore", "Shares::fixed", Seen::Item),
    sign("semaphore", "Shares::elastic", Seen::Item),
    sign("semaphore", "Shares::new", Seen::Item),
    sign("semaphore", "Budget::new", Seen::Item),
    sign("semaphore", "Places::new", Seen::Item),
    sign("semaphore", "Reading::new", Seen::Item),
    sign("semaphore", "Threads::new", Seen::Item),
    sign("semaphore", "buffer_unordered(", Seen::Item),
    sign("semaphore", "buffered(", Seen::Item),
    sign("semaphore", "for_each_concurrent(", Seen::Item),
    sign("semaphore", "ThreadPoolBuilder::new", Seen::Item),
    sign("semaphore", "max_blocking_threads(", Seen::Item),
    sign("semaphore", "thread::Builder::new", Seen::Item),
    sign("semaphore", "thread::spawn", Seen::Item),
];

/// One thing that has to have its line, as `kind`, `file item sign`.
type Place = (&'static str, String);

/// The names by which a reader knows where it is: `fn take`, `struct State`.
const ITEMS: [&str; 7] = [
    "fn ", "struct ", "enum ", "static ", "type ", "impl ", "trait ",
];

/// What a line opens, if it opens an item.
fn opened(line: &str) -> Option<String> {
    let mut rest = line;
    loop {
        let bare = ["pub ", "async ", "const ", "unsafe ", "default "]
            .iter()
            .find_map(|word| rest.strip_prefix(word));
        let bare = bare.or_else(|| {
            let inside = rest.strip_prefix("pub(")?;
            inside.split_once(") ").map(|(_, after)| after)
        });
        match bare {
            Some(bare) => rest = bare,
            None => break,
        }
    }
    let rest = match rest.strip_prefix("impl<") {
        Some(_) => "impl ",
        None => rest,
    };
    let kind = ITEMS.iter().find(|kind| rest.starts_with(**kind))?;
    let name = &rest[kind.len()..];
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    Some(format!("{kind}{}", &name[..end.unwrap_or(name.len())]))
}

/// Whether the sign stands in the line as a name of its own.
fn stands(line: &str, sign: &str) -> bool {
    line.match_indices(sign).any(|(at, _)| {
        let before = &line[..at];
        let joined = |c: char| c.is_alphanumeric() || matches!(c, '_');
        let own = !before.ends_with(joined);
        // A method of that name is somebody's clock, and that one is listed; a definition is none.
        let bare = sign != "now()"
            || !(before.ends_with('.') || before.ends_with("::") || before.ends_with("fn "));
        // A borrowed one is somebody else's.
        own && bare && !(sign.ends_with('<') && before.ends_with('&'))
    })
}

/// The text before the tests that stand in the same file.
fn without_tests(text: &str) -> &str {
    let starts = text.match_indices("#[cfg(test)]\nmod ");
    let inline = |at: &usize| {
        let line = text[*at..].lines().nth(1);
        line.is_some_and(|line| line.ends_with('{'))
    };
    let at = starts.map(|(at, _)| at).find(inline);
    &text[..at.unwrap_or(text.len())]
}

/// What a file has of the kinds.
fn found(inside: &str, text: &str, all: &mut BTreeSet<Place>) {
    let code = without_tests(text);
    let mut item = String::new();
    for line in code.lines().map(str::trim) {
        if line.starts_with("//") || line.starts_with("--") || line.starts_with("use ") {
            continue;
        }
        if let Some(name) = opened(line) {
            item = name;
        }
        let is_type = ["struct ", "enum ", "static ", "type "]
            .iter()
            .any(|kind| item.starts_with(kind));
        for sign in SIGNS.iter().filter(|sign| stands(line, sign.text)) {
            let place = match sign.seen {
                Seen::File => format!("{inside} `{}`", sign.text),
                Seen::Type if !is_type => continue,
                Seen::Item | Seen::Type => format!("{inside} {item} `{}`", sign.text),
            };
            all.insert((sign.kind, place));
        }
    }
}

fn in_the_sources() -> BTreeSet<Place> {
    let mut all = BTreeSet::new();
    let crates = root().join("crates");
    let mut look = |path: &Path, text: &str| {
        let inside = path.strip_prefix(&crates).expect("below it");
        let inside = inside.display().to_string();
        let is_test = inside.contains("/tests/") || inside.ends_with("/tests.rs");
        if !is_test {
            found(&inside, text, &mut all);
        }
    };
    for entry in std::fs::read_dir(&crates).expect("a folder") {
        visit(&entry.expect("a crate").path().join("src"), &mut look);
    }
    let migrations = crates.join("store/migrations");
    for entry in std::fs::read_dir(migrations).expect("a folder") {
        let path = entry.expect("a migration").path();
        look(&path, &std::fs::read_to_string(&path).expect("text"));
    }
    all
}

/// The lines of the page: kind and place, with owner, bound and share.
fn on_the_page(page: &str) -> BTreeMap<(String, String), Vec<String>> {
    let mut lines = BTreeMap::new();
    let mut kind = String::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            kind = title.trim_end_matches('s').to_lowercase();
        }
        let Some(cells) = line.strip_prefix("| ") else {
            continue;
        };
        let cells: Vec<String> = cells
            .trim_end_matches('|')
            .split(" | ")
            .map(|cell| cell.trim().to_owned())
            .collect();
        if cells[0] == "place" {
            continue;
        }
        let before = lines.insert((kind.clone(), cells[0].clone()), cells[1..].to_vec());
        assert!(before.is_none(), "docs/bounds.md has {} twice", cells[0]);
    }
    lines
}

#[test]
fn every_clock_queue_cache_and_semaphore_is_listed_with_its_owner_bound_and_share() {
    let page = std::fs::read_to_string(root().join("docs/bounds.md")).unwrap_or_default();
    let listed = on_the_page(&page);
    let there = in_the_sources();
    let mut wrong = Vec::new();
    for (kind, place) in &there {
        if !listed.contains_key(&(kind.to_string(), place.clone())) {
            wrong.push(format!(
                "a {kind} that is not listed; add to docs/bounds.md, below \"{kind}s\", with who owns it, what bounds it and \
                 what one account may have of it:\n| {place} | owner | bound | share |"
            ));
        }
    }
    for ((kind, place), cells) in &listed {
        if !there.iter().any(|(k, p)| k == kind && p == place) {
            wrong.push(format!(
                "docs/bounds.md lists a {kind} that is gone or has moved; remove or move the line of {place}"
            ));
        } else if cells.len() != 3 || cells.iter().any(String::is_empty) {
            wrong.push(format!(
                "docs/bounds.md says too little of {place}: owner, bound and share are wanted"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(there.len() > 100, "{} places were found", there.len());
}

#[test]
fn a_new_one_is_seen_wherever_it_stands() {
    let code = "struct Kept {\n    lines: Mutex<HashMap<String, u8>>,\n}\nimpl Kept {\n    pub(crate) fn new() -> Self {\n        \
                let (a, b) = mpsc::unbounded_channel();\n        let since = tokio::time::Instant::now();\n    }\n}\n\
                #[cfg(test)]\nmod tests {\n    fn one() { Semaphore::new(1); }\n}\n";
    let mut all = BTreeSet::new();
    found("x.rs", code, &mut all);
    let all: Vec<String> = all.into_iter().map(|(_, place)| place).collect();
    assert_eq!(
        all,
        [
            "x.rs struct Kept `Mutex<`",
            "x.rs `Instant::now`",
            "x.rs fn new `unbounded_channel`"
        ]
    );
    assert!(stands("SELECT now()", "now()") && !stands("self.now()", "now()"));
}
