//! `atelier local account`: what an operator does to accounts, without a running service.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use atelier_cli::screen;
use atelier_contract::Quota;
use atelier_contract::fields::OperatorDate;
use atelier_engine::records::{Account, AccountFilter};
use atelier_engine::{CreditRequest, Engine, KeyHolder, KeyRequest, NewAccountRequest};
use clap::Subcommand;

use crate::app::{self, Addresses};
use crate::config::Config;
use crate::secrets;

/// The operator, in the audit record.
const ACTOR: &str = "command line";
/// Accounts on one page of the list.
const PAGE: i64 = 100;

#[derive(Subcommand)]
pub(super) enum AccountAction {
    /// Creates an account and prints its first key.
    Create {
        /// E-mail address.
        email: String,
        /// Initial quota.
        #[arg(long, default_value = "0", value_parser = amount)]
        balance: Quota,
        /// Maximum unfinished jobs in one queue.
        #[arg(long)]
        max_queue: Option<i64>,
    },
    /// Lists the accounts.
    List,
    /// Grants quota, or takes some away with a negative amount.
    Credit {
        /// The account's e-mail address or identifier.
        account: String,
        /// Amount of quota.
        #[arg(allow_negative_numbers = true, value_parser = amount)]
        amount: Quota,
        /// Reason, shown in the ledger.
        #[arg(long, default_value = "")]
        reason: String,
        /// Expiry: a date such as 2027-01-31 (midnight UTC), or RFC 3339.
        #[arg(long, value_parser = date)]
        expires: Option<OperatorDate>,
    },
    /// Issues another API key and prints it, for instance after one was lost.
    Key {
        /// The account's e-mail address or identifier.
        account: String,
        /// A name to tell keys apart.
        #[arg(long, default_value = "key")]
        name: String,
    },
}

fn date(text: &str) -> Result<OperatorDate, String> {
    serde_json::from_value(text.into()).map_err(|error| error.to_string())
}

fn amount(text: &str) -> Result<Quota, String> {
    Quota::parse(text)
        .ok_or_else(|| "must be a number with at most three decimal places".to_owned())
}

/// Does one thing to accounts.
pub(super) async fn run(config: Config, action: AccountAction) -> Result<ExitCode> {
    let store = app::open_store(&config).await?;
    let addresses = Addresses::new(&config, Vec::new());
    let key = secrets::master_key(&config, &store).await?;
    let engine = app::build_engine(&config, store.clone(), key, &addresses).await?;
    let done = act(&engine, action).await;
    store.close().await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn act(engine: &Arc<Engine>, action: AccountAction) -> Result<()> {
    match action {
        AccountAction::Create {
            email,
            balance,
            max_queue,
        } => {
            let request = NewAccountRequest {
                email,
                balance,
                max_queue,
                email_verified: true,
            };
            let (account, key) = engine
                .admin()
                .accounts()
                .create(ACTOR, request)
                .await
                .map_err(|refusal| anyhow!(refusal))?;
            screen::say(format!("{}\nAPI key  {key}", line(&account)));
        }
        AccountAction::List => list(engine).await?,
        AccountAction::Credit {
            account,
            amount,
            reason,
            expires,
        } => {
            let request = CreditRequest {
                amount,
                reason,
                idempotency_key: None,
                expires_ms: expires.map(OperatorDate::ms),
            };
            let id = find(engine, &account).await?.id;
            let account = engine
                .admin()
                .credits()
                .credit(ACTOR, &id, request)
                .await
                .map_err(|refusal| anyhow!(refusal))?;
            screen::say(line(&account));
        }
        AccountAction::Key { account, name } => {
            let account = find(engine, &account).await?;
            let by = KeyHolder::Operator(ACTOR);
            let (_, key) = engine
                .admin()
                .keys()
                .issue(&account.id, KeyRequest::named(&name), by)
                .await
                .map_err(|refusal| anyhow!(refusal))?;
            screen::say(key);
        }
    }
    Ok(())
}

/// The account with an e-mail address, in any case, or an identifier.
async fn find(engine: &Arc<Engine>, wanted: &str) -> Result<Account> {
    let filter = AccountFilter {
        text: wanted.to_owned(),
        ..AccountFilter::default()
    };
    let accounts = engine.admin().accounts();
    let found = accounts.list(&filter, 1, PAGE).await;
    let (found, _) = found.map_err(|refusal| anyhow!(refusal))?;
    let is_wanted =
        |one: &Account| *one.id == *wanted || one.email.to_lowercase() == wanted.to_lowercase();
    found.into_iter().find(is_wanted).ok_or_else(|| {
        anyhow!("there is no account {wanted}; `atelier local account list` shows all")
    })
}

async fn list(engine: &Arc<Engine>) -> Result<()> {
    for page in 1.. {
        let (accounts, _) = engine
            .admin()
            .accounts()
            .list(&AccountFilter::default(), page, PAGE)
            .await
            .map_err(|refusal| anyhow!(refusal))?;
        for account in &accounts {
            screen::say(line(account));
        }
        if (accounts.len() as i64) < PAGE {
            break;
        }
    }
    Ok(())
}

fn line(account: &Account) -> String {
    let disabled = if account.disabled { "  disabled" } else { "" };
    format!(
        "{}  {}  balance {}  reserved {}{disabled}",
        account.id, account.email, account.balance, account.frozen
    )
}
