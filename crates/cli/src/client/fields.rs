//! From `field=value` to a call: what the tables say of an operation decides where a field goes and what it becomes.

use std::path::Path;

use atelier_contract::catalogue::{ApiOperation, Catalogue};
use atelier_contract::fields::ImageData;
use atelier_contract::pages::Method;
use serde_json::{Map, Value};

use super::fault::{ExitReason, Fault};
use super::file::{UploadFile, data_uri, open};
use super::request::{ApiRequest, FormValue, RequestBody};

/// How operations spell the field that names a model; the first is that of operations that have none of their own.
const MODEL: [&str; 2] = ["model", "modelName"];

/// What stands behind the sign of equality.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldValue {
    /// Text, read as the kind of the field.
    Text(String),
    /// The content of a file.
    File(String),
    /// From `field:=json`; sent unchanged.
    Json(Value),
}

/// A field with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldArg {
    pub(crate) field: String,
    pub(crate) given: FieldValue,
}

impl FieldArg {
    /// Reads `field=value`, `field=@file` or `field:=json`.
    pub(crate) fn read(text: &str) -> Result<Self, Fault> {
        let Some((field, value)) = text.split_once('=') else {
            let message =
                format!("`{text}` must have the form field=value, field=@file or field:=json");
            return Err(Fault::new(ExitReason::Usage, message));
        };
        if let Some(field) = field.strip_suffix(':') {
            let json = serde_json::from_str(value).map_err(|error| {
                Fault::new(ExitReason::Usage, format!("{field}: is not JSON: {error}"))
            })?;
            return Ok(Self::new(field, FieldValue::Json(json)));
        }
        Ok(Self::of(field, value))
    }

    /// A field with a value that may name a file.
    pub(crate) fn of(field: &str, value: &str) -> Self {
        match value.strip_prefix('@') {
            Some(file) => Self::new(field, FieldValue::File(file.to_owned())),
            None => Self::new(field, FieldValue::Text(value.to_owned())),
        }
    }

    /// A field with text, whatever it begins with.
    pub(crate) fn text(field: &str, value: &str) -> Self {
        Self::new(field, FieldValue::Text(value.to_owned()))
    }

    /// Whether it gives a field, in whichever spelling.
    pub(crate) fn is_of(&self, field: &str) -> bool {
        same(&self.field, field)
    }

    fn new(field: &str, given: FieldValue) -> Self {
        let field = field.to_owned();
        Self { field, given }
    }
}

/// The schema that a schema refers to.
pub(crate) fn resolved<'a>(catalogue: &'a Catalogue, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str();
    let name = name.and_then(|path| path.rsplit('/').next());
    match name {
        Some(name) => catalogue.schemas.get(name).unwrap_or(schema),
        None => schema,
    }
}

/// The operation with a name; a service of another version may not have it.
pub(crate) fn find_operation<'a>(
    catalogue: &'a Catalogue,
    name: &str,
) -> Result<&'a ApiOperation, Fault> {
    let missing = || Fault::new(ExitReason::Usage, format!("there is no operation `{name}`"));
    catalogue.find(name).ok_or_else(missing)
}

/// The names at the placeholders of a path.
fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// The fields of an operation: their names, and whether each must be given.
pub(crate) fn field_names(catalogue: &Catalogue, operation: &ApiOperation) -> Vec<(String, bool)> {
    let mut all: Vec<(String, bool)> = placeholders(&operation.path)
        .map(|name| (name.to_owned(), true))
        .collect();
    let body = operation.body.as_ref().or(operation.form.as_ref());
    for object in operation.query.as_ref().into_iter().chain(body) {
        let object = resolved(catalogue, object);
        let required = object["required"].as_array();
        for name in object["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            let must = required.is_some_and(|all| all.iter().any(|one| one == name));
            match all.iter_mut().find(|(other, _)| other == name) {
                Some((_, known)) => *known |= must,
                None => all.push((name.clone(), must)),
            }
        }
    }
    all.sort_by_key(|(_, required)| !required);
    all
}

