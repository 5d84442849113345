//! Scripts say what they need, and only one place knows how the service is started.

use std::path::{Path, PathBuf};

use super::root;

/// The one launcher, and who has to see a start or its failure.
const STARTS_IT: &[&str] = &[
    "tests/shared/launch.py",
    "tests/credentials/run.py",
    "tests/packages/run",
];
/// What is needed stands within so many lines.
const FIRST_LINES: usize = 25;

/// The scripts below a folder, in whichever language.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let extension = path.extension().map(|text| text.to_string_lossy());
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if matches!(extension.as_deref(), None | Some("py" | "mjs")) {
            found.push(path);
        }
    }
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("text")
}

#[test]
fn every_script_says_what_it_needs() {
    let mut silent = scripts(&root().join("scripts"));
    assert!(silent.len() > 20, "{silent:?}");
    silent.retain(|path| {
        let text = read(path);
        let mut first = text.lines().take(FIRST_LINES);
        !first.any(|line| line.contains("Needs: "))
    });
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn the_service_is_started_in_one_place() {
    let mut others = Vec::new();
    for folder in ["scripts", "tests", "bench"] {
        for path in scripts(&root().join(folder)) {
            let text = read(&path);
            let starts = ["\"serve\"", "atelier serve -", "binary\" serve"];
            if starts.iter().any(|start| text.contains(start)) {
                let inside = path.strip_prefix(root()).expect("below it");
                others.push(inside.display().to_string());
            }
        }
    }
    others.sort();
    let mut known = STARTS_IT.to_vec();
    known.sort_unstable();
    assert_eq!(others, known);
}

#[test]
fn whoever_is_not_root_is_asked_for_it_by_sudo() {
    for path in scripts(&root().join("scripts")) {
        for line in read(&path).lines().map(str::trim) {
            let installs = line.contains("apt-get install") || line.contains("apt-get update");
            assert!(
                !installs || line.starts_with("as_root "),
                "{}: {line}",
                path.display()
            );
        }
    }
}
