//! Every clock, queue, cache and semaphore of the program has a line in `docs/bounds.md` that says whose it is, what bounds it
//! and what one account may have of it. One without a line fails here, and so does a line without one, or with another number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{root, visit};

/// Where something of the kind begins, as it is written in the sources.
struct Sign {
    kind: &'static str,
    text: &'static str,
    seen: Scope,
}

/// Where a sign counts, and once per what.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// Wherever code is; one line for each file.
    File,
    /// Wherever code is; one line for each function or type.
    Item,
    /// In the fields of a type, in a static or in an alias: what only a function has goes with its call.
    Type,
    /// Where a function makes one of its own: one that is made for a field goes with the type.
    Made,
    /// As `File`, in whatever case it is written.
    Sql,
}

const fn sign(kind: &'static str, text: &'static str, seen: Scope) -> Sign {
    Sign { kind, text, seen }
}

/// A clock of a database, in lower case.
const fn sql(text: &'static str) -> Sign {
    sign("clock", text, Scope::Sql)
}

const SIGNS: &[Sign] = &[
    sign("clock", "SystemTime::now", Scope::File),
    sign("clock", "Instant::now", Scope::File),
    sign("clock", "Timestamp::now", Scope::File),
    sign("clock", "Zoned::now", Scope::File),
    sign("clock", "clock_gettime(", Scope::File),
    sql("clock_timestamp("),
    sql("statement_timestamp("),
    sql("transaction_timestamp("),
    sql("timeofday("),
    sql("current_timestamp"),
    sql("current_time"),
    sql("current_date"),
    sql("localtimestamp"),
    sql("localtime"),
    sql("unixepoch("),
    sql("julianday("),
    sql("datetime()"),
    sql("now()"),
    // What the functions of SQLite are given: datetime('now'), strftime('%s', 'now').
    sql("'now'"),
    sign("queue", "mpsc::channel", Scope::Item),
    sign("queue", "unbounded_channel", Scope::Item),
    sign("queue", "sync_channel", Scope::Item),
    sign("queue", "broadcast::channel", Scope::Item),
    sign("queue", "watch::channel", Scope::Item),
    sign("queue", "VecDeque<", Scope::Type),
    sign("queue", "BinaryHeap<", Scope::Type),
    sign("queue", "FuturesUnordered", Scope::Item),
    sign("queue", "JoinSet::new", Scope::Item),
    sign("queue", "TaskTracker::new", Scope::Item),
    sign("cache", "Cache::new", Scope::Item),
    sign("cache", "Cache::with_weighter", Scope::Item),
    sign("cache", "DashMap", Scope::Item),
    sign("cache", "thread_local!", Scope::Item),
    sign("cache", "Mutex<", Scope::Type),
    sign("cache", "RwLock<", Scope::Type),
    sign("cache", "RefCell<", Scope::Type),
    sign("cache", "Mutex::new(", Scope::Made),
    sign("cache", "Mutex::default(", Scope::Made),
    sign("cache", "RwLock::new(", Scope::Made),
    sign("cache", "RwLock::default(", Scope::Made),
    sign("cache", "RefCell::new(", Scope::Made),
    sign("cache", "RefCell::default(", Scope::Made),
    sign("semaphore", "Semaphore::new", Scope::Item),
    sign("semaphore", "FairSemaphore::fixed", Scope::Item),
    sign("semaphore", "FairSemaphore::elastic", Scope::Item),
    sign("semaphore", "FairSemaphore::each", Scope::Item),
    sign("semaphore", "FairSemaphore::new", Scope::Item),
    sign("semaphore", "MemoryBudget::new", Scope::Item),
    sign("semaphore", "RequestSlots::new", Scope::Item),
    sign("semaphore", "FetchSlots::new", Scope::Item),
    sign("semaphore", "Threads::new", Scope::Item),
    sign("semaphore", "buffer_unordered(", Scope::Item),
    sign("semaphore", "buffered(", Scope::Item),
    sign("semaphore", "for_each_concurrent(", Scope::Item),
    sign("semaphore", "ThreadPoolBuilder::new", Scope::Item),
    sign("semaphore", "max_blocking_threads(", Scope::Item),
    sign("semaphore", "thread::Builder::new", Scope::Item),
    sign("semaphore", "thread::spawn", Scope::Item),
];

