//! Rules that a reader would otherwise have to believe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[path = "tidy/bounds.rs"]
mod bounds;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/parts.rs"]
mod parts;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The crates of ours that a crate depends on when it is built for users.
fn arrows(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("crates").join(name).join("Cargo.toml"))
        .expect("a manifest");
    let manifest: toml::Table = text.parse().expect("TOML");
    let dependencies = manifest["dependencies"].as_table().expect("a table");
    dependencies
        .keys()
        .filter_map(|key| key.strip_prefix("atelier-"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_crates_depend_on_each_other_only_along_the_arrows() {
    let allowed = BTreeMap::from([
        ("contract", vec![]),
        ("media", vec![]),
        ("studio", vec!["media"]),
        ("fairness", vec![]),
        ("store", vec!["contract", "fairness"]),
        ("backends", vec!["contract", "fairness", "media", "studio"]),
        ("engine", vec!["backends", "contract", "fairness", "store"]),
        (
            "gateway",
            vec![
                "backends", "contract", "engine", "fairness", "media", "store",
            ],
        ),
    ]);
    for (name, allowed) in allowed {
        let mut found = arrows(name);
        found.sort();
        assert_eq!(found, allowed, "{name}");
    }
}

#[test]
fn the_studio_can_be_left_out() {
    let manifest = |name: &str| -> toml::Table {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let text = std::fs::read_to_string(path).expect("a manifest");
        text.parse().expect("TOML")
    };
    let backends = manifest("backends");
    let studio = &backends["dependencies"]["atelier-studio"];
    assert_eq!(studio["optional"].as_bool(), Some(true));
    let root: toml::Table = std::fs::read_to_string(root().join("Cargo.toml"))
        .expect("a manifest")
        .parse()
        .expect("TOML");
    let shared = &root["workspace"]["dependencies"]["atelier-backends"];
    assert_eq!(
        shared["default-features"].as_bool(),
        Some(false),
        "or every crate brings the studio along"
    );
}

#[test]
fn only_the_wiring_and_the_offline_commands_name_the_store_and_the_back_ends() {
    let source = root().join("crates/gateway/src");
    let mut wrong = Vec::new();
    visit(&source, &mut |path, text| {
        let inside = path
            .strip_prefix(&source)
            .expect("below it")
            .display()
            .to_string();
        if inside == "app.rs" || inside.starts_with("app/") {
            return;
        }
        let mut named = text
            .lines()
            .filter(|line| line.contains("atelier_store::") || line.contains("atelier_backends::"));
        // The configuration holds their settings.
        let settings = |line: &str| inside == "config.rs" && line.ends_with("Settings;");
        if named.any(|line| !settings(line)) {
            wrong.push(inside);
        }
    });
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn every_example_has_an_operation_and_every_operation_an_example() {
    let names: Vec<String> = atelier_contract::FAMILIES
        .iter()
        .flat_map(|family| family.submits)
        .map(|submit| format!("{}.json", submit.name))
        .collect();
    let folder = std::fs::read_dir(root().join("crates/contract/examples")).expect("a folder");
    let mut files: Vec<String> = folder
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    let mut names = names;
    names.sort();
    assert_eq!(files, names);
}

/// A promise is worth the test that holds it.
#[test]
fn every_test_that_the_security_page_names_is_there() {
    let page = std::fs::read_to_string(root().join("SECURITY.md")).expect("the page");
    let is_test = |word: &&str| {
        word.len() > 20 && !word.contains(|c: char| !"_".contains(c) && !c.is_ascii_lowercase())
    };
    let mut missing: BTreeSet<&str> = page.split('`').filter(is_test).collect();
    assert!(missing.len() > 20, "{missing:?}");
    visit(&root().join("crates"), &mut |_, text| {
        missing.retain(|name| !text.contains(&format!("fn {name}(")));
    });
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn a_container_is_built_of_the_sources_alone() {
    let lines = |file: &str| -> BTreeSet<String> {
        let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let bare = lines.map(|line| line.trim_start_matches("**/").trim_start_matches('/'));
        bare.map(str::to_owned).collect()
    };
    let (ignored, left_out) = (lines(".gitignore"), lines(".dockerignore"));
    assert!(ignored.is_subset(&left_out), "{ignored:?} {left_out:?}");
    assert!(left_out.contains(".git"));
}

#[test]
fn what_others_install_can_sign_and_says_what_it_is_made_of() {
    for file in ["scripts/package", "packaging/docker/Dockerfile"] {
        let text = std::fs::read_to_string(root().join(file)).expect("a file");
        let builds = text.lines().filter(|line| line.contains("--release"));
        let builds: Vec<&str> = builds.filter(|line| line.contains("cargo")).collect();
        assert_eq!(builds.len(), 1, "{file}");
        assert!(builds[0].contains("--features credentials"), "{file}");
        assert!(builds[0].contains("--locked"), "{file}");
    }
    let package = std::fs::read_to_string(root().join("scripts/package")).expect("a script");
    assert!(package.contains("./scripts/sbom \"$folder/atelier.cdx.json\" credentials"));
    assert!(package.contains("sha256sum atelier atelier.cdx.json ./*.deb"));
}

#[test]
fn nothing_is_marked_as_unfinished() {
    let mut found = Vec::new();
    for folder in ["crates", "bench"] {
        visit(&root().join(folder), &mut |path, text| {
            // The words are put together here, so that this file does not name itself.
            for word in [["TO", "DO"], ["FIX", "ME"], ["unimplemen", "ted!"]] {
                if text.contains(&word.concat()) {
                    found.push(format!("{}: {}", path.display(), word.concat()));
                }
            }
        });
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Adding a family touches the contract alone: nobody else asks which family it is.
#[test]
fn families_are_known_by_name_to_the_contract_alone() {
    let mut found = Vec::new();
    for crate_name in ["backends", "engine", "gateway"] {
        let source = root().join("crates").join(crate_name).join("src");
        visit(&source, &mut |path, text| {
            let inside = path.strip_prefix(root()).expect("below it");
            // What the list of the service's own pages says is a path, not a question.
            if inside.ends_with("tests.rs") || inside.ends_with("gateway/src/pages.rs") {
                return;
            }
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim().starts_with("//")) {
                if names_a_family(line, crate_name == "gateway") {
                    found.push(format!("{}: {}", inside.display(), line.trim()));
                }
            }
        });
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Whether a line of code names a family. The gateway may write its paths and use its types.
fn names_a_family(line: &str, is_gateway: bool) -> bool {
    atelier_contract::FAMILIES.iter().any(|family| {
        let name = family.name;
        // A key of somebody else's document may have the same name.
        let word = format!("\"{name}\"");
        let alone = line.contains(&word) && !line.contains(&format!("{word}:"));
        let elsewhere = [format!("/{name}/"), format!("families::{name}")];
        alone
            || line.contains(&format!("\"{name}."))
            || (!is_gateway && elsewhere.iter().any(|text| line.contains(text)))
    })
}

#[test]
fn no_circle_of_files_imports_each_other() {
    for name in [
        "contract", "media", "studio", "store", "backends", "engine", "gateway",
    ] {
        let arrows = file_arrows(&root().join("crates").join(name).join("src"));
        assert!(arrows.len() > 30, "{name}: {} files", arrows.len());
        let mut left: BTreeSet<&String> = arrows.keys().collect();
        // What uses nothing that is left, and what nothing uses that is left, is in no circle.
        loop {
            let inside = |file: &String| {
                let uses = arrows[file].iter().any(|other| left.contains(other));
                let used = left.iter().any(|other| arrows[*other].contains(file));
                uses && used
            };
            let still: BTreeSet<&String> =
                left.iter().copied().filter(|file| inside(file)).collect();
            if still.len() == left.len() {
                break;
            }
            left = still;
        }
        assert!(left.is_empty(), "{name}: {left:#?}");
    }
}

/// Every file of a crate, as a module path, with the files it imports from. Names that are only passed on are no arrow.
fn file_arrows(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut files = BTreeMap::new();
    visit(source, &mut |path, text| {
        let inside = path.strip_prefix(source).expect("below it");
        let module = inside.with_extension("").display().to_string();
        let module = match module.as_str() {
            "lib" | "main" => String::new(),
            other => other.trim_end_matches("/mod").replace('/', "::"),
        };
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        files.insert(module, code.to_owned());
    });
    let found = |wanted: &str| {
        let mut wanted = wanted;
        while !files.contains_key(wanted) {
            wanted = wanted.rsplit_once("::").map_or("", |(start, _)| start);
        }
        wanted.to_owned()
    };
    let arrows = |(module, code): (&String, &String)| {
        let imports = imports(code).into_iter().filter_map(|import| {
            let mut base = module.as_str();
            let mut rest = import.as_str();
            if let Some(path) = rest.strip_prefix("crate::") {
                return Some(found(path));
            }
            let mut inside = false;
            while let Some(path) = rest.strip_prefix("super::") {
                base = base.rsplit_once("::").map_or("", |(start, _)| start);
                (rest, inside) = (path, true);
            }
            let full = format!("{base}::{rest}");
            let full = full.trim_start_matches("::");
            let child = found(full);
            (inside || child.len() > module.len()).then_some(child)
        });
        let others = imports.filter(|other| other != module && !other.is_empty());
        (module.clone(), others.collect())
    };
    files.iter().map(arrows).collect()
}

/// The full paths of the private `use` lines of some code, and of what it names by `crate::` in place.
fn imports(code: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("use ") {
        let own_line = before.rsplit('\n').next().unwrap_or_default().trim();
        let Some((import, after)) = after.split_once(';') else {
            break;
        };
        if own_line.is_empty() {
            spread(&import.split_whitespace().collect::<String>(), "", &mut all);
            rest = after;
        } else {
            rest = &rest[before.len() + "use ".len()..];
        }
    }
    // How far a name may be seen is no import.
    let code = code.replace("in crate::", "");
    for path in code.split("crate::").skip(1) {
        let end = path.find(|c: char| !(c.is_ascii_lowercase() || matches!(c, '_' | ':')));
        all.push(format!("crate::{}", &path[..end.unwrap_or(path.len())]));
    }
    all
}

/// Writes `a::{b, c::d}` out as `a::b` and `a::c::d`.
fn spread(import: &str, before: &str, all: &mut Vec<String>) {
    let Some((start, inner)) = import.split_once('{') else {
        all.push(format!("{before}{import}"));
        return;
    };
    let before = format!("{before}{start}");
    let (mut depth, mut part) = (0, String::new());
    for c in inner.strip_suffix('}').unwrap_or(inner).chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                spread(&std::mem::take(&mut part), &before, all);
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    if !part.is_empty() {
        spread(&part, &before, all);
    }
}

fn visit(folder: &Path, look: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            visit(&path, look);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            look(&path, &std::fs::read_to_string(&path).expect("text"));
        }
    }
}
