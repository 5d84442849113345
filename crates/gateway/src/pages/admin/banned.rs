//! The banned words, to read and to replace.

use std::sync::Arc;

use atelier_contract::pages::banned::BannedWords;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;

/// Shows the list in force.
pub(crate) async fn show(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<BannedWords>, Denial> {
    Ok(Data(all(&app)))
}

/// Replaces the list, for requests from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    Body(list): Body<BannedWords>,
) -> Result<Data<BannedWords>, Denial> {
    let by = received.operator()?;
    app.engine.admin().banned().set(by, list.words).await?;
    Ok(Data(all(&app)))
}

fn all(app: &App) -> BannedWords {
    BannedWords {
        words: app.engine.admin().banned().words(),
    }
}
