//! Nouns and verbs for the pages of the service: `atelier keys issue`. What a noun can do is what the table of pages has
//! below its name; a new page is a new verb.

use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::SHORTCUTS;
use atelier_contract::catalogue::{ApiOperation, Catalogue, ResponseKind};
use clap::{ArgMatches, Args as _, FromArgMatches as _};

use super::client_options::{self, ClientOptions};
use super::operation_command::{OperationCommand, can_be_called};
use crate::command::{Group, block_on, examples};

/// A word for a part of the interface.
pub(crate) struct Noun {
    pub(crate) word: &'static str,
    pub(crate) group: Group,
    about: &'static str,
    /// What the names of its operations begin with.
    prefix: &'static str,
    /// Columns of its lists.
    columns: &'static [&'static str],
    examples: &'static str,
}

/// A word for one operation.
pub(crate) struct SingleCommand {
    pub(crate) word: &'static str,
    pub(crate) group: Group,
    operation: &'static str,
    fields: &'static [&'static str],
    columns: &'static [&'static str],
}

const JOB: &[&str] = &[
    "jobId",
    "operation",
    "status",
    "progress",
    "quota",
    "createdAt",
    "message",
];
const LEDGER: &[&str] = &[
    "time",
    "kind",
    "amount",
    "balance",
    "freezeBalance",
    "jobId",
    "reason",
];
const KEY: &[&str] = &["id", "name", "prefix", "scopes", "lastUsedAt", "expiresAt"];
const CALLBACK: &[&str] = &[
    "id",
    "jobId",
    "status",
    "attempts",
    "lastStatus",
    "lastError",
    "url",
];
const FILE: &[&str] = &["id", "type", "bytes", "expiresAt", "url"];
const ACCOUNT: &[&str] = &[
    "id",
    "email",
    "balance",
    "freeze_balance",
    "max_queue",
    "stored_bytes",
    "disabled",
];
const PLAN: &[&str] = &["name", "every", "quota", "rollover_cap", "group", "then"];
const PRODUCT: &[&str] = &["name", "money", "currency", "quota", "plan", "credit_days"];
const PAYMENT: &[&str] = &[
    "id",
    "account_id",
    "state",
    "product",
    "provider",
    "money",
    "currency",
    "created_at",
];
const OWN_PAYMENT: &[&str] = &["id", "state", "product", "money", "currency", "payAt"];
const RECEIPT: &[&str] = &["number", "time", "job", "operation", "quota"];
const VOUCHER: &[&str] = &[
    "id",
    "note",
    "amount",
    "count",
    "redeemed",
    "expires",
    "revoked_at",
];
const BACKEND: &[&str] = &["id", "name", "vendor", "rank", "enabled", "base_url"];
const WORKER: &[&str] = &["id", "name", "state", "concurrency", "per_minute"];
const CUSTODY: &[&str] = &[
    "id",
    "name",
    "vendor",
    "state",
    "concurrency",
    "address",
    "about",
];
const OPERATOR: &[&str] = &["id", "name", "role", "createdAt", "lastUsedAt", "revokedAt"];

