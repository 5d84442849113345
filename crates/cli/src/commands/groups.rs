//! `atelier groups`: groups of accounts and what they pay, with rules that are written in one word each.

use std::process::ExitCode;

use anyhow::Result;
use atelier_contract::catalogue::Catalogue;
use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use super::client_options::ClientOptions;
use super::named_call::{NamedCall, find_named};
use super::output;
use crate::client::Client;
use crate::client::fault::{ExitReason, Fault};
use crate::command::{ClientCommand, Group, block_on};

/// Columns of the list.
const COLUMNS: &[&str] = &["name", "rules", "accounts", "revision"];

/// Groups of accounts with their prices: list, add, change, remove, preview.
#[derive(Args)]
pub(super) struct GroupsCommand {
    #[command(flatten)]
    client_options: ClientOptions,
    #[command(subcommand)]
    action: Option<GroupAction>,
}

#[derive(Subcommand)]
enum GroupAction {
    /// Lists the groups with their rules.
    List,
    /// Shows one group.
    Get(NamedGroup),
    /// Creates a group.
    Add(DescribedGroup),
    /// Changes the rules of a group, from the next request on.
    Change(GroupEdit),
    /// Removes a group that no account is in.
    Remove(GroupRemoval),
    /// Shows what recent jobs would have cost with this change.
    Preview(GroupPreviewWish),
}

/// A group by its name.
#[derive(Args)]
struct NamedGroup {
    /// Its name.
    name: String,
}

/// A group with its rules.
#[derive(Args)]
struct DescribedGroup {
    /// Its name: 1 to 64 letters, digits and . _ : / -
    name: String,
    /// Adds or replaces a rule: `MATCH=xFACTOR` or `MATCH=AMOUNT`, with `@DATE` if it starts on a later day. May be repeated. MATCH is
    /// a model, a price key, an operation, a family, `*` or `custody`.
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// Removes a rule: `MATCH` or `MATCH@DATE`. May be repeated.
    #[arg(long = "drop", value_name = "RULE")]
    dropped: Vec<String>,
}

/// A change of a group.
#[derive(Args)]
struct GroupEdit {
    #[command(flatten)]
    group: DescribedGroup,
    /// Fails if the group has another revision by now.
    #[arg(long, value_name = "NUMBER")]
    revision: Option<u32>,
}

/// The end of a group.
#[derive(Args)]
struct GroupRemoval {
    /// Its name.
    name: String,
    /// Fails if the group has another revision by now.
    #[arg(long, value_name = "NUMBER")]
    revision: Option<u32>,
}

/// A change that is only asked about.
#[derive(Args)]
struct GroupPreviewWish {
    #[command(flatten)]
    group: DescribedGroup,
    /// Day for which dated rules are evaluated, YYYY-MM-DD; today by default.
    #[arg(long, value_name = "DATE")]
    at: Option<String>,
}

impl ClientCommand for GroupsCommand {
    const NAME: &str = "groups";
    const GROUP: Group = Group::Operate;
    const EXAMPLES: &str = "\
atelier groups
atelier groups add resellers --rule '*=x0.9' --rule artgen.imagine.fast=3
atelier groups change resellers --rule '*=x0.85@2027-01-01'
atelier groups preview resellers --rule '*=x0.8'
atelier groups change resellers --drop artgen.imagine.fast
atelier accounts change ID group=resellers";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        block_on(self.act(catalogue))
    }
}

impl GroupsCommand {
    async fn act(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let options = &self.client_options;
        let client = options.client(catalogue)?;
        let mut columns: &[&str] = &[];
        let mut answer = match self.action.unwrap_or(GroupAction::List) {
            GroupAction::List => {
                columns = COLUMNS;
                NamedCall::of("admin.groups").send(&client).await?
            }
            GroupAction::Get(group) => shown(&client, &group.name).await?,
            GroupAction::Add(group) => {
                let rules = group.rules(&Map::new())?;
                let body = body_of(rules, "name", group.name.as_str().into());
                let call = NamedCall::of("admin.groups.create").body(body);
                call.send(&client).await?
            }
            GroupAction::Change(edit) => changed(&client, edit).await?,
            GroupAction::Remove(removal) => {
                let revision = removal.revision.map(|number| number.to_string());
                let call = NamedCall::of("admin.groups.remove").named(&removal.name);
                call.query("revision", revision).send(&client).await?
            }
            GroupAction::Preview(wish) => preview(&client, wish).await?,
        };
        if let Some(data) = answer.get_mut("data").filter(|_| !options.json) {
            make_readable(data);
        }
        output::show(options, &answer, columns);
        Ok(ExitCode::SUCCESS)
    }
}

impl DescribedGroup {
    /// Its rules put over those that it has: one of the same match and day takes the place of the other.
    fn rules(&self, known: &Map<String, Value>) -> Result<Vec<Value>, Fault> {
        let known = known.get("rules").and_then(Value::as_array);
        let mut rules = known.cloned().unwrap_or_default();
        for word in &self.dropped {
            let (matches, from) = dated(word);
            let place = rules.iter().position(|rule| is_for(rule, matches, from));
            let Some(place) = place else {
                let message = format!("{} has no rule {word}", self.name);
                return Err(Fault::new(ExitReason::Usage, message));
            };
            rules.remove(place);
        }
        for word in &self.rules {
            let rule = read_rule(word)?;
            let matches = rule["match"].as_str().unwrap_or_default();
            let place = rules
                .iter()
                .position(|one| is_for(one, matches, rule["from"].as_str()));
            match place {
                Some(place) => rules[place] = rule,
                None => rules.push(rule),
            }
        }
        Ok(rules)
    }
}

