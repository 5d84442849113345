//! Where result files are kept unless somebody says otherwise, from the one place that says it.

use atelier_store::files::AssetSettings;
use serde::Deserialize;

/// The defaults of the configuration.
pub(crate) fn asset_defaults() -> AssetSettings {
    #[derive(Deserialize)]
    struct Sections {
        assets: AssetSettings,
    }
    let defaults = include_str!("../../../../config/default.toml");
    let sections: Sections = toml::from_str(defaults).expect("the defaults are complete");
    sections.assets
}
