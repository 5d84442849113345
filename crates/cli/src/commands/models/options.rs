//! From options to what the operator API takes of a model.

use clap::{Args, ValueHint};
use serde_json::{Map, Value};

use crate::client::fault::{ExitReason, Fault};
use crate::client::read_text;

/// The unit of a price that is a number alone.
const USUAL_UNIT: &str = "item";

/// What is said of a model.
#[derive(Args, Default)]
pub(super) struct ModelOptions {
    /// Built-in model that it resembles, `family/model`, or an operation.
    #[arg(long, value_name = "FAMILY/MODEL")]
    like: Option<String>,
    /// Title shown to people.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Alias. May be repeated.
    #[arg(long = "alias", value_name = "NAME")]
    aliases: Vec<String>,
    /// Route to a back end: BACKEND, or BACKEND=MODEL with the vendor's name for the model, then `,weight=N` and `,rank=N`. May be
    /// repeated.
    #[arg(long = "route", value_name = "BACKEND=MODEL")]
    routes: Vec<String>,
    /// Price as UNIT=AMOUNT; units are call, item, second and megapixel. AMOUNT alone is per item; OPERATION:UNIT=AMOUNT is for one
    /// operation.
    #[arg(long = "price", value_name = "UNIT=AMOUNT")]
    prices: Vec<String>,
    /// Price factor for a value of a field, such as `quality:high=2`. May be repeated.
    #[arg(long = "factor", value_name = "FIELD:WORD=FACTOR")]
    factors: Vec<String>,
    /// Allowed values of a field, such as `size=1024x1024,1536x1024`.
    #[arg(long = "allow", value_name = "FIELD=WORD,WORD")]
    allowed: Vec<String>,
    /// Range of a field, such as `n=1..4`.
    #[arg(long = "range", value_name = "FIELD=LEAST..MOST")]
    ranges: Vec<String>,
    /// Default of a field, such as `size=1024x1024`.
    #[arg(long = "default", value_name = "FIELD=VALUE")]
    defaults: Vec<String>,
    /// Field that requests must not contain.
    #[arg(long = "refuse", value_name = "FIELD")]
    refused: Vec<String>,
    /// Group of accounts that may see and use it; without one, all may.
    #[arg(long = "group", value_name = "NAME")]
    groups: Vec<String>,
    /// Day on which it retires, YYYY-MM-DD.
    #[arg(long, value_name = "DATE")]
    retires: Option<String>,
    /// Model to use instead after that.
    #[arg(long, value_name = "NAME")]
    successor: Option<String>,
    /// Enables it.
    #[arg(long, conflicts_with = "disabled")]
    enabled: bool,
    /// Disables it.
    #[arg(long)]
    disabled: bool,
    /// Removes a part, such as `price`, `routes` or `retires`.
    #[arg(long = "without", value_name = "WHAT")]
    without: Vec<String>,
    /// JSON file with the whole model; `-` is standard input. Other options override it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<String>,
}

