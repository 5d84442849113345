//! The tools: one for every operation of the contract's table, and a few to wait, look and count. What they say of models
//! follows those of the operator.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::FAMILIES;
use atelier_contract::body::Fields;
use atelier_contract::family::{Family, SubmitEndpoint};
use atelier_contract::models::{DatedModels, ModelCatalogue};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::edition_cache::EditionCache;

/// How long a tool waits unless told otherwise: most clients give up after a minute.
const USUAL_WAIT_S: u64 = 50;
/// The longest that an agent may have a tool wait.
const LONGEST_WAIT_S: u64 = 600;
/// The argument that says how long.
const WAIT: &str = "waitSeconds";
/// Agents are answered here, not called back, and in one way.
const NOT_FOR_AGENTS: [&str; 5] = ["hookUrl", "hook_url", "async", "stream", "partial_images"];

/// What a tool does.
#[derive(Clone, Copy)]
pub(super) enum ToolAction {
    Submit(&'static Family, &'static SubmitEndpoint),
    /// Waits for a job.
    Wait,
    List,
    Cancel,
    /// Says what is left.
    Quota,
}

/// A tool as agents see it.
pub(super) struct Tool {
    name: String,
    action: ToolAction,
    definition: Value,
}

/// Groups whose tools are remembered.
const GROUPS_MOST: usize = 32;

static TOOLS: EditionCache<Vec<Tool>> = EditionCache::new();
/// The same of the groups that models are sold to, by name.
static GROUP_TOOLS: EditionCache<GroupTools> = EditionCache::new();

/// The tools of some groups, by name.
#[derive(Default)]
struct GroupTools {
    known: Mutex<HashMap<String, Arc<Vec<Tool>>>>,
}

/// Every tool, for agents of a service with these models.
pub(super) fn tools(models: &Arc<ModelCatalogue>, now_ms: i64) -> Arc<Vec<Tool>> {
    TOOLS.get(models, now_ms, all_tools)
}

/// The same with the models of a group.
pub(super) fn tools_of(models: &Arc<ModelCatalogue>, now_ms: i64, group: &str) -> Arc<Vec<Tool>> {
    if !models.is_sold_to(group) {
        return tools(models, now_ms);
    }
    let groups = GROUP_TOOLS.get(models, now_ms, |_| GroupTools::default());
    let mut groups = groups.known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = groups.get(group) {
        return Arc::clone(known);
    }
    if groups.len() >= GROUPS_MOST {
        groups.clear();
    }
    let made = Arc::new(all_tools(models.at(now_ms).with_group(group)));
    groups.insert(group.to_owned(), Arc::clone(&made));
    made
}

fn all_tools(models: DatedModels<'_>) -> Vec<Tool> {
    let submits = FAMILIES
        .iter()
        .flat_map(|family| family.submits.iter().map(move |submit| (family, submit)));
    let mut all: Vec<Tool> = submits
        .map(|(family, submit)| submit_tool(family, submit, models))
        .collect();
    all.extend(query_tools());
    all
}

/// The tools as they are listed.
pub(super) fn list<'a>(tools: &'a [Tool], only: &[String]) -> Vec<&'a Value> {
    let wanted = tools.iter().filter(|tool| is_wanted(tool, only));
    wanted.map(|tool| &tool.definition).collect()
}

/// The tool with a name.
pub(super) fn find(tools: &[Tool], name: &str, only: &[String]) -> Option<ToolAction> {
    let mut wanted = tools.iter().filter(|tool| is_wanted(tool, only));
    wanted
        .find(|tool| tool.name == name)
        .map(|tool| tool.action)
}

/// Whether a tool is among those asked for; those that make nothing always are.
fn is_wanted(tool: &Tool, only: &[String]) -> bool {
    let begins = |start: &String| tool.name.starts_with(&start.replace('.', "_"));
    only.is_empty() || !matches!(tool.action, ToolAction::Submit(..)) || only.iter().any(begins)
}

/// Takes the time to wait out of the arguments.
pub(super) fn take_wait(arguments: &mut Fields) -> Duration {
    let asked = arguments.remove(WAIT);
    let asked = asked
        .and_then(|asked| asked.as_f64())
        .map(|seconds| seconds.max(0.0) as u64);
    Duration::from_secs(asked.unwrap_or(USUAL_WAIT_S).min(LONGEST_WAIT_S))
}

fn submit_tool(
    family: &'static Family,
    submit: &'static SubmitEndpoint,
    models: DatedModels<'_>,
) -> Tool {
    let name = submit.name.replace('.', "_");
    let mut schema = schema_of(submit, models);
    let said = schema.remove("description");
    let said = said.as_ref().and_then(Value::as_str).unwrap_or_default();
    let title = format!("{}: {}", family.title, submit.name);
    let description = format!(
        "{said}\n\n{}. Costs quota; waits for the result and answers with previews of pictures, addresses and the jobId.",
        family.title
    );
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.retain(|name, _| !NOT_FOR_AGENTS.contains(&name.as_str()));
        fields.insert(WAIT.into(), wait_schema());
    }
    let hints = json!({ "readOnlyHint": false, "destructiveHint": false, "openWorldHint": true });
    let definition = json!({ "name": name, "title": title, "description": description, "inputSchema": schema, "annotations": hints });
    Tool {
        name,
        action: ToolAction::Submit(family, submit),
        definition,
    }
}

