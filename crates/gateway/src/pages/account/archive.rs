//! Everything about an account as one ZIP file, which is made while it is sent: no more of it than a piece is in memory.

mod zip_stream;

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use atelier_contract::month::Month;
use atelier_contract::pages::exports::{ExportFormat, ExportKind};
use atelier_contract::pages::jobs::{JobCursor, JobView};
use atelier_contract::pages::statements::Language;
use atelier_contract::time::timestamp;
use atelier_contract::{AccountId, Code, Job, Refusal};
use atelier_engine::records::{Account, PaymentFilter, Period, SpenderFilter};
use atelier_engine::{Asset, Caller, ExportRequest, NoticeList, NoticeOwner};
use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::http::admission;
use crate::http::denial::Denial;
use crate::http::page::ZipFile;
use crate::http::reply;
use crate::http::request::IncomingRequest;
use crate::pages::account::keys;
use crate::pages::rows::audit::AccountAct;
use crate::pages::rows::callbacks::CallbackRow;
use crate::pages::rows::credits::credits_view;
use crate::pages::rows::notices::{sent_notice, subscription_row};
use crate::pages::rows::payments::payment_view;
use crate::pages::rows::statements::statement_row;
use zip_stream::{ZipError, ZipStream};

const TOO_MANY: &str = "too many exports of this account at once; take one after the other";
/// Rows of a list that are read at once.
const PAGE: i64 = 100;
const ABOUT: &str = "Everything that this service keeps about the account.\n\n\
account.json, plan.json, credits.json   what the account is and has\n\
keys.json                               its keys, without their secrets\n\
jobs.jsonl                              every job with its request and result, a JSON object on each line\n\
ledger.csv, usage.csv                   every movement of quota; what was consumed by hour\n\
statements.json, statements/            the statements that were made\n\
payments.jsonl, receipts.jsonl          what was bought; signed receipts of jobs\n\
callbacks.jsonl, acts.jsonl             callbacks; what was done with the account's keys\n\
notices.jsonl, subscriptions.json       what the account was told, and where\n\
hosted_accounts.json                    its own accounts at vendors, without credentials\n\
uploads.jsonl, files/                   the files that are kept: uploads, and results by their job\n";