impl ModelOptions {
    /// What the options say, of a model of which something is known already: rules of fields and factors are added to those.
    pub(super) fn fields(&self, known: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
        let mut fields = match &self.file {
            Some(file) => object_in(file)?,
            None => Map::new(),
        };
        let texts = [
            ("like", &self.like),
            ("title", &self.title),
            ("retires", &self.retires),
            ("successor", &self.successor),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                fields.insert(name.to_owned(), text.as_str().into());
            }
        }
        for (name, list) in [("aliases", &self.aliases), ("groups", &self.groups)] {
            if !list.is_empty() {
                fields.insert(name.to_owned(), list.iter().map(String::as_str).collect());
            }
        }
        if !self.routes.is_empty() {
            let routes: Result<Vec<Value>, Fault> =
                self.routes.iter().map(|text| route(text)).collect();
            fields.insert("routes".to_owned(), Value::Array(routes?));
        }
        let before = |fields: &Map<String, Value>, name: &str| {
            fields.get(name).or_else(|| known.get(name)).cloned()
        };
        if let Some(price) = self.price(before(&fields, "price"))? {
            fields.insert("price".to_owned(), price);
        }
        if let Some(rules) = self.rules(before(&fields, "fields"))? {
            fields.insert("fields".to_owned(), Value::Object(rules));
        }
        if self.enabled || self.disabled {
            fields.insert("enabled".to_owned(), self.enabled.into());
        }
        for name in &self.without {
            let nothing = match name.as_str() {
                "routes" | "aliases" | "groups" => Value::Array(Vec::new()),
                "fields" => Value::Object(Map::new()),
                _ => Value::Null,
            };
            fields.insert(name.clone(), nothing);
        }
        Ok(fields)
    }

    /// The price with its factors, if anything is said of it.
    fn price(&self, before: Option<Value>) -> Result<Option<Value>, Fault> {
        if self.prices.is_empty() && self.factors.is_empty() {
            return Ok(None);
        }
        let price = if self.prices.is_empty() {
            before
        } else {
            Some(Value::Object(prices(&self.prices)?))
        };
        let Some(Value::Object(mut price)) = price else {
            return Err(usage("--factor", "needs a price: --price UNIT=AMOUNT"));
        };
        for text in &self.factors {
            let (field, rest) = split(text, ':', "--factor", "FIELD:WORD=FACTOR")?;
            let (word, factor) = split_last(rest, '=', "--factor", "FIELD:WORD=FACTOR")?;
            let factor = number(factor, "--factor")?;
            if price.contains_key("unit") {
                put(&mut price, &["factors", field, word], factor);
                continue;
            }
            // One price for each operation: the factor is for all of them.
            let operations: Vec<String> = price.keys().cloned().collect();
            for operation in operations {
                let path = [operation.as_str(), "factors", field, word];
                put(&mut price, &path, factor.clone());
            }
        }
        Ok(Some(Value::Object(price)))
    }

    /// The rules of fields, if anything is said of them.
    fn rules(&self, before: Option<Value>) -> Result<Option<Map<String, Value>>, Fault> {
        let none = [&self.allowed, &self.ranges, &self.defaults, &self.refused];
        if none.iter().all(|list| list.is_empty()) {
            return Ok(None);
        }
        let mut rules = match before {
            Some(Value::Object(rules)) => rules,
            _ => Map::new(),
        };
        for text in &self.allowed {
            let (field, words) = split(text, '=', "--allow", "FIELD=WORD,WORD")?;
            let words = words.split(',').map(|word| scalar(word.trim())).collect();
            put(&mut rules, &[field, "allowed"], words);
        }
        for text in &self.ranges {
            let (field, range) = split(text, '=', "--range", "FIELD=LEAST..MOST")?;
            let Some((least, most)) = range.split_once("..") else {
                return Err(usage("--range", "must be FIELD=LEAST..MOST, as n=1..4"));
            };
            for (name, bound) in [("min", least), ("max", most)] {
                if !bound.is_empty() {
                    put(&mut rules, &[field, name], number(bound, "--range")?);
                }
            }
        }
        for text in &self.defaults {
            let (field, value) = split(text, '=', "--default", "FIELD=VALUE")?;
            put(&mut rules, &[field, "default"], scalar(value));
        }
        for field in &self.refused {
            put(&mut rules, &[field, "refused"], true.into());
        }
        Ok(Some(rules))
    }
}

/// One price, or one for each operation that is named.
fn prices(texts: &[String]) -> Result<Map<String, Value>, Fault> {
    let mut all = Map::new();
    for text in texts {
        let (what, amount) = text.rsplit_once('=').unwrap_or((USUAL_UNIT, text));
        let amount = number(amount, "--price")?;
        let (operation, unit) = match what.rsplit_once(':') {
            Some((operation, unit)) => (Some(operation), unit),
            None => (None, what),
        };
        let path: Vec<&str> = operation.into_iter().collect();
        let mixed = match operation {
            Some(_) => all.contains_key("unit"),
            None => !all.is_empty(),
        };
        if mixed {
            let why = "must be given once, or once for each operation as OPERATION:UNIT=AMOUNT";
            return Err(usage("--price", why));
        }
        let at = |name| [path.as_slice(), &[name]].concat();
        put(&mut all, &at("unit"), unit.into());
        put(&mut all, &at("amount"), amount);
    }
    Ok(all)
}