#[rustfmt::skip]
pub(crate) const NOUNS: &[Noun] = &[
    Noun { word: "jobs", group: Group::Jobs, about: "Your jobs: list, show, cancel", prefix: "jobs", columns: JOB,
        examples: "atelier jobs list status=failed limit=5\natelier jobs show 0199…" },
    Noun { word: "keys", group: Group::Account, about: "Your API keys: list, issue, limit, rotate, revoke", prefix: "account.keys", columns: KEY,
        examples: "atelier keys issue name=laptop scopes=submit,read\natelier keys change ID maxQueue=5 models=image-*\natelier keys rotate ID overlapSeconds=3600\natelier keys revoke ID" },
    Noun { word: "custody", group: Group::Account, about: "Your own worker accounts at vendors", prefix: "custody.accounts", columns: CUSTODY,
        examples: "atelier custody create vendor=relay base_url=https://media.example.com credential=@key.txt" },
    Noun { word: "buy", group: Group::Account, about: "Your payments: begin one, list, look", prefix: "account.payments", columns: OWN_PAYMENT,
        examples: "atelier buy create product=hundred\natelier buy show ID" },
    Noun { word: "receipts", group: Group::Account, about: "Signed receipts of your jobs", prefix: "account.receipts", columns: RECEIPT,
        examples: "atelier receipts list\natelier receipts show JOB --json | jq -r .signed > receipt.jws" },
    Noun { word: "files", group: Group::Account, about: "Uploads for use in later calls", prefix: "files", columns: FILE,
        examples: "atelier files upload picture.png" },
    Noun { word: "accounts", group: Group::Operate, about: "Accounts: list, create, change", prefix: "admin.accounts", columns: ACCOUNT,
        examples: "atelier accounts create email=someone@example.com balance=100\natelier accounts change ID max_queue=50 submits_per_second=50 share_percent=25\natelier accounts credit ID amount=50 expires=2027-01-31" },
    Noun { word: "plans", group: Group::Operate, about: "Plans: recurring quota", prefix: "admin.plans", columns: PLAN,
        examples: "atelier plans create name=studio every=month quota=1000\natelier accounts plan-assign ACCOUNT plan=studio" },
    Noun { word: "products", group: Group::Operate, about: "What accounts can buy", prefix: "admin.products", columns: PRODUCT,
        examples: "atelier products create name=hundred money=990 currency=EUR quota=100\natelier products change hundred money=1190" },
    Noun { word: "payments", group: Group::Operate, about: "Payments: list, confirm, refund, what does not fit", prefix: "admin.payments", columns: PAYMENT,
        examples: "atelier payments list state=mismatch\natelier payments confirm ID\natelier payments refund ID money=500" },
    Noun { word: "vouchers", group: Group::Operate, about: "Codes worth quota: create, list, revoke", prefix: "admin.vouchers", columns: VOUCHER,
        examples: "atelier vouchers create count=100 amount=50 credit_days=90 expires=2030-01-01\natelier vouchers revoke ID" },
    Noun { word: "account-keys", group: Group::Operate, about: "Keys of an account: list, issue, limit, rotate, revoke", prefix: "admin.keys", columns: KEY,
        examples: "atelier account-keys issue ACCOUNT name=second" },
    Noun { word: "prices", group: Group::Operate, about: "Prices: show, change", prefix: "admin.prices", columns: &[],
        examples: "atelier prices\natelier prices change artgen.imagine.fast=8" },
    Noun { word: "workers", group: Group::Operate, about: "Worker accounts of a back end", prefix: "admin.workers", columns: WORKER,
        examples: "atelier workers change BACKEND ACCOUNT state=draining" },
    Noun { word: "operators", group: Group::Operate, about: "Operators and viewers: list, create, revoke", prefix: "admin.operators", columns: OPERATOR,
        examples: "atelier operators create name=night-shift role=viewer" },
];

/// Every word for one operation.
#[rustfmt::skip]
pub(crate) const SINGLES: &[SingleCommand] = &[
    SingleCommand { word: "cancel", group: Group::Jobs, operation: "jobs.cancel", fields: &[], columns: JOB },
    SingleCommand { word: "ledger", group: Group::Account, operation: "account.ledger", fields: &[], columns: LEDGER },
    SingleCommand { word: "credits", group: Group::Account, operation: "account.credits", fields: &[], columns: &[] },
    SingleCommand { word: "redeem", group: Group::Account, operation: "account.vouchers.redeem", fields: &["code"], columns: &[] },
    SingleCommand { word: "plan", group: Group::Account, operation: "account.plan", fields: &[], columns: &[] },
    SingleCommand { word: "offers", group: Group::Account, operation: "account.products", fields: &[], columns: &[] },
    SingleCommand { word: "usage", group: Group::Account, operation: "account.usage", fields: &[], columns: &[] },
    SingleCommand { word: "credit", group: Group::Operate, operation: "admin.accounts.credit", fields: &["amount"], columns: ACCOUNT },
    SingleCommand { word: "nodes", group: Group::Operate, operation: "admin.nodes", fields: &[], columns: &[] },
    SingleCommand { word: "stats", group: Group::Operate, operation: "admin.stats", fields: &[], columns: &[] },
];

impl Noun {
    /// The columns of the account's own callbacks, which have a command of their own.
    pub(crate) const CALLBACKS: Self = Self {
        word: "callbacks",
        group: Group::Account,
        about: "Callbacks: list, redeliver, listen here",
        prefix: "account.callbacks",
        columns: CALLBACK,
        examples: "atelier callbacks list\natelier callbacks redeliver ID\natelier callbacks listen --port 9000",
    };

    /// The back ends, which have a command of their own.
    pub(crate) const BACKENDS: Self = Self {
        word: "backends",
        group: Group::Operate,
        about: "Back ends: list, create, change, probe, verify",
        prefix: "admin.backends",
        columns: BACKEND,
        examples: "atelier backends probe ID\natelier backends change ID enabled=false\natelier backends verify --spend 1",
    };

