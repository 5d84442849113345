//! `atelier export`: rows, statements and archives as files, written as they come.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::{Args, Subcommand};

use super::client_options::ClientOptions;
use crate::client::fault::{ExitReason, Fault};
use crate::client::{FieldArg, build_request};
use crate::command::{ClientCommand, Group, block_on};
use crate::terminal::screen;

/// Takes jobs, ledger rows, usage, statements or everything about an account as a file.
#[derive(Args)]
pub(super) struct ExportCommand {
    #[command(flatten)]
    client_options: ClientOptions,
    #[command(subcommand)]
    what: ExportedThing,
}

#[derive(Subcommand)]
enum ExportedThing {
    /// A row for each job.
    Jobs(RowsWish),
    /// Every movement of quota.
    Ledger(RowsWish),
    /// What was consumed in each hour by key, member, model and operation.
    Usage(RowsWish),
    /// The statement of a month, such as 2026-10: a table, or with `format=html` a page to be printed.
    Statement(StatementWish),
    /// Everything about the account as a ZIP file.
    Archive(FileWish),
}

#[derive(Args)]
struct RowsWish {
    /// Filters and the format: `from=2026-10-01`, `model=image-1`, `tag=project:a`, `format=jsonl`.
    #[arg(value_name = "FIELD=VALUE")]
    fields: Vec<String>,
    /// Of all accounts; for operators.
    #[arg(long, conflicts_with = "account")]
    all: bool,
    #[command(flatten)]
    file: FileWish,
}

#[derive(Args)]
struct StatementWish {
    /// The month, such as 2026-10.
    month: String,
    /// `format=html` for a page to be printed, `language=de` for its language.
    #[arg(value_name = "FIELD=VALUE")]
    fields: Vec<String>,
    #[command(flatten)]
    file: FileWish,
}

#[derive(Args)]
struct FileWish {
    /// The account; for operators.
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// The file to write; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl ClientCommand for ExportCommand {
    const NAME: &str = "export";
    const GROUP: Group = Group::Account;
    const EXAMPLES: &str = "\
atelier export ledger from=2026-10-01 to=2026-11-01 --out october.csv
atelier export jobs format=jsonl tag=project:a | jq .quota
atelier export usage --all --out usage.csv
atelier export statement 2026-10 format=html language=de --out october.html
atelier export archive --out account.zip";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        block_on(self.take(catalogue))
    }
}

impl ExportCommand {
    async fn take(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let client = self.client_options.client(catalogue)?;
        let (operation, mut fields, file) = self.what.call()?;
        if let Some(account) = &file.account {
            fields.push(FieldArg::text("id", account));
        }
        let operation = client.operation(&operation)?;
        let no_files = async |_| {
            Err(Fault::new(
                ExitReason::Usage,
                "an export takes no files".to_owned(),
            ))
        };
        let asked = build_request(catalogue, operation, &fields, 0, no_files).await?;
        let mut answer = client.open(operation, &asked).await?;
        let Some(path) = &file.out else {
            let mut out = io::stdout().lock();
            while let Some(piece) = next(&mut answer).await? {
                out.write_all(&piece)?;
            }
            out.flush()?;
            return Ok(ExitCode::SUCCESS);
        };
        // It has its name only once it is whole.
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let written = save(&mut answer, &part).await;
        if let Err(fault) = written {
            let _ = std::fs::remove_file(&part);
            return Err(fault.into());
        }
        std::fs::rename(&part, path)?;
        if !self.client_options.quiet {
            screen::note(path.display().to_string());
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ExportedThing {
    /// The operation with the fields that it is called with, and where the file goes.
    fn call(self) -> Result<(String, Vec<FieldArg>, FileWish), Fault> {
        let of = |file: &FileWish, all: bool, what: &str| match (&file.account, all) {
            (Some(_), _) => format!("admin.accounts.{what}"),
            (None, true) => format!("admin.{what}"),
            (None, false) => format!("account.{what}"),
        };
        let read = |fields: &[String]| -> Result<Vec<FieldArg>, Fault> {
            fields.iter().map(|field| FieldArg::read(field)).collect()
        };
        Ok(match self {
            Self::Jobs(wish) => (
                of(&wish.file, wish.all, "exports.jobs"),
                read(&wish.fields)?,
                wish.file,
            ),
            Self::Ledger(wish) => (
                of(&wish.file, wish.all, "exports.ledger"),
                read(&wish.fields)?,
                wish.file,
            ),
            Self::Usage(wish) => (
                of(&wish.file, wish.all, "exports.usage"),
                read(&wish.fields)?,
                wish.file,
            ),
            Self::Statement(wish) => {
                let mut fields = read(&wish.fields)?;
                fields.push(FieldArg::text("month", &wish.month));
                (of(&wish.file, false, "statements.show"), fields, wish.file)
            }
            Self::Archive(file) => (of(&file, false, "archive"), Vec::new(), file),
        })
    }
}

/// The next bytes of an answer.
async fn next(answer: &mut reqwest::Response) -> Result<Option<bytes::Bytes>, Fault> {
    let broken = "the export broke off; what came is not whole, take it again".to_owned();
    let piece = answer.chunk().await;
    piece.map_err(|_| Fault::new(ExitReason::Unavailable, broken))
}

async fn save(answer: &mut reqwest::Response, part: &std::path::Path) -> Result<(), Fault> {
    let wrong =
        |error: io::Error| Fault::new(ExitReason::Other, format!("{}: {error}", part.display()));
    let mut file = std::fs::File::create(part).map_err(wrong)?;
    while let Some(piece) = next(answer).await? {
        file.write_all(&piece).map_err(wrong)?;
    }
    file.sync_all().map_err(wrong)
}
