//! What the engine goes by unless somebody says otherwise, from the one place that says it.

use atelier_engine::Settings;

const HERE: &str = "http://127.0.0.1:8080";

/// The defaults of the configuration, on a service that this machine reaches.
pub(crate) fn defaults() -> Settings {
    let defaults = include_str!("../../../../config/default.toml");
    let mut settings: Settings = toml::from_str(defaults).expect("the defaults are complete");
    settings.urls.origin = HERE.into();
    settings.urls.cdn = HERE.into();
    settings
}