/// A back end with the vendor's name of the model, its weight and its rank.
fn route(text: &str) -> Result<Value, Fault> {
    let mut parts = text.split(',');
    let first = parts.next().unwrap_or_default();
    let (backend, model) = match first.split_once('=') {
        Some((backend, model)) => (backend, Some(model)),
        None => (first, None),
    };
    let mut route = Map::new();
    route.insert("backend".to_owned(), backend.into());
    if let Some(model) = model {
        route.insert("model".to_owned(), model.into());
    }
    for part in parts {
        match part.split_once('=') {
            Some((name @ ("weight" | "rank"), value)) => {
                route.insert(name.to_owned(), number(value, "--route")?);
            }
            Some(("cost", value)) => {
                route.insert("cost".to_owned(), cost(value)?);
            }
            Some(("stop-loss", value)) => {
                route.insert("stop_loss".to_owned(), stop_loss(value)?);
            }
            Some(("paused", why)) => {
                route.insert("paused".to_owned(), why.into());
            }
            _ => {
                return Err(usage(
                    "--route",
                    "takes weight=N, rank=N, cost=UNIT:DOLLARS, stop-loss=PERCENT:JOBS and paused=WHY behind the model",
                ));
            }
        }
    }
    Ok(Value::Object(route))
}

/// What a vendor takes, such as `second:0.08`.
fn cost(text: &str) -> Result<Value, Fault> {
    let Some((unit, usd)) = text.split_once(':') else {
        return Err(usage("--route", "takes a cost such as cost=second:0.08"));
    };
    let usd = number(usd, "--route")?;
    Ok(serde_json::json!({ "unit": unit, "usd": usd }))
}

/// What a route has to leave, such as `10:50`.
fn stop_loss(text: &str) -> Result<Value, Fault> {
    let Some((percent, jobs)) = text.split_once(':') else {
        return Err(usage(
            "--route",
            "takes a stop-loss such as stop-loss=10:50",
        ));
    };
    let percent = number(percent, "--route")?;
    let jobs = number(jobs, "--route")?;
    Ok(serde_json::json!({ "percent": percent, "jobs": jobs }))
}

/// Puts a value where a path of names leads; what stands in the way and is no object is replaced.
fn put(object: &mut Map<String, Value>, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        object.insert((*first).to_owned(), value);
        return;
    }
    let mut inner = match object.remove(*first) {
        Some(Value::Object(inner)) => inner,
        _ => Map::new(),
    };
    put(&mut inner, rest, value);
    object.insert((*first).to_owned(), Value::Object(inner));
}

/// The object of a JSON file.
fn object_in(file: &str) -> Result<Map<String, Value>, Fault> {
    let text = read_text(file)?;
    serde_json::from_str(&text).map_err(|error| usage("--file", &format!("{file}: {error}")))
}

fn split<'a>(
    text: &'a str,
    sign: char,
    option: &str,
    form: &str,
) -> Result<(&'a str, &'a str), Fault> {
    let parts = text.split_once(sign);
    parts.ok_or_else(|| usage(option, &format!("must be {form}, is `{text}`")))
}

fn split_last<'a>(
    text: &'a str,
    sign: char,
    option: &str,
    form: &str,
) -> Result<(&'a str, &'a str), Fault> {
    let parts = text.rsplit_once(sign);
    parts.ok_or_else(|| usage(option, &format!("must be {form}")))
}

fn number(text: &str, option: &str) -> Result<Value, Fault> {
    let value = serde_json::from_str::<Value>(text.trim()).ok();
    let value = value.filter(Value::is_number);
    value.ok_or_else(|| usage(option, &format!("`{text}` is no number")))
}

/// A number or a truth where the text is one, and else the text.
fn scalar(text: &str) -> Value {
    let value = serde_json::from_str::<Value>(text).ok();
    let value = value.filter(|value| value.is_number() || value.is_boolean());
    value.unwrap_or_else(|| text.into())
}

