//! Links: whoever has one may see a file of a job.

use std::sync::Arc;

use atelier_contract::JobId;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::links::NewLink;
use atelier_contract::pages::list::ListQuery;
use atelier_engine::records::Link;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, File, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::links::LinkRow;
use crate::pages::service::assets;

pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<NewLink>,
) -> Result<Data<LinkRow>, Denial> {
    let (account, id) = (received.account()?, JobId::new(received.param(0)));
    let job = app.engine.jobs().job(account, &id).await?;
    let links = app.engine.assets().links();
    let (place, seconds) = (wish.file.get() as usize, wish.expires_in.get());
    let link = links.create(account, &job, place, seconds).await?;
    let url = links.url(&link);
    Ok(Data(LinkRow::new(link, url)))
}

/// Lists the links of the caller's account that have not ended.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<LinkRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let links = app.engine.assets().links();
    let (found, total) = links.list(received.account()?, page, limit).await?;
    let row = |link: Link| {
        let url = links.url(&link);
        LinkRow::new(link, url)
    };
    Ok(List {
        rows: found.into_iter().map(row).collect(),
        total,
        page,
        limit,
    })
}

/// Ends a link at once.
pub(crate) async fn end(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0);
    let links = app.engine.assets().links();
    links.end(received.account()?, id).await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}

/// Hands out the file behind a link.
pub(crate) async fn open(app: Arc<App>, received: IncomingRequest, (): ()) -> Result<File, Denial> {
    let query = received.head.uri.query().unwrap_or_default();
    let links = app.engine.assets().links();
    let asset = links.open(received.param(0), query).await?;
    assets::hand_out(&app, &received, &asset).await
}