/// The schema of a field, from the query or the body.
pub(crate) fn field_of<'a>(
    catalogue: &'a Catalogue,
    operation: &'a ApiOperation,
    name: &str,
) -> Option<&'a Value> {
    let body = operation.body.as_ref().or(operation.form.as_ref());
    let mut objects = body.into_iter().chain(&operation.query);
    objects.find_map(|object| resolved(catalogue, object)["properties"].get(name))
}

/// Whether a schema allows a type.
fn may_be(catalogue: &Catalogue, schema: &Value, wanted: &str) -> bool {
    let schema = resolved(catalogue, schema);
    let by_type = match &schema["type"] {
        Value::String(one) => one == wanted,
        Value::Array(all) => all.iter().any(|one| one == wanted),
        _ => false,
    };
    let mut others = ["anyOf", "oneOf"]
        .iter()
        .flat_map(|key| schema[*key].as_array().into_iter().flatten());
    by_type || others.any(|other| may_be(catalogue, other, wanted))
}

/// Whether a field is a picture or a mask, and whether only an address will do.
pub(crate) fn picture(catalogue: &Catalogue, schema: &Value) -> Option<bool> {
    let schema = resolved(catalogue, schema);
    let inner = schema["anyOf"].as_array().into_iter().flatten();
    let inner = inner
        .chain(schema.get("items"))
        .map(|one| resolved(catalogue, one));
    let mut all = std::iter::once(schema).chain(inner);
    let widgets = ["image", "video", "mask"];
    let found = all.find(|one| widgets.iter().any(|widget| one["x-widget"] == *widget))?;
    Some(found["format"] == "uri")
}

/// Makes a call of some words. A file of more than `inline` bytes, and any for a field that takes only addresses, has to
/// be handed in first: it is given to `upload`, which answers with its address.
pub(crate) async fn build_request(
    catalogue: &Catalogue,
    operation: &ApiOperation,
    words: &[FieldArg],
    inline: usize,
    upload: impl AsyncFn(UploadFile) -> Result<String, Fault>,
) -> Result<ApiRequest, Fault> {
    let mut asked = ApiRequest::plain(operation, operation.path.clone());
    let known = field_names(catalogue, operation);
    let mut fields = Map::new();
    let mut parts: Vec<(String, FormValue)> = Vec::new();
    for word in words {
        let name = taken_name(catalogue, operation, &known, &word.field)?;
        let placeholder = format!("{{{name}}}");
        if asked.path.contains(&placeholder) {
            let text = text_of(&word.given)?;
            asked.path = asked.path.replace(&placeholder, &segment(&text));
            continue;
        }
        let schema = field_of(catalogue, operation, &name).unwrap_or(&Value::Null);
        if operation.body.is_none() && operation.form.is_none() {
            asked.query.push((name, text_of(&word.given)?));
            continue;
        }
        if let (FieldValue::File(file), true) =
            (&word.given, takes_file(catalogue, operation, &name))
        {
            parts.push((name, FormValue::File(open(file)?)));
            continue;
        }
        let value = match &word.given {
            FieldValue::Json(value) => value.clone(),
            FieldValue::Text(text) if MODEL.contains(&name.as_str()) => text.as_str().into(),
            FieldValue::Text(text) => {
                if picture(catalogue, schema).is_some() {
                    check_picture(&name, text)?;
                }
                value_of(catalogue, schema, text)
            }
            FieldValue::File(file) => {
                let file = open(file)?;
                match picture(catalogue, schema) {
                    Some(addresses) if addresses || file.bytes.len() > inline => {
                        upload(file).await?.into()
                    }
                    None if !file.is_media() => file.text()?.into(),
                    _ => data_uri(&file).into(),
                }
            }
        };
        add(catalogue, &mut fields, &name, value, schema)?;
    }
    let given = |name: &String| {
        fields.contains_key(name)
            || parts.iter().any(|(part, _)| part == name)
            || asked.query.iter().any(|(field, _)| field == name)
    };
    check_required(operation, &known, &asked.path, given)?;
    asked.sent = match (&operation.body, &operation.form) {
        (None, None) => RequestBody::Nothing,
        (Some(_), _) if parts.is_empty() => RequestBody::Json(fields),
        _ => {
            let texts = fields
                .into_iter()
                .map(|(name, value)| (name, FormValue::Text(plain(&value))));
            RequestBody::Form(texts.chain(parts).collect())
        }
    };
    asked.repeatable |= operation.method == Method::Post && operation.idempotent;
    Ok(asked)
}

