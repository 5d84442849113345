//! `atelier models`: what an operator sells. One command makes a model, and every client knows it a second later.

mod options;

use std::fmt::Write as _;
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
use options::ModelOptions;

/// Columns of the list.
const COLUMNS: &[&str] = &[
    "name", "like", "price", "routes", "enabled", "retires", "revision", "title",
];

/// The same of the list that callers see.
const CALLER_COLUMNS: &[&str] = &["name", "family", "price", "retires", "successor", "title"];

/// Models: list, add, change, remove, preview.
#[derive(Args)]
pub(super) struct ModelsCommand {
    #[command(flatten)]
    client_options: ClientOptions,
    #[command(subcommand)]
    action: Option<ModelAction>,
}

#[derive(Subcommand)]
enum ModelAction {
    /// Lists the operator's models and the settings of built-in ones; with only an API key, the models its account can use.
    List,
    /// Shows one model.
    Get(NamedModel),
    /// Creates a model.
    Add(DescribedModel),
    /// Changes a model, from the next request on.
    Change(ModelEdit),
    /// Removes a model; accepted jobs continue.
    Remove(ModelRemoval),
    /// Shows what recent jobs would have cost with this change, and which would be rejected.
    Preview(ModelPreviewWish),
}

/// A model by its name.
#[derive(Args)]
struct NamedModel {
    /// Its name.
    name: String,
}

/// A model with all that is said of it.
#[derive(Args)]
struct DescribedModel {
    /// Its name: 1 to 64 letters, digits and . _ : / -
    name: String,
    #[command(flatten)]
    options: Box<ModelOptions>,
}

/// A change of a model.
#[derive(Args)]
struct ModelEdit {
    #[command(flatten)]
    model: DescribedModel,
    /// Fails if the model has another revision by now.
    #[arg(long, value_name = "NUMBER")]
    revision: Option<u32>,
}

/// Options of `models remove`.
#[derive(Args)]
struct ModelRemoval {
    /// Model to remove.
    name: String,
    /// Fails if the model has another revision by now.
    #[arg(long, value_name = "NUMBER")]
    revision: Option<u32>,
}

/// A change that is only asked about.
#[derive(Args)]
struct ModelPreviewWish {
    #[command(flatten)]
    model: DescribedModel,
    /// Previews its removal.
    #[arg(long)]
    removed: bool,
}

impl ClientCommand for ModelsCommand {
    const NAME: &str = "models";
    const GROUP: Group = Group::Operate;
    const EXAMPLES: &str = "\
atelier models
atelier models add seedream-4-5 --like imgmodel/image-1 --route ark=doubao-seedream-4-5 --price item=0.4
atelier models add kling-v3 --like vidgen_partner/video-2 --route kling=kling-v3 --price second=2
atelier models change seedream-4-5 --default size=2048x2048
atelier models preview seedream-4-5 --price item=0.5
atelier models add image-1 --route ark --route spare,rank=200
atelier models remove seedream-4-5";

    fn run(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        block_on(self.act(catalogue))
    }
}

impl ModelsCommand {
    async fn act(self, catalogue: &'static Catalogue) -> Result<ExitCode> {
        let options = &self.client_options;
        let client = options.client(catalogue)?;
        let mut columns: &[&str] = &[];
        let mut answer = match self.action.unwrap_or(ModelAction::List) {
            ModelAction::List => {
                let profile = &client.profile;
                // Who is no operator is told what its account can use.
                let (page, shown) = if profile.token.is_empty() && !profile.key.is_empty() {
                    ("account.models", CALLER_COLUMNS)
                } else {
                    ("admin.models", COLUMNS)
                };
                columns = shown;
                NamedCall::of(page).send(&client).await?
            }
            ModelAction::Get(model) => shown(&client, &model.name).await?,
            ModelAction::Add(model) => {
                let mut body = model.options.fields(&Map::new())?;
                body.insert("name".to_owned(), model.name.into());
                let call = NamedCall::of("admin.models.create").body(body);
                call.send(&client).await?
            }
            ModelAction::Change(edit) => changed(&client, edit).await?,
            ModelAction::Remove(removal) => {
                let revision = removal.revision.map(|number| number.to_string());
                let call = NamedCall::of("admin.models.remove").named(&removal.name);
                call.query("revision", revision).send(&client).await?
            }
            ModelAction::Preview(wish) => preview(&client, wish).await?,
        };
        if let Some(data) = answer.get_mut("data").filter(|_| !options.json) {
            make_readable(data);
        }
        output::show(options, &answer, columns);
        Ok(ExitCode::SUCCESS)
    }
}

async fn shown(client: &Client, name: &str) -> Result<Value, Fault> {
    let call = NamedCall::of("admin.models.show").named(name);
    call.send(client).await
}

