//! No circle of files. A file points to another when it imports, passes on or names in place something that the other one
//! defines: names that a file only passes on are followed to their definition. A parent that merely declares `mod child;`
//! points nowhere, and neither does a call of a method.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{root, visit};

const CRATES: [&str; 10] = [
    "contract", "media", "fairness", "mail", "studio", "store", "backends", "engine", "cli",
    "gateway",
];

/// Words after which a name is defined.
const DEFINING: [&str; 8] = [
    "struct", "enum", "trait", "type", "fn", "const", "static", "union",
];
/// How often a name may be passed on before its definition.
const HOPS: usize = 12;

/// The names from where one stands to a thing, as in `crate::runner::Runner`.
type NamePath = Vec<String>;

/// A file of a crate.
#[derive(Default)]
struct SourceFile {
    defines: BTreeSet<String>,
    /// What its `use` lines bring, by the name it has here.
    brings: BTreeMap<String, NamePath>,
    globs: Vec<NamePath>,
    /// Everything it names, in `use` lines and in place.
    names: Vec<NamePath>,
}

/// Every file of a crate by its module path; the root's is empty.
type Files = BTreeMap<String, SourceFile>;
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The words and signs of a source without its comments and texts.
fn tokens(source: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let length = match word.unwrap_or(rest.len()) {
                0 if rest.starts_with("::") => 2,
                0 => first.len_utf8(),
                length => length,
            };
            all.push(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    all
}

/// How long the text or the letter is that a source begins with.
fn literal(source: &str) -> Option<usize> {
    let bare = source.trim_start_matches(['b', 'c']);
    let prefix = source.len() - bare.len();
    if let Some(raw) = bare.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if prefix < 2 && raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let inner = &raw[hashes + 1..];
            let length = inner.find(&end).map_or(inner.len(), |at| at + end.len());
            return Some(prefix + 1 + hashes + 1 + length);
        }
    }
    let quote = bare.chars().next().filter(|c| "\"'".contains(*c))?;
    if prefix > 1 {
        return None;
    }
    let mut letters = bare.char_indices().skip(1);
    if quote == '\'' && !bare.starts_with("'\\") {
        // A lifetime is no letter: nothing closes it.
        let (at, _) = letters.nth(1).filter(|(_, c)| *c == '\'')?;
        return Some(prefix + at + 1);
    }
    let mut escaped = false;
    let end = letters.find(|(_, c)| {
        let closes = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        closes
    });
    Some(prefix + end.map_or(bare.len(), |(at, _)| at + 1))
}

/// The place after the bracket that closes the one at a place.
fn after_bracket(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}

/// Where a module of tests ends that begins at a place.
fn after_tests(tokens: &[&str], place: usize) -> Option<usize> {
    if !tokens[place..].starts_with(&["#", "[", "cfg", "("]) {
        return None;
    }
    let module = after_bracket(tokens, place + 1);
    let is_test = tokens[place..module].contains(&"test");
    let is_module = is_test && tokens.get(module) == Some(&"mod");
    let end = module + 2;
    let is_inline = *tokens.get(end).filter(|_| is_module)? == "{";
    Some(if is_inline {
        after_bracket(tokens, end)
    } else {
        end + 1
    })
}

impl SourceFile {
    fn read(source: &str) -> Self {
        let tokens = tokens(source);
        let mut file = Self::default();
        let mut place = 0;
        while let Some(token) = tokens.get(place) {
            if let Some(end) = after_tests(&tokens, place) {
                place = end;
                continue;
            }
            let next = tokens.get(place + 1).copied().unwrap_or_default();
            let before = &tokens[..place];
            // `a::b` that is not the end of a longer path, a method's or what limits a `pub(in …)`.
            let begins = !before.ends_with(&["::"])
                && !before.ends_with(&["."])
                && !before.ends_with(&["(", "in"]);
            if *token == "use" && next != "<" {
                let length = tokens[place..].iter().position(|token| *token == ";");
                let end = length.map_or(tokens.len(), |length| place + length);
                file.add_tree(&tokens[place + 1..end], &[]);
                place = end;
            } else if next == "::" && begins {
                place = file.add_path(&tokens, place);
            } else {
                if *token == "macro_rules" {
                    file.defines
                        .extend(tokens.get(place + 2).map(|name| (*name).to_owned()));
                } else if DEFINING.contains(token)
                    || (*token == "mod" && tokens.get(place + 2) == Some(&"{"))
                {
                    file.defines.insert(next.to_owned());
                }
                place += 1;
            }
        }
        file
    }