/// Longer texts than this are no names of files.
const LONGEST_PATH: usize = 1_000;

/// Refuses a name of a file where a URL or bytes are wanted: the service would look for bytes in it.
fn check_picture(field: &str, text: &str) -> Result<(), Fault> {
    let has_scheme = text.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_other = text.is_empty() || text.len() > LONGEST_PATH || text.starts_with('[');
    if is_other || has_scheme || ImageData::from_base64(text).is_ok() {
        return Ok(());
    }
    let message = if Path::new(text).exists() {
        format!("{field}: `{text}` is a file; write {field}=@{text}")
    } else {
        format!("{field}: there is no file `{text}`; give @FILE, a URL or base64")
    };
    Err(Fault::new(ExitReason::Usage, message))
}

/// Refuses a call without what its operation must be given.
fn check_required(
    operation: &ApiOperation,
    known: &[(String, bool)],
    path: &str,
    given: impl Fn(&String) -> bool,
) -> Result<(), Fault> {
    let missing = known.iter().filter(|(name, required)| {
        let placeholder = format!("{{{name}}}");
        let open = if operation.path.contains(&placeholder) {
            path.contains(&placeholder)
        } else {
            !given(name)
        };
        *required && open
    });
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (name, missing) = (&operation.name, missing.join(", "));
    let message =
        format!("{name} needs {missing}; `atelier call {name} --help` explains the fields");
    Err(Fault::new(ExitReason::Usage, message))
}

/// Text as a part of a path.
pub(crate) fn segment(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}

/// A value as a form writes it.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether two spellings mean one field.
fn same(one: &str, two: &str) -> bool {
    one.replace('_', "")
        .eq_ignore_ascii_case(&two.replace('_', ""))
}

/// The table's spelling of a field; both spellings of the callback address are good.
fn canonical_name(
    known: &[(String, bool)],
    field: &str,
    operation: &ApiOperation,
) -> Result<String, Fault> {
    let exact = known.iter().find(|(name, _)| name == field);
    let found = exact.or_else(|| known.iter().find(|(name, _)| same(name, field)));
    if let Some((name, _)) = found {
        return Ok(name.clone());
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let message = format!(
        "{} has no field `{field}`; it has: {}",
        operation.name,
        names.join(", ")
    );
    Err(Fault::new(ExitReason::Usage, message))
}

/// The spelling that a field is sent in. Some bodies have names of their own, as prices have, and whatever makes something may be
/// told its model.
fn taken_name(
    catalogue: &Catalogue,
    operation: &ApiOperation,
    known: &[(String, bool)],
    field: &str,
) -> Result<String, Fault> {
    let canonical = canonical_name(known, field, operation);
    let is_free = || has_any_name(catalogue, operation) || names_model(catalogue, operation, field);
    match canonical {
        Err(_) if is_free() => Ok(field.to_owned()),
        canonical => canonical,
    }
}

/// Whether fields of any name are taken.
fn has_any_name(catalogue: &Catalogue, operation: &ApiOperation) -> bool {
    let body = operation.body.as_ref();
    body.is_some_and(|body| resolved(catalogue, body)["additionalProperties"].is_object())
}

/// The field by which an operation is told its model; one that has no such field is told all the same.
pub(crate) fn model_field(catalogue: &Catalogue, operation: &ApiOperation) -> &'static str {
    let [usual, other] = MODEL;
    let is_other = field_of(catalogue, operation, other).is_some();
    if is_other { other } else { usual }
}

/// Whether a field names a model to an operation that makes something: the service knows which models there are.
fn names_model(catalogue: &Catalogue, operation: &ApiOperation, field: &str) -> bool {
    operation.makes.is_some() && field == model_field(catalogue, operation)
}

