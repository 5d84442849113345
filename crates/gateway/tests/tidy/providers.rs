//! A payment provider is a folder, its lines in the list and its settings: no other source knows one by name.

use super::{root, visit};

/// The one whose payments operators confirm; it is an ordinary word besides.
pub(super) const MANUAL: &str = "manual";

/// Where providers stand: the list of them, their settings with what is checked and hidden of these, the names of guides.
const ALLOWED: [&str; 5] = [
    "crates/engine/src/admin/payments/providers.rs",
    "crates/engine/src/settings/payments.rs",
    "crates/gateway/src/config/check.rs",
    "crates/gateway/src/config/explain.rs",
    "crates/gateway/src/pages/service/docs.rs",
];

#[test]
fn a_payment_provider_is_known_by_name_to_its_folder_and_its_settings_alone() {
    let place = "crates/engine/src/admin/payments/providers";
    let folders = std::fs::read_dir(root().join(place)).expect("providers");
    let names: Vec<String> = folders
        .map(|entry| entry.expect("an entry").file_name())
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name != MANUAL)
        .collect();
    assert!(names.len() >= 2, "{names:?}");
    let own = root().join(place);
    let allowed = ALLOWED.map(|path| root().join(path));
    let (mut elsewhere, mut in_allowed) = (Vec::new(), 0);
    for entry in std::fs::read_dir(root().join("crates")).expect("crates") {
        let source = entry.expect("an entry").path().join("src");
        if !source.is_dir() {
            continue;
        }
        visit(&source, &mut |path, text| {
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            let named = words.any(|word| names.iter().any(|name| name == word));
            if named && allowed.iter().any(|one| one == path) {
                in_allowed += 1;
            } else if named && !path.starts_with(&own) {
                elsewhere.push(path.display().to_string());
            }
        });
    }
    assert_eq!(elsewhere, Vec::<String>::new());
    // One that knows none any more is taken off the list.
    assert_eq!(in_allowed, ALLOWED.len());
}
