//! The points at which a process may be killed are one list, and the sweep over it misses none.

use std::collections::BTreeSet;

use super::{root, visit};

#[test]
fn every_crash_point_of_the_engine_is_in_the_list() {
    let mut named = BTreeSet::new();
    visit(&root().join("crates/engine/src"), &mut |_, text| {
        for rest in text.split("crash::point(\"").skip(1) {
            let name = rest.split('"').next().unwrap_or_default();
            named.insert(name.to_owned());
        }
    });
    let listed = atelier_engine::crash::POINTS.iter();
    let listed: BTreeSet<String> = listed.map(|name| (*name).to_owned()).collect();
    assert_eq!(named, listed);
    assert_eq!(listed.len(), atelier_engine::crash::POINTS.len());
}
