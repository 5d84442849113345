//! `atelier account`: who one is, what is left and what was used.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use atelier_contract::catalogue::Catalogue;
use clap::Args;
use serde_json::{Value, json};

use super::client_options::ClientOptions;
use super::output;
use crate::client::ApiRequest;
use crate::command::{ClientCommand, Group, block_on};
use crate::terminal::{screen, table};

/// Shows the account: who it is, its balance and its usage.
#[derive(Args)]
pub(super) struct Account {
    #[command(flatten)]
    client_options: ClientOptions,
}

impl ClientCommand for Account {
    const NAME: &str = "account";
    const GROUP: Group = Group::Account;
    const EXAMPLES: &str = "atelier account\natelier account --json | jq .account.balance";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        block_on(self.show(catalogue))
    }
}

impl Account {
    async fn show(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let client = self.client_options.client(catalogue)?;
        let page = catalogue
            .operations
            .iter()
            .find(|page| page.path == atelier_contract::ACCOUNT_PATH);
        let page = page.context("the service has no page about the account")?;
        let account = client
            .call(page, &ApiRequest::plain(page, page.path.clone()))
            .await?;
        let page = client.operation("account.usage")?;
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