/// One thing that has to have its line, as `kind`, `file item sign`.
type Place = (&'static str, String);

/// How many there are at each place.
type PlaceCounts = BTreeMap<Place, usize>;

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

/// Whether a letter is part of a name.
fn joined(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// How many times the sign stands in the line as a name of its own.
fn stands(line: &str, sign: &Sign) -> usize {
    let lower;
    let line = if sign.seen == Scope::Sql {
        lower = line.to_ascii_lowercase();
        lower.as_str()
    } else {
        line
    };
    let own = line.match_indices(sign.text).filter(|(at, _)| {
        let (before, after) = (&line[..*at], &line[at + sign.text.len()..]);
        let own = !(sign.text.starts_with(joined) && before.ends_with(joined));
        let ended =
            sign.seen != Scope::Sql || !(sign.text.ends_with(joined) && after.starts_with(joined));
        // A method of that name is somebody's clock, and that one is listed; a definition is none.
        let bare = sign.text != "now()"
            || !(before.ends_with('.') || before.ends_with("::") || before.ends_with("fn "));
        // A borrowed one is somebody else's.
        own && ended && bare && !(sign.text.ends_with('<') && before.ends_with('&'))
    });
    own.count()
}

/// A name that something was given where it was imported, and its usual one.
struct Rename {
    given: String,
    usual: String,
}

/// The names that a file gives what it imports.
fn renames(code: &str) -> Vec<Rename> {
    let mut all = Vec::new();
    let mut inside = false;
    let opens = |before: &str| {
        let within = before.starts_with("pub(") && before.ends_with(") ");
        within || matches!(before, "" | "pub ")
    };
    for line in code.lines().map(str::trim) {
        inside |= line
            .split_once("use ")
            .is_some_and(|(before, _)| opens(before));
        if !inside {
            continue;
        }
        let words = line.split(|c| !joined(c)).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        for three in words.windows(3) {
            if three[1] == "as" && three[2] != "_" {
                let (usual, given) = (three[0].to_owned(), three[2].to_owned());
                all.push(Rename { given, usual });
            }
        }
        inside = !line.ends_with(';');
    }
    all
}

/// A line with everything under its usual name.
fn spelled_out(line: &str, renames: &[Rename]) -> String {
    if renames.is_empty() {
        return line.to_owned();
    }
    let (mut out, mut rest) = (String::new(), line);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !joined(c)).unwrap_or(rest.len()));
        let rename = renames.iter().find(|one| one.given == word);
        out.push_str(rename.map_or(word, |one| one.usual.as_str()));
        let (gap, after) = after.split_at(after.find(joined).unwrap_or(after.len()));
        out.push_str(gap);
        rest = after;
    }
    out
}

/// Whether a line fills a field with what it makes.
fn fills_a_field(line: &str) -> bool {
    let field = line.split_once(": ").map(|(field, _)| field);
    line.starts_with("Self(") || field.is_some_and(|field| field.chars().all(joined))
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
fn found(inside: &str, text: &str, all: &mut PlaceCounts) {
    let code = without_tests(text);
    let renames = renames(code);
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
        let line = spelled_out(line, &renames);
        for sign in SIGNS {
            let count = stands(&line, sign);
            let place = match sign.seen {
                _ if count == 0 => continue,
                Scope::Type if !is_type => continue,
                Scope::Made if is_type || fills_a_field(&line) => continue,
                Scope::File | Scope::Sql => format!("{inside} `{}`", sign.text),
                Scope::Item | Scope::Type | Scope::Made => {
                    format!("{inside} {item} `{}`", sign.text)
                }
            };
            *all.entry((sign.kind, place)).or_default() += count;
        }
    }
}

