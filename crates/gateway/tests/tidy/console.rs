//! The console reads what there is from the service: it names no vendor, no payment provider, and one path of a family.

use std::path::Path;

use super::providers::MANUAL;
use super::root;

/// The one path of a family that the console may call: whose key this is.
const ALLOWED: &str = "/artgen/v1/info";

fn scripts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            // What others wrote, and what people read.
            let apart = ["console/vendor", "console/words", "console/catalogue"];
            if !apart.iter().any(|folder| path.ends_with(folder)) {
                scripts(&path, found);
            }
        } else if path.extension().is_some_and(|kind| kind == "js") {
            let text = std::fs::read_to_string(&path).expect("text");
            found.push((path.display().to_string(), text));
        }
    }
}

/// The lines of a script that run.
fn code(script: &str) -> impl Iterator<Item = &str> {
    let lines = script.lines().map(str::trim);
    lines.filter(|line| !["//", "/*", "*"].iter().any(|sign| line.starts_with(sign)))
}

fn has_word(line: &str, word: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric());
    words.any(|one| one.eq_ignore_ascii_case(word))
}

/// What a line of the console names that it must not.
fn names(line: &str, vendors: &[String]) -> Option<String> {
    if let Some(vendor) = vendors.iter().find(|vendor| has_word(line, vendor)) {
        return Some(vendor.clone());
    }
    let line = line.replace(ALLOWED, "");
    let families = atelier_contract::FAMILIES.iter();
    let mut prefixes = families.map(|family| family.prefix);
    let found = prefixes.find(|prefix| prefix.len() > 4 && line.contains(prefix));
    found.map(str::to_owned)
}

#[test]
fn the_console_names_no_vendor_or_payment_provider_and_one_path_of_a_family() {
    let folders = [
        "backends/src/vendors",
        "engine/src/admin/payments/providers",
    ];
    let folders = folders.map(|folder| root().join("crates").join(folder));
    let entries = folders.map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let vendors: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.expect("an entry").path();
            Some(path.file_stem()?.to_str()?.to_owned())
        })
        .filter(|name| name != MANUAL)
        .collect();
    assert!(vendors.len() > 10, "{vendors:?}");
    let mut files = Vec::new();
    scripts(&root().join("crates/gateway/console"), &mut files);
    assert!(files.len() > 30, "{}", files.len());
    let mut wrong = Vec::new();
    for (file, text) in &files {
        let found = code(text).filter_map(|line| names(line, &vendors));
        wrong.extend(found.map(|name| format!("{file}: {name}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let calls = files.iter().filter(|(_, text)| text.contains(ALLOWED));
    assert_eq!(calls.count(), 1);
}

#[test]
fn a_name_in_a_script_is_seen() {
    let vendors = ["fal".to_owned()];
    assert_eq!(
        names("if (one === 'fal')", &vendors).as_deref(),
        Some("fal")
    );
    assert_eq!(names("return falsy", &vendors), None);
    assert_eq!(names("get('/artgen/v1/info')", &vendors), None);
    let path = "post('/artgen/v1/imagine')";
    assert_eq!(names(path, &vendors).as_deref(), Some("/artgen/v1/"));
    assert_eq!(code("// fal\nx\n").collect::<Vec<_>>(), ["x"]);
}
