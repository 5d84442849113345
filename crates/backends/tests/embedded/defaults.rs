//! How the embedded engine works unless somebody says otherwise, from the one place that says it.

use atelier_backends::StudioSettings;
use serde::Deserialize;

/// The defaults of the configuration.
pub(crate) fn studio_defaults() -> StudioSettings {
    #[derive(Deserialize)]
    struct Sections {
        studio: StudioSettings,
    }
    let defaults = include_str!("../../../../config/default.toml");
    let sections: Sections = toml::from_str(defaults).expect("the defaults are complete");
    sections.studio
}
