//! The ways to sign in that are there.

use std::sync::Arc;

use atelier_engine::SignUpMode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;

/// The ways to sign in that are there.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ways {
    /// Whether links are sent by e-mail; without a mail server they are in the log of the service.
    pub(crate) mail: bool,
    /// Whether somebody may open an account without an invitation.
    pub(crate) signup: bool,
    /// Providers that people sign in at.
    pub(crate) providers: Vec<ProviderWay>,
}

/// A provider that people sign in at.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProviderWay {
    /// Its name in addresses.
    pub(crate) name: String,
    /// What its button says.
    pub(crate) title: String,
}

/// Shows them to whoever is about to sign in.
pub(crate) async fn show(app: Arc<App>, _: IncomingRequest, (): ()) -> Result<Data<Ways>, Denial> {
    let people = &app.config.people;
    let provider = |one: &atelier_engine::OidcSettings| ProviderWay {
        name: one.name.clone(),
        title: one.title().to_owned(),
    };
    Ok(Data(Ways {
        mail: app.engine.mail().has_server(),
        signup: matches!(people.signup, SignUpMode::Domains | SignUpMode::Open),
        providers: people.oidc.iter().map(provider).collect(),
    }))
}