/// A word and the day behind it.
fn dated(word: &str) -> (&str, Option<&str>) {
    match word.rsplit_once('@') {
        Some((word, day)) => (word, Some(day)),
        None => (word, None),
    }
}

fn is_for(rule: &Value, matches: &str, from: Option<&str>) -> bool {
    let own = rule["match"].as_str().unwrap_or_default();
    own.eq_ignore_ascii_case(matches) && rule["from"].as_str() == from
}

/// A rule as it is written on a line.
fn read_rule(word: &str) -> Result<Value, Fault> {
    let (rule, from) = dated(word);
    let unread = || {
        let message = format!(
            "--rule {word}: must be MATCH=xFACTOR or MATCH=AMOUNT, optionally followed by @DATE"
        );
        Fault::new(ExitReason::Usage, message)
    };
    let (matches, price) = rule.rsplit_once('=').ok_or_else(unread)?;
    let (kind, number) = match price.strip_prefix('x') {
        Some(factor) => ("factor", factor),
        None => ("amount", price),
    };
    let number: serde_json::Number = number.parse().map_err(|_| unread())?;
    let mut read = Map::new();
    read.insert("match".to_owned(), matches.into());
    read.insert(kind.to_owned(), Value::Number(number));
    if let Some(from) = from {
        read.insert("from".to_owned(), from.into());
    }
    Ok(Value::Object(read))
}

/// A rule as its option is written.
fn rule_words(rule: &Value) -> String {
    let matches = rule["match"].as_str().unwrap_or_default();
    let price = match (&rule["amount"], &rule["factor"]) {
        (Value::Null, factor) => format!("x{factor}"),
        (amount, _) => amount.to_string(),
    };
    let from = rule["from"].as_str();
    let from = from.map_or(String::new(), |day| format!("@{day}"));
    format!("{matches}={price}{from}")
}

fn body_of(rules: Vec<Value>, name: &str, value: Value) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("rules".to_owned(), Value::Array(rules));
    body.insert(name.to_owned(), value);
    body
}

async fn shown(client: &Client, name: &str) -> Result<Value, Fault> {
    let call = NamedCall::of("admin.groups.show").named(name);
    call.send(client).await
}

/// Changes a group as it is now: rules are put over those it has, and a change that somebody else makes meanwhile is not undone.
async fn changed(client: &Client, edit: GroupEdit) -> Result<Value, Fault> {
    let GroupEdit { group, revision } = edit;
    if group.rules.is_empty() && group.dropped.is_empty() {
        let message = "nothing to change; use --rule or --drop";
        return Err(Fault::new(ExitReason::Usage, message));
    }
    let answer = shown(client, &group.name).await?;
    let known = answer["data"].as_object().cloned().unwrap_or_default();
    let seen = known.get("revision").cloned().unwrap_or_default();
    let revision = revision.map_or(seen, Value::from);
    let body = body_of(group.rules(&known)?, "revision", revision);
    let call = NamedCall::of("admin.groups.change").named(&group.name);
    call.body(body).send(client).await
}

/// What a new group or a change would have meant for the latest jobs.
async fn preview(client: &Client, wish: GroupPreviewWish) -> Result<Value, Fault> {
    let GroupPreviewWish { group, at } = wish;
    let list = NamedCall::of("admin.groups").send(client).await?;
    let call = match find_named(&list, &group.name) {
        None => {
            let rules = group.rules(&Map::new())?;
            let body = body_of(rules, "name", group.name.as_str().into());
            NamedCall::of("admin.groups.create").body(body)
        }
        Some(known) => {
            let body = body_of(group.rules(known)?, "revision", Value::Null);
            let call = NamedCall::of("admin.groups.change").named(&group.name);
            call.body(body)
        }
    };
    call.preview().query("at", at).send(client).await
}

/// Puts rules into words, of one group or of many.
fn make_readable(data: &mut Value) {
    match data {
        Value::Array(rows) => rows.iter_mut().for_each(make_readable),
        Value::Object(group) => {
            if let Some(Value::Array(rules)) = group.get_mut("rules") {
                let words: Vec<String> = rules.iter().map(rule_words).collect();
                group.insert("rules".to_owned(), words.join(" ").into());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn group(rules: &[&str], dropped: &[&str]) -> DescribedGroup {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        DescribedGroup {
            name: "vip".to_owned(),
            rules: owned(rules),
            dropped: owned(dropped),
        }
    }

    #[test]
    fn a_rule_reads_as_it_is_written() {
        for word in ["*=x0.9", "artgen.imagine.fast=3", "fox/1:a=0.25@2027-01-01"] {
            let rule = read_rule(word).expect(word);
            assert_eq!(rule_words(&rule), word);
        }
        for word in ["*", "*=", "*=x", "*=free", "*=x1x"] {
            assert!(read_rule(word).is_err(), "{word}");
        }
    }

    #[test]
    fn rules_are_put_over_those_that_are_there() {
        let known = json!({ "rules": [{ "match": "*", "factor": 0.9 }, { "match": "*", "factor": 0.8, "from": "2027-01-01" }] });
        let known = known.as_object().expect("an object");
        let change = group(&["*=x0.7", "artgen=x0.5"], &["*@2027-01-01"]);
        let rules = change.rules(known).expect("rules");
        let words: Vec<String> = rules.iter().map(rule_words).collect();
        assert_eq!(words, ["*=x0.7", "artgen=x0.5"]);
        assert!(group(&[], &["artgen"]).rules(known).is_err(), "it has none");
    }
}