    /// Its verbs with their operations.
    fn verbs(&self, catalogue: &'static Catalogue) -> Vec<(String, &'static ApiOperation)> {
        let below = |operation: &&ApiOperation| {
            let rest = operation.name.strip_prefix(self.prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                && can_be_called(operation)
        };
        let all = catalogue.operations.iter().filter(below);
        all.map(|operation| {
            let rest = operation.name[self.prefix.len()..].trim_start_matches('.');
            let verb = match rest {
                "" if is_list(operation) => "list".to_owned(),
                "" => "show".to_owned(),
                rest => rest.replace(['.', '_'], "-"),
            };
            (verb, operation)
        })
        .collect()
    }

    /// Whether the tables have anything for it.
    pub(crate) fn is_there(&self, catalogue: &'static Catalogue) -> bool {
        !self.verbs(catalogue).is_empty()
    }

    pub(crate) fn words(&self, catalogue: &'static Catalogue) -> clap::Command {
        let mut command = ClientOptions::augment_args(clap::Command::new(self.word))
            .about(self.about)
            .after_help(examples(self.examples));
        for (verb, operation) in self.verbs(catalogue) {
            let whole = format!("atelier {} {verb}", self.word);
            let spoken = self.operation_command(catalogue, operation);
            command = command.subcommand(spoken.words(&verb, &whole));
        }
        command
    }

    /// Does what a verb says; without one, what the noun itself stands for.
    pub(crate) fn run(
        &self,
        catalogue: &'static Catalogue,
        matches: &ArgMatches,
    ) -> Result<ExitCode> {
        let client_options = ClientOptions::from_arg_matches(matches)?;
        let verbs = self.verbs(catalogue);
        let (verb, inner) = matches.subcommand().unwrap_or(("list", matches));
        let found = verbs.iter().find(|(word, _)| word == verb);
        let found = found.or_else(|| verbs.first());
        match found {
            Some((_, operation)) => block_on(
                self.operation_command(catalogue, operation)
                    .run(&client_options, inner),
            ),
            None => Ok(ExitCode::SUCCESS),
        }
    }

    fn operation_command(
        &self,
        catalogue: &'static Catalogue,
        operation: &'static ApiOperation,
    ) -> OperationCommand<'static> {
        OperationCommand {
            catalogue,
            operation: &operation.name,
            fields: &[],
            columns: if is_list(operation) {
                self.columns
            } else {
                &[]
            },
            short: false,
        }
    }
}

impl SingleCommand {
    fn operation_command(&self, catalogue: &'static Catalogue) -> OperationCommand<'static> {
        OperationCommand {
            catalogue,
            operation: self.operation,
            fields: self.fields,
            columns: self.columns,
            short: false,
        }
    }

    pub(crate) fn words(&self, catalogue: &'static Catalogue) -> clap::Command {
        let command = self
            .operation_command(catalogue)
            .words(self.word, &format!("atelier {}", self.word));
        client_options::add_options::<ClientOptions>(command)
    }

    pub(crate) fn run(
        &self,
        catalogue: &'static Catalogue,
        matches: &ArgMatches,
    ) -> Result<ExitCode> {
        let client_options = ClientOptions::from_arg_matches(matches)?;
        block_on(
            self.operation_command(catalogue)
                .run(&client_options, matches),
        )
    }
}

/// Whether an operation answers with rows.
fn is_list(operation: &ApiOperation) -> bool {
    match &operation.answer {
        ResponseKind::Json(schema) => schema["properties"]["data"]["type"] == "array",
        _ => false,
    }
}

/// The short forms, from the contract's table.
pub(crate) fn shortcuts(
    catalogue: &'static Catalogue,
) -> impl Iterator<Item = (&'static str, OperationCommand<'static>, String)> {
    SHORTCUTS.iter().map(move |short| {
        let operation_command = OperationCommand {
            catalogue,
            operation: short.operation,
            fields: short.fields,
            columns: &[],
            short: true,
        };
        (
            short.word,
            operation_command,
            format!("atelier {} {}", short.word, short.example),
        )
    })
}

/// The operation that a path of commands stands for, as `keys issue`.
pub(crate) fn operation_of(catalogue: &'static Catalogue, path: &[&str]) -> Option<String> {
    match path {
        ["call", name] => Some((*name).to_owned()),
        [word] => {
            let mut singles = SINGLES.iter().map(|single| (single.word, single.operation));
            let short = SHORTCUTS.iter().map(|short| (short.word, short.operation));
            let found = singles.by_ref().chain(short).find(|(one, _)| one == word);
            found.map(|(_, operation)| operation.to_owned())
        }
        [word, verb] => {
            let noun = NOUNS
                .iter()
                .chain([&Noun::CALLBACKS])
                .find(|noun| noun.word == *word)?;
            let verbs = noun.verbs(catalogue);
            let found = verbs.iter().find(|(one, _)| one == verb);
            found.map(|(_, operation)| operation.name.clone())
        }
        _ => None,
    }
}
