//! Files that callers upload to be used as inputs.

use std::sync::Arc;

use atelier_contract::Refusal;
use atelier_contract::pages::files::{FileRow, NewFile};
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::list::ListQuery;
use atelier_contract::time::timestamp;
use atelier_engine::UploadView;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::form::{FormFields, FormOf};
use crate::http::page::{Data, List, Query};
use crate::http::request::IncomingRequest;

/// The field that the file comes in.
const FILE: &str = "file";

impl FormFields for NewFile {
    const FILES: &'static [&'static str] = &[FILE];
    const OR_JSON: bool = false;
}

/// Keeps a file.
pub(super) async fn upload(
    app: Arc<App>,
    received: IncomingRequest,
    form: FormOf<NewFile>,
) -> Result<Data<FileRow>, Denial> {
    let account = received.account()?.to_owned();
    let mut files = form.files.into_iter();
    let (Some((_, bytes)), None) = (files.next(), files.next()) else {
        return Err(one_file().into());
    };
    if form.fields.contains_key(FILE) {
        return Err(one_file().into());
    }
    let kept = async move {
        app.engine
            .assets()
            .uploads()
            .keep(&account, bytes.into())
            .await
    };
    Ok(Data(row(received.admission.spend(kept).await??)))
}

fn one_file() -> Refusal {
    Refusal::invalid(FILE, "must be one file of the form, with a file name")
}

/// Lists the caller's files.
pub(super) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<FileRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let account = received.account()?;
    let (files, total) = app
        .engine
        .assets()
        .uploads()
        .list(account, page, limit)
        .await?;
    Ok(List {
        rows: files.into_iter().map(row).collect(),
        total,
        page,
        limit,
    })
}

/// Deletes a file.
pub(super) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0);
    app.engine
        .assets()
        .uploads()
        .drop(received.account()?, id)
        .await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}

fn row(file: UploadView) -> FileRow {
    FileRow {
        id: file.id,
        url: file.url,
        media_type: file.media_type,
        bytes: file.bytes,
        expires_at: timestamp(file.expires_ms),
    }
}