    /// Adds `a::b::c` in place, and says where it ends. What begins with a type is that type's, which was imported.
    fn add_path(&mut self, tokens: &[&str], start: usize) -> usize {
        let mut path = vec![tokens[start].to_owned()];
        let mut place = start + 1;
        while let ["::", name, ..] = &tokens[place..]
            && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        {
            path.push((*name).to_owned());
            place += 2;
        }
        if path.len() > 1 && path[0].starts_with(|c: char| c.is_lowercase() || c == '_') {
            self.names.push(path);
        }
        place
    }

    /// Adds what stands after `use`: `a::{b, c::d as e, f::*}`.
    fn add_tree(&mut self, tree: &[&str], before: &[String]) {
        let mut path = before.to_vec();
        let mut place = 0;
        while let Some(token) = tree.get(place) {
            match *token {
                "::" => {}
                "{" => {
                    let inner = &tree[place + 1..after_bracket(tree, place) - 1];
                    for part in parts(inner) {
                        self.add_tree(part, &path);
                    }
                    return;
                }
                "*" => {
                    self.names.push(path.clone());
                    self.globs.push(path);
                    return;
                }
                "as" => break,
                "self" if !path.is_empty() => {}
                name => path.push(name.to_owned()),
            }
            place += 1;
        }
        let Some(name) = tree
            .get(place + 1)
            .copied()
            .or(path.last().map(String::as_str))
        else {
            return;
        };
        self.brings.insert(name.to_owned(), path.clone());
        self.names.push(path);
    }
}

/// The parts of a list that commas divide, each with its own brackets.
fn parts<'a>(list: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let (mut all, mut start, mut place) = (Vec::new(), 0, 0);
    while place < list.len() {
        match list[place] {
            "{" => place = after_bracket(list, place),
            "," => {
                all.push(&list[start..place]);
                place += 1;
                start = place;
            }
            _ => place += 1,
        }
    }
    all.push(&list[start..]);
    all.retain(|part| !part.is_empty());
    all
}

fn child(module: &str, name: &str) -> String {
    if module.is_empty() {
        name.to_owned()
    } else {
        format!("{module}::{name}")
    }
}

fn parent(module: &str) -> String {
    module
        .rsplit_once("::")
        .map_or("", |(start, _)| start)
        .to_owned()
}

/// Where something is defined.
enum Definer {
    File(String),
    OtherCrate,
}

impl Definer {
    fn file(self) -> Option<String> {
        match self {
            Self::File(file) => Some(file),
            Self::OtherCrate => None,
        }
    }
}

/// Where what a path names from a file is defined.
fn definer(files: &Files, from: &str, path: &[String], hops: usize) -> Definer {
    let mut module = from.to_owned();
    // Whether the path is known to lead into this crate.
    let mut is_ours = false;
    for (place, name) in path.iter().enumerate() {
        match name.as_str() {
            "crate" if place == 0 => module = String::new(),
            "self" if place == 0 => {}
            "super" if place == 0 || is_ours => module = parent(&module),
            _ => {
                if let Some(found) = passed_on(files, &module, &path[place..], hops) {
                    return found;
                }
                let inner = child(&module, name);
                if files.contains_key(&inner) {
                    module = inner;
                } else if is_ours {
                    return Definer::File(module);
                } else {
                    return Definer::OtherCrate;
                }
            }
        }
        is_ours = true;
    }
    Definer::File(module)
}

/// Where the first name of a path leads if a file defines it, or brings it from elsewhere; `None` where it does neither, or
/// where it is a module on the way to something.
fn passed_on(files: &Files, module: &str, path: &[String], hops: usize) -> Option<Definer> {
    let (name, rest) = path.split_first()?;
    let file = files.get(module)?;
    let inner = child(module, name);
    let is_file = files.contains_key(&inner);
    if hops == 0 || (is_file && !rest.is_empty()) {
        return None;
    }
    if let Some(from) = file.brings.get(name).filter(|from| *from != path) {
        let full = [from.as_slice(), rest].concat();
        let found = definer(files, module, &full, hops - 1);
        let is_module = matches!(&found, Definer::File(file) if *file == inner);
        return (!is_module).then_some(found);
    }
    // A method may have the name of a module beside it, and is not imported.
    if is_file {
        return None;
    }
    if file.defines.contains(name) {
        return Some(Definer::File(module.to_owned()));
    }
    let globs = file.globs.iter();
    let mut others = globs.filter_map(|glob| definer(files, module, glob, hops - 1).file());
    others.find_map(|other| {
        let known = files.get(&other).filter(|_| other != module)?;
        let has = known.defines.contains(name) || known.brings.contains_key(name);
        has.then(|| passed_on(files, &other, path, hops - 1))?
    })
}