/// The places as the page names them: with their number where there are several, so that one more is seen.
fn numbered(all: PlaceCounts) -> BTreeSet<Place> {
    let all = all.into_iter();
    all.map(|((kind, place), count)| match count {
        1 => (kind, place),
        _ => (kind, format!("{place} ×{count}")),
    })
    .collect()
}

fn in_the_sources() -> BTreeSet<Place> {
    let mut all = PlaceCounts::new();
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
    numbered(all)
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
                "docs/bounds.md lists a {kind} that is gone, has moved or has another number; put the line of {place} right"
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
    assert_eq!(
        seen(code),
        [
            "x.rs struct Kept `Mutex<`",
            "x.rs `Instant::now`",
            "x.rs fn new `unbounded_channel`"
        ]
    );
}

/// The places of a file, as the page would name them.
fn seen(code: &str) -> Vec<String> {
    let mut all = PlaceCounts::new();
    found("x.rs", code, &mut all);
    let all = numbered(all).into_iter();
    all.map(|(_, place)| place).collect()
}

#[test]
fn a_clock_of_a_database_is_seen_in_whatever_case_it_is_written() {
    for (line, place) in [
        ("SELECT NOW()", "x.rs `now()`"),
        ("SELECT now()", "x.rs `now()`"),
        ("SET a = Current_Timestamp", "x.rs `current_timestamp`"),
        ("DEFAULT CURRENT_DATE", "x.rs `current_date`"),
        ("SELECT LocalTimestamp", "x.rs `localtimestamp`"),
        ("SELECT datetime('now')", "x.rs `'now'`"),
        ("SELECT STRFTIME('%s', 'NOW')", "x.rs `'now'`"),
        ("SELECT Unixepoch(a)", "x.rs `unixepoch(`"),
    ] {
        assert_eq!(seen(line), [place], "{line}");
    }
    // Somebody else's clock, the making of one, and another name.
    for line in ["self.now()", "pub fn now() -> i64 {", "now_ms", "knows()"] {
        assert!(seen(line).is_empty(), "{line}");
    }
}

#[test]
fn one_more_at_a_listed_place_is_seen() {
    let code = "fn new() {\n    let a = Semaphore::new(1);\n    let b = Semaphore::new(1);\n    let (c, d) = mpsc::channel(1);\n    \
                let e = (mpsc::channel(1), mpsc::channel(1));\n}\nfn other() {\n    let a = Instant::now();\n    let b = Instant::now();\n}\n";
    let there = [
        "x.rs `Instant::now` ×2",
        "x.rs fn new `mpsc::channel` ×3",
        "x.rs fn new `Semaphore::new` ×2",
    ];
    assert_eq!(seen(code), there);
}

#[test]
fn a_lock_is_seen_in_a_function_and_under_any_name() {
    let code = "use std::sync::{\n    Arc, Mutex as StdMutex,\n    RwLock as Lock,\n};\nuse std::io::Read as _;\nstruct Kept {\n    \
                lines: StdMutex<Vec<u8>>,\n    words: Lock<Vec<u8>>,\n    near: RefCell<Vec<u8>>,\n}\nfn new() -> Kept {\n    let _ = 1;\n    Kept {\n        \
                lines: StdMutex::new(Vec::new()),\n    }\n}\nfn apart() {\n    let a = Arc::new(Mutex::new(HashMap::new()));\n    \
                keep(std::sync::RwLock::new(Vec::new()));\n}\n";
    let there = [
        "x.rs fn apart `Mutex::new(`",
        "x.rs fn apart `RwLock::new(`",
        "x.rs struct Kept `Mutex<`",
        "x.rs struct Kept `RefCell<`",
        "x.rs struct Kept `RwLock<`",
    ];
    assert_eq!(seen(code), there);
}
