//! `atelier local import`: takes over the users, keys, balances, groups, models and channels of another program. A dry run decides
//! everything as a run does, prints the same report and writes nothing.

mod accounts;
mod channels;
mod keys;
mod models;
mod report;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use atelier_engine::Engine;
use atelier_import::{Exchange, ImportSource, Program, SourceOptions, Units};
use clap::{Args, Subcommand};

use crate::app::{self, Addresses};
use crate::commands::instance_options::InstanceOptions;
use crate::secrets;
use accounts::AccountsImport;
use keys::KeysImport;
use report::ImportReport;

/// The operator, in the audit record.
const ACTOR: &str = "command line";

/// Which program, and where its data is.
#[derive(Subcommand)]
pub(super) enum ImportProgram {
    /// From a database of new-api.
    NewApi(ImportOptions),
    /// From a database of one-api.
    OneApi(ImportOptions),
    /// From a database of LiteLLM's proxy.
    Litellm(ImportOptions),
    /// From an export of midjourney-proxy: one record a line, users and accounts in one file.
    MidjourneyProxy(ImportOptions),
}

/// Where its data is, and what to make of it.
#[derive(Args)]
pub(super) struct ImportOptions {
    #[command(flatten)]
    instance: InstanceOptions,
    /// A file of SQLite or an export, or an address: postgres://…, mysql://…
    #[arg(long, value_name = "FILE|URL")]
    from: String,
    /// Decides and reports everything, and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// So many of their units are one of ours.
    #[arg(long, value_name = "N", value_parser = units)]
    quota_per_unit: Option<Units>,
    /// Writes what becomes of each row into a file, as JSON lines {table, row, action, reason}.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// A name for this source, where two databases of one program are taken over.
    #[arg(long = "as", value_name = "NAME")]
    label: Option<String>,
    /// A file with LiteLLM's salt key, by which it seals what it knows of vendors.
    #[arg(long, value_name = "FILE")]
    salt_key_file: Option<PathBuf>,
}

fn units(text: &str) -> Result<Units, String> {
    let units = Units::parse(text).filter(|units| *units > Units::ZERO);
    units.ok_or_else(|| "must be a number above 0".to_owned())
}

/// A run of an import: where it goes, and how.
struct ImportRun {
    engine: Arc<Engine>,
    /// The name under which this source is remembered.
    source: String,
    exchange: Exchange,
    dry: bool,
    /// The groups that accounts may be in.
    groups: BTreeSet<String>,
}

impl ImportRun {
    /// Whether the source has the name of its program.
    fn is_usual_name(&self) -> bool {
        Program::ALL
            .iter()
            .any(|program| program.name() == self.source)
    }
}

impl ImportProgram {
    fn parts(self) -> (Program, ImportOptions) {
        match self {
            Self::NewApi(options) => (Program::NewApi, options),
            Self::OneApi(options) => (Program::OneApi, options),
            Self::Litellm(options) => (Program::LiteLlm, options),
            Self::MidjourneyProxy(options) => (Program::MidjourneyProxy, options),
        }
    }
}

/// Takes everything over, or says what would be.
pub(super) async fn run(program: ImportProgram) -> Result<ExitCode> {
    let (program, options) = program.parts();
    let salt_key = options.salt_key_file.as_ref().map(|file| {
        let text = std::fs::read_to_string(file);
        let text = text.with_context(|| format!("--salt-key-file: {}", file.display()))?;
        anyhow::Ok(text.trim().to_owned())
    });
    let source = SourceOptions {
        from: options.from,
        salt_key: salt_key.transpose()?,
    };
    let source = ImportSource::open(program, source).await?;
    let exchange = options
        .quota_per_unit
        .unwrap_or_else(|| source.usual_exchange());
    let exchange =
        Exchange::new(exchange).ok_or_else(|| anyhow!("--quota-per-unit: must be above 0"))?;
    let label = options.label.unwrap_or_else(|| program.name().to_owned());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !(1..=40).contains(&label.len()) || !label.bytes().all(plain) {
        bail!("--as: must be 1 to 40 letters, digits, -, _ or .");
    }
    let config = options.instance.config()?;
    let store = app::open_store(&config).await?;
    let addresses = Addresses::new(&config, Vec::new());
    let key = secrets::master_key(&config, &store).await?;
    let engine = app::build_engine(&config, store.clone(), key, &addresses).await?;
    let mut run = ImportRun {
        engine,
        source: label,
        exchange,
        dry: options.dry_run,
        groups: BTreeSet::new(),
    };
    let mut report = ImportReport::open(options.report.as_deref())?;
    let done = take_over(&mut run, source, &mut report).await;
    store.close().await;
    done?;
    report.finish()?;
    Ok(ExitCode::SUCCESS)
}

async fn take_over(
    run: &mut ImportRun,
    mut source: ImportSource,
    report: &mut ImportReport,
) -> Result<()> {
    let admin = run.engine.admin();
    admin.models().load().await?;
    admin.groups().load().await?;
    run.engine.runner().workers().load().await?;
    let unit = source.unit();
    report.title(&run.source, &run.exchange.to_string(), unit);
    run.groups = models::groups(run, &mut source, report).await?;
    let run = &*run;
    let mut accounts = AccountsImport::new(run, report);
    loop {
        let page = source.accounts().await?;
        if page.is_empty() {
            break;
        }
        accounts.take(page).await?;
    }
    let (sums, taken) = accounts.finish().await?;
    let mut keys = KeysImport::new(run, report, taken);
    loop {
        let page = source.keys().await?;
        if page.is_empty() {
            break;
        }
        keys.take(page).await?;
    }
    channels::take(run, &mut source, report).await?;
    for row in source.left_out().await? {
        report.row(row)?;
    }
    report.sums(&sums, unit);
    Ok(())
}
