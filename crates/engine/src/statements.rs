//! Statements: made once for an account and a month, when they are first asked for or when an operator closes the month, and the same
//! bytes ever after.

mod closing;
mod compute;
mod error;
mod making;
mod page;
mod words;

use std::path::Path;
use std::sync::Arc;

use atelier_contract::month::Month;
use atelier_contract::pages::statements::{Issuer, Language, StatementRecord};
use atelier_contract::{Code, Refusal, hex};
use atelier_store::{
    Account, BookRow, CloseTally, MonthClose, Statement, StatementLogo, StatementPage,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::context::{Context, unavailable};
use crate::settings::StatementSettings;

pub use closing::close_before;
pub use compute::StatementIssuer;
pub use error::StatementError;
use making::{SETTLED_MS, make};

/// A logo has so many bytes at most.
const LOGO_MOST: u64 = 256 * 1024;

/// A logo that cannot be shown.
#[derive(Debug, thiserror::Error)]
#[error("statements.logo {path}: {why}")]
pub struct LogoError {
    path: String,
    why: String,
}

impl StatementIssuer {
    /// Who statements are from, as the settings say, with the logo read from its file.
    pub fn read(settings: &StatementSettings, quota_usd: f64) -> Result<Self, LogoError> {
        let logo = if settings.logo.as_os_str().is_empty() {
            None
        } else {
            Some(read_logo(&settings.logo).map_err(|why| LogoError {
                path: settings.logo.display().to_string(),
                why,
            })?)
        };
        Ok(Self {
            issuer: Issuer {
                name: settings.name.clone(),
                address: settings.address.clone(),
                tax_line: settings.tax_line.clone(),
                logo: logo.as_ref().map(|logo| logo.hash.clone()),
            },
            logo,
            quota_usd,
        })
    }
}

fn read_logo(path: &Path) -> Result<StatementLogo, String> {
    let size = std::fs::metadata(path)
        .map_err(|error| error.to_string())?
        .len();
    if size > LOGO_MOST {
        return Err(format!("must have at most {LOGO_MOST} bytes, has {size}"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let media_type = match &bytes[..] {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        text if std::str::from_utf8(text).is_ok_and(|text| text.contains("<svg")) => {
            "image/svg+xml"
        }
        _ => return Err("must be a PNG, JPEG, WebP or SVG picture".to_owned()),
    };
    Ok(StatementLogo {
        hash: hex(&Sha256::digest(&bytes)),
        media_type: media_type.to_owned(),
        content: STANDARD.encode(&bytes),
    })
}

/// Makes statements, shows them, and closes months.
pub struct Statements {
    context: Arc<Context>,
    issuer: StatementIssuer,
}

impl Statements {
    pub(crate) fn new(context: Arc<Context>) -> Self {
        let settings = context.settings();
        let issuer = StatementIssuer::read(&settings.statements, settings.prices.quota_usd);
        // Whoever starts a service has looked at it before.
        let issuer = issuer.unwrap_or_else(|error| {
            tracing::error!(%error, "statements are made without a logo");
            let settings = StatementSettings {
                logo: Path::new("").to_owned(),
                ..settings.statements.clone()
            };
            StatementIssuer::read(&settings, context.settings().prices.quota_usd)
                .unwrap_or_default()
        });
        Self { context, issuer }
    }

    /// The months of an account that are over, the latest first, with the statements that are there; and how many there are.
    pub async fn list(
        &self,
        account: &Account,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<(Month, Option<Statement>)>, i64), Refusal> {
        let last = self.last_month();
        let first = Month::at(account.created_ms).number();
        let total = (last.number() - first + 1).max(0);
        let skipped = (page - 1).max(0).saturating_mul(limit);
        let newest = last.number().saturating_sub(skipped);
        let oldest = (newest - limit + 1).max(first);
        let statements = self.context.store().ledger().statements();
        let found = statements.of_account(&account.id, oldest, newest).await;
        let mut found = found.map_err(unavailable)?.into_iter().peekable();
        let months = (oldest..=newest).rev().map(|month| {
            let statement = found.next_if(|statement| statement.month == month);
            (Month::from_number(month), statement)
        });
        Ok((months.collect(), total))
    }

    /// The statement of an account for a month; made if it is not there.
    pub async fn statement(&self, account: &Account, month: Month) -> Result<Statement, Refusal> {
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let made = make(store, &self.issuer, account, month, now_ms).await;
        made.map_err(|error| {
            if let StatementError::Apart { .. } = &error {
                tracing::error!(%error, "a statement is refused");
            }
            error.refusal()
        })
    }

    /// The page of a statement in a language; made if it is not there.
    pub async fn page(
        &self,
        account: &Account,
        month: Month,
        language: Language,
    ) -> Result<StatementPage, Refusal> {
        let statements = self.context.store().ledger().statements();
        let (account_id, number) = (account.id.as_str(), month.number());
        let known = statements.page(account_id, number, language.word()).await;
        if let Some(known) = known.map_err(unavailable)? {
            return self.with_logo(account, month, known).await;
        }
        let statement = self.statement(account, month).await?;
        let record = record_of(&statement)?;
        let html = page::render(&record, &statement.hash, language);
        let logo = self.logo(&record).await?;
        let hash = hex(&Sha256::digest(put_logo(&html, logo.as_ref()).as_bytes()));
        let page = StatementPage { html, hash };
        let now_ms = self.context.now_ms();
        let kept = statements.add_page(&statement, language.word(), page, now_ms);
        let kept = kept.await.map_err(unavailable)?;
        Ok(StatementPage {
            html: put_logo(&kept.html, logo.as_ref()),
            hash: kept.hash,
        })
    }

    async fn with_logo(
        &self,
        account: &Account,
        month: Month,
        page: StatementPage,
    ) -> Result<StatementPage, Refusal> {
        if !page.html.contains(page::LOGO) {
            return Ok(page);
        }
        let statement = self.statement(account, month).await?;
        let logo = self.logo(&record_of(&statement)?).await?;
        Ok(StatementPage {
            html: put_logo(&page.html, logo.as_ref()),
            hash: page.hash,
        })
    }

    async fn logo(&self, record: &StatementRecord) -> Result<Option<StatementLogo>, Refusal> {
        let Some(hash) = &record.issuer.logo else {
            return Ok(None);
        };
        let logo = self.context.store().ledger().statements().logo(hash).await;
        logo.map_err(unavailable)
    }

    /// Has a month be closed for all accounts.
    pub async fn close(&self, by: &str, month: Month) -> Result<(), Refusal> {
        closing::begin(&self.context, by, month).await
    }

    /// Goes on with months that are being closed; whether there may be more to do.
    pub async fn step(&self) -> Result<bool, atelier_store::Error> {
        closing::step(&self.context, &self.issuer).await
    }

    /// The months since the first account that are over, the latest first, with how far they are closed; and how many there are.
    pub async fn months(
        &self,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<(Month, CloseTally, Option<MonthClose>)>, i64), Refusal> {
        closing::months(&self.context, self.last_month(), page, limit).await
    }

    /// How far a month is closed.
    pub async fn month(&self, month: Month) -> Result<(CloseTally, Option<MonthClose>), Refusal> {
        closing::month(&self.context, month).await
    }

    /// The books of accounts in a month, in a state or in any.
    pub async fn books(
        &self,
        month: Month,
        state: Option<&str>,
        page: i64,
        limit: i64,
    ) -> Result<(Vec<BookRow>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let statements = self.context.store().ledger().statements();
        let found = statements.books(month, state, offset, limit).await;
        found.map_err(unavailable)
    }

    /// The latest month that is over.
    fn last_month(&self) -> Month {
        Month::at(self.context.now_ms() - SETTLED_MS).previous()
    }
}

fn record_of(statement: &Statement) -> Result<StatementRecord, Refusal> {
    serde_json::from_str(&statement.record).map_err(|error| {
        tracing::error!(%error, "a statement cannot be read");
        Refusal::new(
            Code::Internal,
            "the statement cannot be read; tell the operator",
        )
    })
}

/// A page with its logo in it.
pub(crate) fn put_logo(html: &str, logo: Option<&StatementLogo>) -> String {
    let Some(logo) = logo else {
        return html.to_owned();
    };
    let image = format!(
        "<img src=\"data:{};base64,{}\"",
        logo.media_type, logo.content
    );
    html.replacen(page::LOGO, &image, 1)
}
