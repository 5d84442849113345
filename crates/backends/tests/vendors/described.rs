//! Vendors that have an adapter, described for the vendor `http`: what their adapters promise is tried with these as well.

use serde_json::Value;

/// The description of a vendor.
pub(crate) fn described(vendor: &str) -> Value {
    let text = match vendor {
        "recraft" => include_str!("described/recraft.json"),
        "piapi" => include_str!("described/piapi.json"),
        "kling" => include_str!("described/kling.json"),
        "luma" => include_str!("described/luma.json"),
        other => panic!("{other} is not described"),
    };
    serde_json::from_str(text).expect("a description")
}

/// A vendor by its adapter and by its description.
pub(crate) fn both(vendor: &'static str) -> [(&'static str, Value); 2] {
    [(vendor, Value::Null), ("http", described(vendor))]
}
