//! Rules that a reader would otherwise have to believe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[path = "tidy/bounds.rs"]
mod bounds;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/console.rs"]
mod console;
#[path = "tidy/crash_points.rs"]
mod crash_points;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/parts.rs"]
mod parts;
#[path = "tidy/promises.rs"]
mod promises;
#[path = "tidy/providers.rs"]
mod providers;
#[path = "tidy/retries.rs"]
mod retries;
#[path = "tidy/scripts.rs"]
mod scripts;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/traits.rs"]
mod traits;

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
        ("identity", vec![]),
        ("mail", vec!["contract"]),
        ("store", vec!["contract", "fairness"]),
        ("backends", vec!["contract", "fairness", "media", "studio"]),
        (
            "engine",
            vec![
                "backends", "contract", "fairness", "identity", "mail", "store",
            ],
        ),
        ("cli", vec!["contract", "media"]),
        (
            "gateway",
            vec![
                "backends", "cli", "contract", "engine", "fairness", "media", "store",
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
fn what_serves_knows_nothing_of_the_command_line() {
    let source = root().join("crates/gateway/src");
    let mut wrong = Vec::new();
    visit(&source, &mut |path, text| {
        let inside = path.strip_prefix(&source).expect("below it");
        let first = inside.components().next().expect("a name");
        let stem = Path::new(first.as_os_str()).with_extension("");
        let is_command = stem == Path::new("main") || stem == Path::new("commands");
        if !is_command && text.contains("atelier_cli::") {
            wrong.push(inside.display().to_string());
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
    assert!(package.contains("xargs sha256sum >SHA256SUMS"));
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
    for crate_name in ["store", "backends", "engine", "cli", "gateway"] {
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
fn fields_of_prompts_are_not_known_by_name_to_the_store() {
    let fields = atelier_contract::families::prompt_fields();
    assert!(fields.len() > 1, "{fields:?}");
    let mut found = Vec::new();
    visit(&root().join("crates/store/src"), &mut |path, text| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim().starts_with("//")) {
            let quoted = |name: &&str| {
                [
                    format!("\"{name}\""),
                    format!("'{name}'"),
                    format!("$.{name}"),
                ]
                .iter()
                .any(|word| line.contains(word))
            };
            if !path.ends_with("tests.rs") && fields.iter().any(quoted) {
                found.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    });
    assert!(found.is_empty(), "{found:#?}");
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
