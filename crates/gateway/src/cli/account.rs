//! `atelier account`: who one is, what is left and what was used.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};

use super::client_options::{CATALOGUE, ClientOptions};
use super::command::{Command, Group, block_on};
use super::output;
use crate::client::{ApiRequest, find_operation};
use crate::terminal::{screen, table};

/// Who you are, what is left and what was used.
#[derive(Args)]
pub(super) struct Account {
    #[command(flatten)]
    client_options: ClientOptions,
}

impl Command for Account {
    const NAME: &str = "account";
    const GROUP: Group = Group::Account;
    const EXAMPLES: &str = "atelier account\natelier account --json | jq .account.balance";

    fn run(self) -> Result<ExitCode> {
        block_on(self.show())
    }
}

impl Account {
    async fn show(self) -> Result<ExitCode> {
        let client = self.client_options.client()?;
        let page = CATALOGUE
            .operations
            .iter()
            .find(|page| page.path == atelier_contract::ACCOUNT_PATH);
        let page = page.context("no page shows the account")?;
        let account = client
            .call(page, &ApiRequest::plain(page, page.path.clone()))
            .await?;
        let page = find_operation(&CATALOGUE, "account.usage")?;
        let usage = client
            .call(page, &ApiRequest::plain(page, page.path.clone()))
            .await?;
        let (account, usage) = (&account["data"], &usage["data"]);
        if self.client_options.json {
            output::json(&json!({ "account": account, "usage": usage }));
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(fields) = account.as_object() {
            screen::put(table::fields(fields));
        }
        let families = usage["byFamily"].as_array().cloned().unwrap_or_default();
        if !families.is_empty() {
            let text = |name: &str| usage[name].as_str().unwrap_or_default().to_owned();
            screen::say(format!("\nused from {} to {}:", text("from"), text("to")));
            screen::put(table::rows(&families, &[], None));
            let whole: &Value = &usage["quota"];
            screen::say(format!("{whole} in {} jobs", usage["jobs"]));
        }
        Ok(ExitCode::SUCCESS)
    }
}
