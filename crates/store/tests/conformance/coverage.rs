//! Every public function of the store is called by this suite.

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

/// The names of the public asynchronous functions inside `impl Store` blocks.
fn functions(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in text.lines() {
        match line {
            "impl Store {" => inside = true,
            "}" => inside = false,
            _ => {}
        }
        if inside && let Some(rest) = line.strip_prefix("    pub async fn ") {
            names.extend(rest.split(['(', '<']).next().map(str::to_owned));
        }
    }
    names
}

#[test]
fn every_public_function_is_called() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut code, mut cases) = (Vec::new(), Vec::new());
    sources(&root.join("src"), &mut code);
    sources(&root.join("tests/conformance"), &mut cases);
    let cases = cases.join("\n");
    let names: Vec<String> = code.iter().flat_map(|text| functions(text)).collect();
    assert!(
        names.len() > 50,
        "only {} functions were found",
        names.len()
    );
    let missing: Vec<&String> = names
        .iter()
        .filter(|name| {
            let called = [format!(".{name}("), format!("Store::{name}(")];
            !called.iter().any(|call| cases.contains(call))
        })
        .collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
}
