//! A program for the tests, with a few pages: the table of all of them stands beside the service that answers.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::LazyLock;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use atelier_contract::pages::files::NewFile;
use atelier_contract::pages::jobs::JobsQuery;
use atelier_contract::pages::keys::NewKey;
use atelier_contract::pages::{
    Access, FieldsSpec, Method, Page, PageInput, PageListeners, PageOutput,
};
use atelier_contract::{Quota, Scope};
use clap::Args;

use crate::command::{Command, Group};
use crate::command_line::CommandLine;

/// Everything that can be called: the families and the pages below.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::of(&pages()));
    &CATALOGUE
}

/// The command line of a program that has no commands of its own.
pub(crate) const COMMAND_LINE: CommandLine = CommandLine::new::<Start>(&[], catalogue);

/// Does nothing.
#[derive(Args)]
struct Start {}

impl Command for Start {
    const NAME: &str = "start";
    const GROUP: Group = Group::Service;
    const EXAMPLES: &str = "atelier start";

    fn run(self) -> Result<ExitCode> {
        Ok(ExitCode::SUCCESS)
    }
}

const ACCOUNT: Access = Access::Caller(Scope::Account);
const READ: Access = Access::Caller(Scope::Read);
const SUBMIT: Access = Access::Caller(Scope::Submit);

fn pages() -> Vec<Page<()>> {
    let new_key = takes_body(FieldsSpec::body::<NewKey>());
    let prices = takes_body(FieldsSpec::body::<BTreeMap<String, Quota>>());
    let jobs = PageInput {
        query: Some(FieldsSpec::query::<JobsQuery>()),
        ..PageInput::NOTHING
    };
    let file = PageInput {
        form: Some(FieldsSpec::body::<NewFile>().schema),
        ..PageInput::NOTHING
    };
    vec![
        page(&[Method::Get], "jobs.list", "/jobs/v1", READ, jobs),
        page(&[Method::Post], "files.upload", "/files/v1", SUBMIT, file),
        page(
            &[Method::Post],
            "account.keys.issue",
            "/account/v1/keys",
            ACCOUNT,
            new_key,
        ),
        page(
            &[Method::Delete],
            "admin.keys.revoke",
            "/admin/v1/accounts/{id}/keys/{keyId}",
            Access::Operator,
            PageInput::NOTHING,
        ),
        page(
            &[Method::Put],
            "admin.prices.change",
            "/admin/v1/prices",
            Access::Operator,
            prices,
        ),
    ]
}

fn takes_body(fields: FieldsSpec) -> PageInput {
    PageInput {
        body: Some(fields),
        ..PageInput::NOTHING
    }
}

fn page(
    methods: &'static [Method],
    name: &'static str,
    path: &'static str,
    access: Access,
    takes: PageInput,
) -> Page<()> {
    Page {
        methods,
        path,
        name,
        access,
        summary: "A page for tests.",
        example: None,
        door: PageListeners::Main,
        idempotent: false,
        own_names: false,
        takes,
        gives: PageOutput::Json(FieldsSpec::body::<NewKey>().schema),
        handler: (),
    }
}
