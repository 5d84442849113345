//! `atelier verify`: checks what the service has signed, without it.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use atelier_contract::catalogue::Catalogue;
use atelier_contract::hex;
use atelier_contract::receipts::ReceiptKeys;
use clap::{Args, Subcommand};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::client_options::ClientOptions;
use super::output;
use crate::client::fault::{ExitReason, Fault};
use crate::client::profile::Profile;
use crate::client::{ApiRequest, Client, read_text};
use crate::command::{ClientCommand, Group, block_on};
use crate::receipts::{VerifiedReceipt, chains, hashes, verify};
use crate::terminal::screen;

/// Checks what the service has signed.
#[derive(Args)]
pub(super) struct VerifyCommand {
    #[command(subcommand)]
    what: VerifyKind,
    #[command(flatten)]
    client_options: ClientOptions,
}

#[derive(Subcommand)]
enum VerifyKind {
    /// Checks receipts: their signatures, that no receipt between them is missing, and files by their hashes.
    Receipt(ReceiptArgs),
}

#[derive(Args)]
struct ReceiptArgs {
    /// Files of receipts, one on each line; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    receipts: Vec<String>,
    /// The public keys: a file, or a URL like `https://media.example.com/.well-known/atelier-receipts`. Without it, the service of the
    /// profile is asked.
    #[arg(long, value_name = "FILE|URL")]
    keys: Option<String>,
    /// A file that one of the receipts has to name.
    #[arg(long = "file", value_name = "F")]
    files: Vec<std::path::PathBuf>,
}

impl ClientCommand for VerifyCommand {
    const NAME: &str = "verify";
    const GROUP: Group = Group::Account;
    const EXAMPLES: &str = "\
atelier verify receipt receipt.jws
atelier verify receipt october.jws --keys atelier-receipts.json
atelier verify receipt receipt.jws --keys https://media.example.com/.well-known/atelier-receipts --file fox.png";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let VerifyKind::Receipt(receipt) = &self.what;
        block_on(check(receipt, &self.client_options, catalogue))
    }
}

async fn check(
    given: &ReceiptArgs,
    client_options: &ClientOptions,
    catalogue: &'static Catalogue,
) -> Result<ExitCode> {
    let keys = keys(given.keys.as_deref(), client_options, catalogue).await?;
    let (mut known, mut wrong) = (Vec::new(), Vec::new());
    for file in &given.receipts {
        let text = read_text(file)?;
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty());
        for (number, line) in lines {
            match verify(line, &keys) {
                Ok(receipt) => known.push(receipt),
                Err(why) => wrong.push(format!("{file}:{}: {why}", number + 1)),
            }
        }
    }
    if known.is_empty() && wrong.is_empty() {
        bail!(Fault::new(
            ExitReason::Usage,
            "there is no receipt in the files"
        ));
    }
    for chain in chains(&known) {
        for job in &chain.breaks {
            wrong.push(format!(
                "the receipt of job {job} does not follow from the others of account {}: some between them are missing",
                chain.account
            ));
        }
    }
    let named = hashes(&known);
    for file in &given.files {
        let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
        let hash = hex(&Sha256::digest(&bytes));
        if !named.contains(&*hash) {
            wrong.push(format!("{}: no receipt names this file", file.display()));
        }
    }
    say(&known, &wrong, client_options);
    Ok(if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(ExitReason::Other.code())
    })
}

fn say(known: &[VerifiedReceipt], wrong: &[String], client_options: &ClientOptions) {
    if client_options.json {
        let receipts: Vec<_> = known.iter().map(|one| json!(one.payload)).collect();
        output::json(&json!({ "receipts": receipts, "wrong": wrong }));
        return;
    }
    for receipt in known {
        let payload = &receipt.payload;
        screen::say(format!(
            "{} {} {} quota {} ({} files, signed by {})",
            payload.time,
            payload.job,
            payload.quota,
            payload.operation,
            payload.files.len(),
            receipt.kid
        ));
    }
    for chain in chains(known) {
        let whole = if chain.breaks.is_empty() {
            "an unbroken chain"
        } else {
            "a broken chain"
        };
        screen::say(format!(
            "account {}: {} receipts, {whole}",
            chain.account, chain.receipts
        ));
    }
    for why in wrong {
        screen::say(format!("WRONG: {why}"));
    }
}

/// The public keys, from where they are said to be.
async fn keys(
    from: Option<&str>,
    client_options: &ClientOptions,
    catalogue: &'static Catalogue,
) -> Result<ReceiptKeys> {
    let wrong = || Fault::new(ExitReason::Usage, "--keys: is no JSON Web Key Set");
    let text = match from {
        Some(url) if url.starts_with("http://") || url.starts_with("https://") => {
            let client = Client::new(Profile::default(), catalogue)?;
            let answer = client.http.get(url).send().await?.error_for_status()?;
            answer.text().await?
        }
        Some(file) => read_text(file)?,
        None => {
            let client = client_options.client(catalogue)?;
            let page = client.operation("receipts.keys")?;
            let asked = ApiRequest::plain(page, page.path.clone());
            client.call(page, &asked).await?.to_string()
        }
    };
    Ok(serde_json::from_str(&text).map_err(|_| wrong())?)
}