/// Who points to whom.
fn arrows(files: &Files) -> Arrows {
    let arrows = |(module, file): (&String, &SourceFile)| {
        let named = file.names.iter();
        let found = named.filter_map(|path| definer(files, module, path, HOPS).file());
        let others = found.filter(|other| other != module).collect();
        (module.clone(), others)
    };
    files.iter().map(arrows).collect()
}

/// Everything that one can get to from a file.
fn reached(arrows: &Arrows, from: &str) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(file) = open.pop() {
        for next in arrows.get(&file).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

/// The largest sets of files that all lead to each other.
fn circles(arrows: &Arrows) -> BTreeSet<BTreeSet<String>> {
    let reached: Arrows = arrows
        .keys()
        .map(|file| (file.clone(), reached(arrows, file)))
        .collect();
    let circle = |file: &String| {
        let back = reached[file]
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
        back.cloned().collect::<BTreeSet<_>>()
    };
    let all = arrows.keys().map(circle);
    all.filter(|circle| !circle.is_empty()).collect()
}

fn files_of(crate_name: &str) -> Files {
    let source = root().join("crates").join(crate_name).join("src");
    let mut files = Files::new();
    visit(&source, &mut |path, text| {
        let inside = path.strip_prefix(&source).expect("below it");
        if !inside
            .iter()
            .any(|part| part == "tests.rs" || part == "tests")
        {
            files.insert(module_of(inside), SourceFile::read(text));
        }
    });
    files
}

fn module_of(file: &Path) -> String {
    let module = file.with_extension("").display().to_string();
    match module.as_str() {
        "lib" | "main" => String::new(),
        other => other.trim_end_matches("/mod").replace('/', "::"),
    }
}

#[test]
fn no_circle_of_files_imports_each_other() {
    // Each file on a circle by itself, so that the difference is short.
    let mut found = BTreeSet::new();
    for name in CRATES {
        let arrows = arrows(&files_of(name));
        assert!(arrows.len() > 5, "{name}: {} files", arrows.len());
        let files = circles(&arrows).into_iter().flatten();
        found.extend(files.map(|file| (name, file)));
    }
    assert_eq!(found, BTreeSet::new(), "files that use each other");
}

/// The circles of a crate with these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let read = |(module, source): &(&str, &str)| ((*module).to_owned(), SourceFile::read(source));
    let files: Files = files.iter().map(read).collect();
    let circles = circles(&arrows(&files)).into_iter();
    circles
        .map(|circle| Vec::from_iter(circle).join(" "))
        .collect()
}

#[test]
fn a_name_of_the_root_leads_to_the_file_that_defines_it() {
    let lib = "pub mod jobs;\nmod pool;\npub use jobs::{Job, list::Page};\nuse pool::*;";
    let used = |by: &str| {
        circles_of(&[
            ("", lib),
            ("jobs", "pub struct Job;\nfn wait() { crate::pool::take() }"),
            ("jobs::list", "pub struct Page;"),
            ("pool", by),
        ])
    };
    assert_eq!(used("use crate::Job;\npub fn take() {}"), ["jobs pool"]);
    assert_eq!(used("pub fn take() -> crate::Job { .. }"), ["jobs pool"]);
    assert!(used("use crate::Page;\npub fn take() {}").is_empty());
    // Comments, texts and tests are none of it.
    let harmless = "//! use crate::Job;\npub fn take() { say(\"crate::Job\", 'x', r#\"crate::Job\"#) }\n\
        #[cfg(test)]\nmod tests { use crate::Job; }";
    assert!(used(harmless).is_empty());
}

#[test]
fn a_child_that_its_parent_names_is_seen() {
    let with = |parent: &str| {
        let child = "use super::Parent;\npub struct Child;\npub fn make() {}";
        let parent = format!("mod child;\npub struct Parent;\n{parent}");
        circles_of(&[
            ("", "mod parent;"),
            ("parent", parent.as_str()),
            ("parent::child", child),
        ])
    };
    assert!(with("").is_empty(), "a declaration points nowhere");
    for named in [
        "pub use child::Child;",
        "use child::{self as one, Child as Two};",
        "fn run() { child::make() }",
    ] {
        assert_eq!(with(named), ["parent parent::child"], "{named}");
    }
    // A function and a module of one name are two things.
    let both = [
        ("", "mod order;\nmod table;\npub use table::order;"),
        ("order", "pub struct Order;\nfn find() { crate::order() }"),
        ("table", "use crate::order::Order;\npub fn order() {}"),
    ];
    assert_eq!(circles_of(&both), ["order table"]);
}