/// Whether a form takes a field as a file.
pub(crate) fn takes_file(catalogue: &Catalogue, operation: &ApiOperation, name: &str) -> bool {
    let form = operation.form.as_ref();
    let field = form.and_then(|form| resolved(catalogue, form)["properties"].get(name));
    field.is_some_and(|field| field["format"] == "binary" || field["items"]["format"] == "binary")
}

/// Puts a value into a field; a second one makes a list of both where the field is one, and is a mistake elsewhere.
fn add(
    catalogue: &Catalogue,
    fields: &mut Map<String, Value>,
    name: &str,
    value: Value,
    schema: &Value,
) -> Result<(), Fault> {
    let lists = may_be(catalogue, schema, "array");
    match fields.get_mut(name) {
        Some(Value::Array(list)) => match value {
            Value::Array(more) => list.extend(more),
            one => list.push(one),
        },
        Some(first) if lists => *first = Value::Array(vec![first.take(), value]),
        Some(_) => {
            let message = format!("{name}: takes one value, two were given");
            return Err(Fault::new(ExitReason::Usage, message));
        }
        None if lists && !may_be(catalogue, schema, "string") && !value.is_array() => {
            fields.insert(name.to_owned(), Value::Array(vec![value]));
        }
        None => {
            fields.insert(name.to_owned(), value);
        }
    }
    Ok(())
}

/// Reads text as the kind of a field; what cannot be read stays text, and the service says what is wrong with it.
fn value_of(catalogue: &Catalogue, schema: &Value, text: &str) -> Value {
    let may = |kind| may_be(catalogue, schema, kind);
    let json = || serde_json::from_str::<Value>(text).ok();
    let resolved = resolved(catalogue, schema);
    if may("integer") || may("number") {
        return json()
            .filter(Value::is_number)
            .unwrap_or_else(|| text.into());
    }
    if may("boolean") {
        return json()
            .filter(Value::is_boolean)
            .unwrap_or_else(|| text.into());
    }
    if may("array") && text.starts_with('[') || may("object") && text.starts_with('{') {
        return json().unwrap_or_else(|| text.into());
    }
    // Words without spaces in them may stand in one list; pictures and prompts may hold commas.
    if may("array")
        && !may("string")
        && picture(catalogue, resolved).is_none()
        && text.contains(',')
    {
        return text.split(',').map(str::trim).map(Value::from).collect();
    }
    if resolved.get("type").is_none() && resolved.get("anyOf").is_none() {
        return json().unwrap_or_else(|| text.into());
    }
    text.into()
}