/// Everything about the caller's account. A key that another one made sees less than that.
pub(crate) async fn own(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<ZipFile, Denial> {
    let caller = received.caller()?.clone();
    if caller.key_above.is_some() {
        let message = "this call needs a key of the account itself, not one that another key made";
        return Err(Refusal::new(Code::Forbidden, message).into());
    }
    let account = app
        .engine
        .admin()
        .accounts()
        .own(&caller.account_id)
        .await?;
    send(&app, &received, account, Some(caller))
}

/// Everything about an account, for an operator.
pub(crate) async fn of_account(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<ZipFile, Denial> {
    let id = received.account_param(0);
    let account = app.engine.admin().accounts().one(&id);
    send(&app, &received, account.await?, None)
}

fn send(
    app: &Arc<App>,
    received: &IncomingRequest,
    account: Account,
    caller: Option<Caller>,
) -> Result<ZipFile, Denial> {
    let place = app.exports.try_take(received.admission.holder(), 1);
    let place = place.map_err(|full| admission::capacity_denial(full, TOO_MANY))?;
    let now = timestamp(app.engine.now_ms());
    let name = format!("account-{}.zip", &now[..10]);
    let app = Arc::clone(app);
    let flow = zip_stream::flow(&now, async move |zip| {
        let _place = place;
        let mut writer = ArchiveWriter {
            app,
            account,
            caller,
            zip,
        };
        writer.write().await
    });
    Ok(ZipFile(reply::download("application/zip", &name, flow)))
}

/// An archive that is being written.
struct ArchiveWriter {
    app: Arc<App>,
    account: Account,
    /// Whose key it is, if a key is what it was asked for with.
    caller: Option<Caller>,
    zip: ZipStream,
}

impl ArchiveWriter {
    async fn write(&mut self) -> Result<(), ZipError> {
        self.zip.begin("README.txt", true)?;
        self.zip.write(ABOUT.as_bytes()).await?;
        self.about().await?;
        self.table("ledger.csv", ExportKind::Ledger).await?;
        self.table("usage.csv", ExportKind::Usage).await?;
        self.statements().await?;
        self.payments().await?;
        self.receipts().await?;
        self.callbacks().await?;
        self.acts().await?;
        self.notices().await?;
        self.jobs().await?;
        self.uploads().await?;
        self.results().await?;
        self.zip.end().await
    }

    /// Whoever asked may still be answered, and the service goes on.
    async fn check(&self) -> Result<(), ZipError> {
        if self.app.stopping.is_cancelled() {
            return Err(io::Error::from(io::ErrorKind::Interrupted).into());
        }
        let callers = self.app.engine.admin().callers();
        match &self.caller {
            Some(caller) if !callers.still_known(caller).await => {
                Err(io::Error::from(io::ErrorKind::PermissionDenied).into())
            }
            _ => Ok(()),
        }
    }

    async fn json(&mut self, name: &str, value: &impl Serialize) -> Result<(), ZipError> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
        self.zip.begin(name, true)?;
        self.zip.write(text.as_bytes()).await
    }

    async fn lines(&mut self, rows: &[impl Serialize]) -> Result<(), ZipError> {
        let mut text = String::new();
        for row in rows {
            let line = serde_json::to_string(row).map_err(io::Error::other)?;
            writeln!(text, "{line}").map_err(io::Error::other)?;
        }
        self.zip.write(text.as_bytes()).await?;
        self.check().await
    }

    fn id(&self) -> AccountId {
        self.account.id.clone()
    }

    async fn about(&mut self) -> Result<(), ZipError> {
        let (app, id, one) = (Arc::clone(&self.app), self.id(), &self.account);
        let about = json!({
            "id": one.id,
            "email": one.email,
            "emailVerifiedAt": one.email_verified_ms.map(timestamp),
            "balance": one.balance,
            "freezeBalance": one.frozen,
            "maxQueue": one.max_queue,
            "storedBytes": one.stored,
            "createdAt": timestamp(one.created_ms),
        });
        self.json("account.json", &about).await?;
        let admin = app.engine.admin();
        let plan = admin.plans().of(&id).await?;
        self.json("plan.json", &plan).await?;
        let credits = admin.credits().of(&id).await?;
        self.json("credits.json", &credits_view(credits)).await?;
        let keys = keys::rows(&app, &id).await?;
        self.json("keys.json", &keys).await?;
        let hosted = admin.custody().list(&id).await?;
        self.json("hosted_accounts.json", &hosted).await
    }

    async fn table(&mut self, name: &str, kind: ExportKind) -> Result<(), ZipError> {
        let request = ExportRequest {
            kind,
            format: ExportFormat::Csv,
            account_id: Some(self.account.id.to_string()),
            is_own: true,
            of: SpenderFilter::default(),
            from_ms: None,
            to_ms: None,
        };
        let mut rows = self.app.engine.exports().open(request);
        self.zip.begin(name, true)?;
        self.zip.write(rows.header().as_bytes()).await?;
        while let Some(piece) = rows.next().await.map_err(io::Error::other)? {
            self.zip.write(piece.text.as_bytes()).await?;
            self.check().await?;
        }
        Ok(())
    }

    async fn statements(&mut self) -> Result<(), ZipError> {
        let app = Arc::clone(&self.app);
        let statements = app.engine.statements();
        let (mut page, mut listed) = (1, Vec::new());
        loop {
            let (months, total) = statements.list(&self.account, page, PAGE).await?;
            listed.extend(months.into_iter().filter(|(_, made)| made.is_some()));
            if page * PAGE >= total {
                break;
            }
            page += 1;
        }
        let months: Vec<_> = listed.iter().map(|(month, _)| *month).collect();
        let row = |(month, made): &(Month, Option<_>)| statement_row(*month, made.as_ref());
        let rows: Vec<_> = listed.iter().map(row).collect();
        self.json("statements.json", &rows).await?;
        for month in months {
            let statement = statements.statement(&self.account, month).await?;
            self.zip.begin(&format!("statements/{month}.csv"), true)?;
            self.zip.write(statement.csv.as_bytes()).await?;
            self.check().await?;
        }
        Ok(())
    }

    async fn payments(&mut self) -> Result<(), ZipError> {
        let app = Arc::clone(&self.app);
        let filter = PaymentFilter {
            account_id: Some(self.account.id.to_string()),
            state: None,
        };
        self.zip.begin("payments.jsonl", true)?;
        for page in 1.. {
            let payments = app.engine.admin().payments();
            let (rows, total) = payments.list(&filter, page, PAGE).await?;
            let rows: Vec<_> = rows.into_iter().map(payment_view).collect();
            self.lines(&rows).await?;
            if page * PAGE >= total {
                break;
            }
        }
        Ok(())
    }

    async fn receipts(&mut self) -> Result<(), ZipError> {
        let (app, id) = (Arc::clone(&self.app), self.id());
        self.zip.begin("receipts.jsonl", true)?;
        for page in 1.. {
            let receipts = app.engine.admin().receipts();
            let (rows, total) = receipts.list(&id, page, PAGE).await?;
            self.lines(&rows).await?;
            if page * PAGE >= total {
                break;
            }
        }
        Ok(())
    }

    async fn callbacks(&mut self) -> Result<(), ZipError> {
        let (app, id) = (Arc::clone(&self.app), self.id());
        self.zip.begin("callbacks.jsonl", true)?;
        for page in 1.. {
            let (rows, total) = app
                .engine
                .callbacks()
                .callbacks(Some(&id), page, PAGE)
                .await?;
            let rows: Vec<CallbackRow> = rows.into_iter().map(CallbackRow::from).collect();
            self.lines(&rows).await?;
            if page * PAGE >= total {
                break;
            }
        }
        Ok(())
    }

    async fn acts(&mut self) -> Result<(), ZipError> {
        let (app, id) = (Arc::clone(&self.app), self.id());
        self.zip.begin("acts.jsonl", true)?;
        for page in 1.. {
            let reports = app.engine.admin().reports();
            let (rows, total) = reports
                .account_acts(&id, Period::default(), page, PAGE)
                .await?;
            let rows: Vec<AccountAct> = rows.into_iter().map(AccountAct::from).collect();
            self.lines(&rows).await?;
            if page * PAGE >= total {
                break;
            }
        }
        Ok(())
    }

    async fn notices(&mut self) -> Result<(), ZipError> {
        let app = Arc::clone(&self.app);
        let (notices, owner) = (app.engine.notices(), NoticeOwner::of_account(self.id()));
        self.zip.begin("notices.jsonl", true)?;
        for page in 1.. {
            let asked = NoticeList {
                kind: None,
                period: Period::default(),
                language: Language::En,
                page,
                limit: PAGE,
            };
            let (rows, total) = notices.list(&owner, asked).await?;
            let rows: Vec<_> = rows
                .into_iter()
                .map(|(notice, sent)| sent_notice(notice, sent))
                .collect();
            self.lines(&rows).await?;
            if page * PAGE >= total {
                break;
            }
        }
        let subscriptions = notices.subscriptions(&owner).await?;
        let subscriptions = subscriptions.into_iter().map(subscription_row);
        self.json("subscriptions.json", &subscriptions.collect::<Vec<_>>())
            .await
    }

    async fn jobs(&mut self) -> Result<(), ZipError> {
        self.zip.begin("jobs.jsonl", true)?;
        let mut next = Some(first_job());
        while let Some(after) = next {
            let (jobs, more) = self.page_of_jobs(&after).await?;
            let rows: Vec<JobView> = jobs.iter().map(JobView::of).collect();
            self.lines(&rows).await?;
            next = more;
        }
        Ok(())
    }

    async fn page_of_jobs(
        &self,
        after: &JobCursor,
    ) -> Result<(Vec<Job>, Option<JobCursor>), Refusal> {
        let exports = self.app.engine.exports();
        exports.whole_jobs(&self.account.id, after).await
    }

    async fn uploads(&mut self) -> Result<(), ZipError> {
        let (app, id) = (Arc::clone(&self.app), self.id());
        let (mut page, mut kept) = (1, Vec::new());
        loop {
            let (some, total) = app.engine.assets().uploads().list(&id, page, PAGE).await?;
            kept.extend(some);
            if page * PAGE >= total {
                break;
            }
            page += 1;
        }
        self.zip.begin("uploads.jsonl", true)?;
        let row = |upload: &atelier_engine::records::Upload| {
            json!({
                "id": upload.id,
                "type": upload.asset.media_type,
                "bytes": upload.asset.bytes,
                "createdAt": timestamp(upload.asset.created_ms),
                "expiresAt": timestamp(upload.asset.expires_ms),
            })
        };
        let rows: Vec<_> = kept.iter().map(row).collect();
        self.lines(&rows).await?;
        for upload in kept {
            if let Some(asset) = app.engine.exports().kept_asset(&upload.asset.key).await? {
                self.file("files/uploads", &asset).await?;
            }
        }
        Ok(())
    }

    /// The files of results, by their jobs, while they are kept.
    async fn results(&mut self) -> Result<(), ZipError> {
        let app = Arc::clone(&self.app);
        let mut next = Some(first_job());
        while let Some(after) = next {
            let (jobs, more) = self.page_of_jobs(&after).await?;
            for job in &jobs {
                let output = job.output();
                for file in output.into_iter().flat_map(|output| &output.files) {
                    if let Some(asset) = app.engine.exports().kept_asset(&file.key).await? {
                        self.file(&format!("files/{}", job.id), &asset).await?;
                    }
                }
            }
            next = more;
        }
        Ok(())
    }

    /// A file as it is kept; pictures and clips are small already.
    async fn file(&mut self, folder: &str, asset: &Asset) -> Result<(), ZipError> {
        let app = Arc::clone(&self.app);
        let name = asset.key.rsplit('/').next().unwrap_or_default();
        let bytes = app.engine.assets().asset_bytes(asset, 0..asset.bytes).await;
        let mut bytes = match bytes {
            // It was swept meanwhile.
            Err(refusal) if refusal.code == Code::Expired => return Ok(()),
            bytes => bytes?,
        };
        self.zip.begin(&format!("{folder}/{name}"), false)?;
        while let Some(piece) = bytes.next().await {
            self.zip.write(&piece.map_err(io::Error::other)?).await?;
            self.check().await?;
        }
        Ok(())
    }
}

/// The place before the first job.
fn first_job() -> JobCursor {
    JobCursor {
        created_ms: 0,
        id: String::new(),
    }
}