/// The schema of a request, whole in itself.
fn schema_of(submit: &SubmitEndpoint, models: DatedModels<'_>) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut generator: SchemaGenerator = settings.into_generator();
    let schema = (submit.schema)(&mut generator).to_value();
    let mut others = generator.take_definitions(true);
    let name = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next());
    let mut own = name.and_then(|name| others.remove(name)).unwrap_or(schema);
    if !models.is_empty() {
        models.schema(submit, &mut own);
    }
    let mut own = own.as_object().cloned().unwrap_or_default();
    if !others.is_empty() {
        own.insert("$defs".into(), Value::Object(others));
    }
    own.entry("type").or_insert_with(|| "object".into());
    own
}

fn wait_schema() -> Value {
    json!({
        "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT_S, "default": USUAL_WAIT_S,
        "description": "Seconds to wait for the result; the job goes on when they are over.",
    })
}

/// The tools that make nothing.
fn query_tools() -> Vec<Tool> {
    let job = json!({ "type": "string", "description": "Identifier of a job." });
    let tool = |name: &str,
                action: ToolAction,
                description: &str,
                fields: Value,
                required: Value,
                reads: bool| {
        Tool {
            name: name.to_owned(),
            action,
            definition: json!({
                "name": name, "description": description,
                "inputSchema": { "type": "object", "properties": fields, "required": required },
                "annotations": { "readOnlyHint": reads, "destructiveHint": !reads },
            }),
        }
    };
    vec![
        tool(
            "wait_for_job",
            ToolAction::Wait,
            "Waits for a job that was still running and answers with its result.",
            json!({ "jobId": job, WAIT: wait_schema() }),
            json!(["jobId"]),
            true,
        ),
        tool(
            "list_jobs",
            ToolAction::List,
            "The newest jobs of this account with their states and results.",
            json!({ "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "How many." } }),
            json!([]),
            true,
        ),
        tool(
            "cancel_job",
            ToolAction::Cancel,
            "Ends a job that is not over; its quota comes back.",
            json!({ "jobId": job }),
            json!(["jobId"]),
            false,
        ),
        tool(
            "quota",
            ToolAction::Quota,
            "What is left of this account's quota, and what is held for running jobs.",
            json!({}),
            json!([]),
            true,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use atelier_contract::models::{ModelDefinition, ModelRevision};

    use super::*;

    #[test]
    fn every_operation_is_a_tool_that_agents_accept() {
        let tools = tools(&Arc::default(), 0);
        let all = list(&tools, &[]);
        let submits: usize = FAMILIES.iter().map(|family| family.submits.len()).sum();
        assert_eq!(all.len(), submits + 4);
        for tool in all {
            let name = tool["name"].as_str().expect("a name");
            assert!(
                name.len() <= 64
                    && name
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                "{name}"
            );
            assert!(
                tool["description"]
                    .as_str()
                    .is_some_and(|text| text.len() > 40),
                "{name}"
            );
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object", "{name}");
            assert!(schema.get("$ref").is_none(), "{name}");
            for field in NOT_FOR_AGENTS {
                assert!(schema["properties"].get(field).is_none(), "{name}");
            }
            for definition in schema.to_string().split("#/$defs/").skip(1) {
                let end = definition.find('"').expect("a quote");
                assert!(
                    schema["$defs"].get(&definition[..end]).is_some(),
                    "{name}: {}",
                    &definition[..end]
                );
            }
        }
    }

    /// The promise: an agent is told of the models that its account may name, and of no others.
    #[test]
    fn an_agent_is_told_of_the_models_of_its_group() {
        let definition = ModelDefinition {
            like: Some("facegen.swap".to_owned()),
            groups: vec!["vip".to_owned()],
            ..ModelDefinition::named("secret")
        };
        let models = Arc::new(ModelCatalogue::new(vec![ModelRevision {
            definition,
            revision: 1,
            removed: false,
            changed_ms: 0,
        }]));
        let names = |group: &str| {
            let tools = tools_of(&models, 0, group);
            let swap = tools.iter().find(|tool| tool.name == "facegen_swap");
            let model = &swap.expect("a tool").definition["inputSchema"]["properties"]["model"];
            model["enum"].clone()
        };
        assert_eq!(names("vip"), json!(["secret"]));
        assert_eq!(names("default"), Value::Null);
        assert!(Arc::ptr_eq(
            &tools_of(&models, 0, "vip"),
            &tools_of(&models, 0, "vip")
        ));
    }

    #[test]
    fn fewer_tools_can_be_asked_for() {
        let (tools, only) = (tools(&Arc::default(), 0), ["artgen.imagine".to_owned()]);
        assert_eq!(list(&tools, &only).len(), 5);
        assert!(find(&tools, "artgen_imagine", &only).is_some());
        assert!(find(&tools, "facegen_swap", &only).is_none());
    }
}
