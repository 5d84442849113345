//! Files that callers upload to be used as inputs.

use std::sync::Arc;

use atelier_contract::Refusal;
use atelier_contract::pages::files::NewFile;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::list::ListQuery;
use atelier_engine::records::Upload;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::form::{FormFields, FormOf};
use crate::http::page::{Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::files::FileRow;

/// The field that the file comes in.
const FILE: &str = "file";

impl FormFields for NewFile {
    const FILES: &'static [&'static str] = &[FILE];
    const OR_JSON: bool = false;
}

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
        let uploads = app.engine.assets().uploads();
        let upload = uploads.keep(&account, bytes.into()).await?;
        let url = uploads.url(&upload);
        Ok::<_, Refusal>(FileRow::new(upload, url))
    };
    Ok(Data(received.admission.spend(kept).await??))
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
    let uploads = app.engine.assets().uploads();
    let (files, total) = uploads.list(account, page, limit).await?;
    let row = |file: Upload| {
        let url = uploads.url(&file);
        FileRow::new(file, url)
    };
    Ok(List {
        rows: files.into_iter().map(row).collect(),
        total,
        page,
        limit,
    })
}

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