/// Changes a model as it is now: rules and factors are added to what it has, and a change that somebody else makes meanwhile
/// is not undone.
async fn changed(client: &Client, edit: ModelEdit) -> Result<Value, Fault> {
    let ModelEdit { model, revision } = edit;
    let answer = shown(client, &model.name).await?;
    let known = answer["data"].as_object().cloned().unwrap_or_default();
    let mut body = model.options.fields(&known)?;
    if body.is_empty() {
        let message = "nothing to change; `atelier models change --help` lists the options";
        return Err(Fault::new(ExitReason::Usage, message));
    }
    let seen = known.get("revision").cloned().unwrap_or_default();
    body.insert("revision".to_owned(), revision.map_or(seen, Value::from));
    let call = NamedCall::of("admin.models.change").named(&model.name);
    call.body(body).send(client).await
}

/// What a new model, a change or a removal would have meant for the latest jobs.
async fn preview(client: &Client, wish: ModelPreviewWish) -> Result<Value, Fault> {
    let ModelPreviewWish { model, removed } = wish;
    let name = model.name;
    if removed {
        let call = NamedCall::of("admin.models.remove").named(&name);
        return call.preview().send(client).await;
    }
    let list = NamedCall::of("admin.models").send(client).await?;
    let Some(known) = find_named(&list, &name) else {
        let mut body = model.options.fields(&Map::new())?;
        body.insert("name".to_owned(), name.into());
        let call = NamedCall::of("admin.models.create").body(body);
        return call.preview().send(client).await;
    };
    let body = model.options.fields(known)?;
    let call = NamedCall::of("admin.models.change").named(&name);
    call.body(body).preview().send(client).await
}

/// Puts prices and routes into words, of one model or of many.
fn make_readable(data: &mut Value) {
    match data {
        Value::Array(rows) => rows.iter_mut().for_each(make_readable),
        Value::Object(model) => {
            if let Some(price) = model.get_mut("price").filter(|price| price.is_object()) {
                *price = price_line(price).into();
            }
            if let Some(Value::Array(routes)) = model.get_mut("routes") {
                let words: Vec<String> = routes.iter().map(route_words).collect();
                model.insert("routes".to_owned(), words.join(", ").into());
            }
        }
        _ => {}
    }
}

/// A price as one readable line, as `0.4 an item, by size`.
fn price_line(price: &Value) -> String {
    let one = |price: &Value| {
        let unit = match price["unit"].as_str().unwrap_or_default() {
            "item" => "an item",
            "call" => "a call",
            "second" => "a second",
            "megapixel" => "a megapixel",
            other => other,
        };
        let fields = price["factors"].as_object().into_iter().flatten();
        let mut fields: Vec<&str> = fields.map(|(field, _)| field.as_str()).collect();
        // A build may keep the order that they came in.
        fields.sort_unstable();
        let by = if fields.is_empty() { "" } else { ", by " };
        format!("{} {unit}{by}{}", price["amount"], fields.join(" and "))
    };
    if price.get("unit").is_some() {
        return one(price);
    }
    let all = price.as_object().into_iter().flatten();
    let all = all.map(|(operation, price)| format!("{operation}: {}", one(price)));
    all.collect::<Vec<_>>().join("; ")
}

/// A route as its option is written.
fn route_words(route: &Value) -> String {
    let mut words = route["backend"].as_str().unwrap_or_default().to_owned();
    if let Some(model) = route["model"].as_str() {
        words.push('=');
        words.push_str(model);
    }
    if let Some(weight) = route["weight"].as_u64().filter(|weight| *weight != 1) {
        let _ = write!(words, ",weight={weight}");
    }
    if let Some(rank) = route["rank"].as_i64() {
        let _ = write!(words, ",rank={rank}");
    }
    if let (Some(unit), Some(usd)) = (
        route["cost"]["unit"].as_str(),
        route["cost"]["usd"].as_f64(),
    ) {
        let _ = write!(words, ",cost={unit}:{usd}");
    }
    let guard = &route["stop_loss"];
    if let (Some(percent), Some(jobs)) = (guard["percent"].as_i64(), guard["jobs"].as_u64()) {
        let _ = write!(words, ",stop-loss={percent}:{jobs}");
    }
    if let Some(why) = route["paused"].as_str() {
        let _ = write!(words, ",paused={}", why.replace(',', ";"));
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_price_is_one_readable_line() {
        let price = json!({ "unit": "second", "amount": 0.5, "factors": { "size": { "auto": 1 }, "quality": {} } });
        assert_eq!(price_line(&price), "0.5 a second, by quality and size");
        let each = json!({ "a.b": { "unit": "call", "amount": 3 }, "c.d": { "unit": "item", "amount": 1 } });
        assert_eq!(price_line(&each), "a.b: 3 a call; c.d: 1 an item");
    }

    #[test]
    fn a_route_reads_as_it_is_written() {
        let cost = json!({ "unit": "item", "usd": 0.03 });
        let guard = json!({ "percent": -5, "jobs": 50, "since_hour": 9 });
        let route = json!({ "backend": "ark", "model": "seedream", "weight": 3, "rank": 10, "cost": cost, "stop_loss": guard,
            "paused": "we wait, they mend" });
        assert_eq!(
            route_words(&route),
            "ark=seedream,weight=3,rank=10,cost=item:0.03,stop-loss=-5:50,paused=we wait; they mend"
        );
        let plain = json!({ "backend": "spare", "weight": 1, "rank": null });
        assert_eq!(route_words(&plain), "spare");
    }
}