fn text_of(given: &FieldValue) -> Result<String, Fault> {
    match given {
        FieldValue::Text(text) => Ok(text.clone()),
        FieldValue::Json(value) => Ok(plain(value)),
        FieldValue::File(file) => open(file)?.text(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample::catalogue;

    async fn made(name: &str, words: &[&str]) -> Result<ApiRequest, Fault> {
        let catalogue = catalogue();
        let operation = catalogue
            .operations
            .iter()
            .find(|one| one.name == name)
            .expect(name);
        let words: Result<Vec<FieldArg>, Fault> =
            words.iter().map(|word| FieldArg::read(word)).collect();
        let upload = async |file: UploadFile| Ok(format!("https://service/{}", file.name));
        build_request(catalogue, operation, &words?, 64, upload).await
    }

    fn sent(asked: ApiRequest) -> Value {
        match asked.sent {
            RequestBody::Json(fields) => fields.into(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn values_become_what_their_fields_are() {
        let words = [
            "prompt=a fox, at dawn",
            "timeout=300",
            "getUImages=true",
            "hook_url=https://a.example/",
        ];
        let asked = made("artgen.imagine", &words).await.expect("a call");
        assert!(asked.repeatable);
        let body = json!({ "prompt": "a fox, at dawn", "timeout": 300, "getUImages": true, "hookUrl": "https://a.example/" });
        assert_eq!(sent(asked), body);
        let issued = made("account.keys.issue", &["name=laptop", "scopes=submit,read"]).await;
        let issued = issued.expect("a call");
        assert!(!issued.repeatable, "a second key would be a second key");
        assert_eq!(
            sent(issued),
            json!({ "name": "laptop", "scopes": ["submit", "read"] })
        );
    }

    #[tokio::test]
    async fn a_file_goes_in_as_the_field_takes_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.png");
        std::fs::write(&file, b"\x89PNG rest").expect("written");
        let given = |field: &str| format!("{field}=@{}", file.display());
        let swap = made(
            "facegen.swap",
            &[&given("targetImage"), &given("swapImage")],
        )
        .await;
        assert_eq!(
            sent(swap.expect("a call"))["swapImage"],
            "https://service/a.png"
        );
        let cut = made("artgen.describe", &[&given("base64")])
            .await
            .expect("a call");
        let image = sent(cut)["base64"].as_str().expect("text").to_owned();
        assert!(image.starts_with("data:image/png;base64,"), "{image}");
        let mask = made("artgen.inpaint", &["jobId=a", "prompt=b", &given("mask")]).await;
        let mask = sent(mask.expect("a call"))["mask"].to_string();
        assert!(mask.contains("data:image/png;base64,"), "{mask}");
        let large = folder.path().join("large.png");
        std::fs::write(&large, [b"\x89PNG".as_slice(), &[0; 100]].concat()).expect("written");
        let large = format!("base64=@{}", large.display());
        let large = made("artgen.describe", &[&large]).await.expect("a call");
        assert_eq!(sent(large)["base64"], "https://service/large.png");
        let edit = made(
            "imgmodel.edits",
            &[&given("image"), &given("image"), "prompt=a hat"],
        )
        .await;
        let RequestBody::Form(parts) = edit.expect("a call").sent else {
            panic!("a form")
        };
        assert_eq!(parts.len(), 3);
    }

    #[tokio::test]
    async fn what_is_not_in_the_table_is_refused_before_it_is_sent() {
        for (words, said) in [
            (&["promt=a"][..], "has no field `promt`; it has: prompt"),
            (&[], "needs prompt"),
            (&["prompt"], "field=value"),
            (&["prompt=a", "prompt=b"], "prompt: takes one value"),
        ] {
            let fault = made("artgen.imagine", words).await.expect_err(said);
            assert_eq!(fault.end, ExitReason::Usage);
            assert!(fault.message.contains(said), "{}", fault.message);
        }
    }

    /// The promise: whatever makes something may be told a model that an operator made; its name is text, whatever it looks like.
    #[tokio::test]
    async fn a_model_may_be_named_to_every_operation_that_makes_something() {
        let words = [
            "targetImage=https://example.com/a.png",
            "swapImage=https://example.com/b.png",
            "model=2026",
        ];
        let asked = made("facegen.swap", &words).await.expect("a call");
        assert_eq!(sent(asked)["model"], "2026");
        let fault = made("account.keys.issue", &["model=x"]).await;
        assert!(fault.is_err(), "a key is nothing that a model makes");
    }

    #[tokio::test]
    async fn a_page_that_takes_a_file_or_names_of_its_own_is_given_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.png");
        std::fs::write(&file, b"\x89PNG rest").expect("written");
        let upload = made("files.upload", &[&format!("file=@{}", file.display())]).await;
        let RequestBody::Form(parts) = upload.expect("a call").sent else {
            panic!("a form")
        };
        assert!(matches!(&parts[..], [(name, FormValue::File(_))] if name == "file"));
        let prices = made("admin.prices.change", &["artgen.imagine.fast=8"]).await;
        assert_eq!(
            sent(prices.expect("a call")),
            json!({ "artgen.imagine.fast": 8 })
        );
    }

    #[tokio::test]
    async fn what_belongs_into_the_path_or_the_query_goes_there() {
        let asked = made("admin.keys.revoke", &["id=a/b", "keyId=k"])
            .await
            .expect("a call");
        assert_eq!(asked.path, "/admin/v1/accounts/a%2Fb/keys/k");
        let asked = made("jobs.list", &["limit=5"]).await.expect("a call");
        assert_eq!(asked.query, [("limit".to_owned(), "5".to_owned())]);
    }
}