fn usage(option: &str, why: &str) -> Fault {
    Fault::new(ExitReason::Usage, format!("{option}: {why}"))
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;
    use serde_json::json;

    use super::*;

    fn options(words: &[&str]) -> ModelOptions {
        let command = ModelOptions::augment_args(clap::Command::new("add"));
        let words = [&["add"][..], words].concat();
        let matches = command.try_get_matches_from(words).expect("options");
        ModelOptions::from_arg_matches(&matches).expect("options")
    }

    fn said(words: &[&str]) -> Value {
        let said = options(words).fields(&Map::new());
        Value::Object(said.expect("fields"))
    }

    /// The promise: one command says everything that a model needs.
    #[test]
    fn options_are_what_the_operator_api_takes() {
        let words = [
            "--like=imgmodel/image-1",
            "--title=Seedream 4.5",
            "--alias=seedream",
            "--route=ark=doubao-seedream-4-5,weight=3,rank=10",
            "--route=spare",
            "--price=item=0.4",
            "--factor=size:2048x2048=2",
            "--allow=size=1024x1024,2048x2048",
            "--default=size=1024x1024",
            "--range=n=1..4",
            "--refuse=style",
            "--retires=2027-01-31",
            "--successor=seedream-5",
        ];
        let wanted = json!({
            "like": "imgmodel/image-1", "title": "Seedream 4.5", "aliases": ["seedream"],
            "routes": [
                { "backend": "ark", "model": "doubao-seedream-4-5", "weight": 3, "rank": 10 },
                { "backend": "spare" },
            ],
            "price": { "unit": "item", "amount": 0.4, "factors": { "size": { "2048x2048": 2 } } },
            "fields": {
                "size": { "allowed": ["1024x1024", "2048x2048"], "default": "1024x1024" },
                "n": { "min": 1, "max": 4 },
                "style": { "refused": true },
            },
            "retires": "2027-01-31", "successor": "seedream-5",
        });
        assert_eq!(said(&words), wanted);
    }

    #[test]
    fn a_price_may_be_one_or_one_for_each_operation() {
        assert_eq!(
            said(&["--price=3"])["price"],
            json!({ "unit": "item", "amount": 3 })
        );
        let each = said(&[
            "--price=design.generations:call=3",
            "--price=design.vectorize:item=1",
            "--factor=size:auto=2",
        ]);
        let factors = json!({ "size": { "auto": 2 } });
        let wanted = json!({
            "design.generations": { "unit": "call", "amount": 3, "factors": factors },
            "design.vectorize": { "unit": "item", "amount": 1, "factors": factors },
        });
        assert_eq!(each["price"], wanted);
        for words in [
            &["--price=3", "--price=4"][..],
            &["--price=a.b:call=3", "--price=4"],
            &["--price=4", "--price=a.b:call=3"],
            &["--price=item=much"],
            &["--factor=size:auto=2"],
            &["--factor=size"],
            &["--range=n=1-4"],
            &["--route=ark=x,wieght=2"],
        ] {
            let fault = options(words).fields(&Map::new()).expect_err("a mistake");
            assert_eq!(fault.end, ExitReason::Usage, "{words:?}");
        }
    }

    /// The promise: a change of one rule takes no other away, and a field can be taken away by its name.
    #[test]
    fn what_is_known_stays_beside_what_is_said() {
        let known = json!({
            "price": { "unit": "item", "amount": 1, "factors": { "quality": { "low": 1 } } },
            "fields": { "n": { "max": 2 } },
        });
        let known = known.as_object().expect("an object");
        let words = [
            "--factor=quality:high=2",
            "--default=n=1",
            "--without=title",
            "--without=routes",
        ];
        let said = options(&words).fields(known).expect("fields");
        let wanted = json!({
            "price": { "unit": "item", "amount": 1, "factors": { "quality": { "low": 1, "high": 2 } } },
            "fields": { "n": { "max": 2, "default": 1 } },
            "title": null,
            "routes": [],
        });
        assert_eq!(Value::Object(said), wanted);
    }
}
