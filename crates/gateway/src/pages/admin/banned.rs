//! The banned words, to read and to replace.

use std::sync::Arc;

use atelier_contract::pages::banned::BannedWords;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::received::Received;

/// Shows the list in force.
pub(crate) async fn show(app: Arc<App>, _: Received, (): ()) -> Result<Data<BannedWords>, Denial> {
    Ok(Data(all(&app)))
}

/// Replaces the list, for requests from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: Received,
    Body(list): Body<BannedWords>,
) -> Result<Data<BannedWords>, Denial> {
    let by = received.operator()?;
    app.engine.office().banned().set(by, list.words).await?;
    Ok(Data(all(&app)))
}

fn all(app: &App) -> BannedWords {
    BannedWords {
        words: app.engine.office().banned().words(),
    }
}
