//! What an operator may set for a ComfyUI server: above all, which workflow serves what.

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use atelier_contract::unknown_name;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::template::{NAMES, Template};
use crate::backend::{Fault, Work};
use crate::field_error::FieldError;
use crate::inputs::unsupported;
use crate::task_vendor::Capabilities;
use crate::vendor::schema_of;

/// Seconds between two questions, unless the operator says otherwise.
const POLL_SECONDS: f64 = 1.5;

/// The settings as they are written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawComfyUiSettings {
    workflows: BTreeMap<String, Value>,
    #[serde(default)]
    values: Map<String, Value>,
    #[serde(default)]
    size_step: Option<u32>,
    #[serde(default)]
    most_pixels: Option<u32>,
    #[serde(default)]
    frames_per_second: Option<u32>,
    #[serde(default)]
    poll_seconds: Option<f64>,
    #[serde(default)]
    temporary: bool,
}

/// What may be written, for forms.
pub(super) fn schema() -> Value {
    schema_of::<RawComfyUiSettings>()
}

/// The settings of a server.
#[derive(Debug)]
pub(super) struct ComfyUiSettings {
    workflows: BTreeMap<String, Template>,
    /// Values for placeholders of the operator's own.
    pub(super) values: Map<String, Value>,
    pub(super) size_step: u32,
    pub(super) most_pixels: f64,
    pub(super) frames_per_second: u32,
    pub(super) poll: Duration,
    /// Pictures go where the server itself cleans up.
    pub(super) temporary: bool,
}

/// What may stand behind the `/` in the name of a workflow.
const VARIANTS: [&str; 9] = [
    "image", "mask", "upsample", "vary", "enlarge", "zoom_out", "pan", "square", "reroll",
];

impl ComfyUiSettings {
    /// Reads an operator's settings.
    pub(super) fn read(written: Value) -> Result<Self, FieldError> {
        let written = RawComfyUiSettings::deserialize(written).map_err(FieldError::settings)?;
        let mut workflows = BTreeMap::new();
        for (name, graph) in written.workflows {
            let wrong = |why: &str| FieldError::new(format!("workflows.{name}"), why);
            let operation = name.split('/').next().unwrap_or_default();
            if atelier_contract::operation(operation).is_none() {
                return Err(FieldError::new("workflows", unknown_name(operation)));
            }
            if let Some((_, variant)) = name.split_once('/')
                && !VARIANTS.contains(&variant)
            {
                let all = VARIANTS.join(", ");
                return Err(wrong(&format!("{variant} is none of {all}")));
            }
            let template = Template::read(graph).map_err(|why| wrong(&why))?;
            let known = |one: &&str| NAMES.contains(one) || written.values.contains_key(*one);
            if let Some(other) = template.names().into_iter().find(|one| !known(one)) {
                return Err(wrong(&format!("nothing is known of {{{{{other}}}}}")));
            }
            let template = if written.temporary {
                template.temporary()
            } else {
                template
            };
            workflows.insert(name, template);
        }
        if workflows.is_empty() {
            return Err(FieldError::new("workflows", "at least one must be given"));
        }
        let poll = written.poll_seconds.unwrap_or(POLL_SECONDS);
        Ok(Self {
            workflows,
            values: written.values,
            size_step: written.size_step.unwrap_or(8).clamp(1, 256),
            most_pixels: f64::from(
                written
                    .most_pixels
                    .unwrap_or(4 << 20)
                    .clamp(64 * 64, 1 << 26),
            ),
            frames_per_second: written.frames_per_second.unwrap_or(24).clamp(1, 120),
            poll: Duration::from_secs_f64(poll.clamp(0.2, 300.0)),
            temporary: written.temporary,
        })
    }

    /// Whether some workflow is for an operation.
    pub(super) fn serves(&self, operation: &str) -> bool {
        let of = |name: &String| name.split('/').next().unwrap_or_default().to_owned();
        if self.workflows.keys().any(|name| of(name) == operation) {
            return true;
        }
        // Whoever draws in fours can say which seed was used.
        let submit = |name: &str| atelier_contract::operation(name).map(|(_, submit)| submit);
        submit(operation).is_some_and(|submit| submit.makes_only(&[Task::Seed]))
            && self
                .workflows
                .keys()
                .any(|name| submit(&of(name)).is_some_and(|one| one.in_fours))
    }

    /// The first workflow for which a server lacks something, by its own list of nodes.
    pub(super) fn missing(&self, known: &Value) -> Option<String> {
        let lacks = |(name, template): (&String, &Template)| {
            let what = template.missing(known)?;
            Some(format!("workflows.{name}: the server has not {what}"))
        };
        self.workflows.iter().find_map(lacks)
    }

    /// Refuses wishes for which the workflow has no place, before anything is sent.
    pub(super) fn check(&self, work: &Work) -> Result<(), Fault> {
        self.check_brief(&work.operation, &work.brief)
    }

    fn check_brief(&self, operation: &str, brief: &Brief) -> Result<(), Fault> {
        let names = self.template_for(operation, brief)?.names();
        if brief.looped && !names.contains(&"loop") {
            return Err(unsupported("loop", "no back end for loops is available"));
        }
        let Some(end) = brief.last_frame else {
            return Ok(());
        };
        // The second picture of a workflow is the end of a video, unless it has a place of that name.
        let has_place = names.contains(&"end_image") || (end == 1 && names.contains(&"image2"));
        if has_place {
            return Ok(());
        }
        let field = brief
            .sources
            .get(end)
            .map_or("image", |source| &source.field);
        Err(unsupported(
            field,
            "no back end for end frames is available",
        ))
    }

    /// The workflow for a piece of work: the one for its task, its mask or its pictures, or else the operation's.
    pub(super) fn template(&self, work: &Work) -> Result<&Template, Fault> {
        self.template_for(&work.operation, &work.brief)
    }

    /// What the workflow for a request has places for; what has none is without effect.
    pub(super) fn capabilities(
        &self,
        operation: &str,
        brief: &Brief,
    ) -> Result<Capabilities, Fault> {
        self.check_brief(operation, brief)?;
        let names = self.template_for(operation, brief)?.names();
        let has = |name: &str| names.contains(&name);
        Ok(Capabilities {
            seeds: has("seed"),
            strength: has("strength"),
            ..Capabilities::all()
        })
    }

    fn template_for(&self, operation: &str, brief: &Brief) -> Result<&Template, Fault> {
        let named = |variant: &str| self.workflows.get(&format!("{operation}/{variant}"));
        let masked = brief.mask.as_ref().and_then(|_| named("mask"));
        let pictured = brief.sources.first().and_then(|_| named("image"));
        named(task_word(brief.task))
            .or(masked)
            .or(pictured)
            .or_else(|| self.workflows.get(operation))
            .ok_or_else(|| unsupported("action", "no back end for this action is available"))
    }

    /// How many prompts a piece of work is queued as: one, unless the workflow makes one picture at a time.
    pub(super) fn prompts(&self, work: &Work) -> Result<u32, Fault> {
        let count = work.brief.count.clamp(1, 16);
        let apart = work.brief.task == Task::Repaint && work.brief.of_grid;
        let together = self.template(work)?.names().contains(&"count");
        Ok(if together && !apart { 1 } else { count })
    }
}

/// The word of a task in the names of workflows.
fn task_word(task: Task) -> &'static str {
    match task {
        Task::Upsample(_) => "upsample",
        Task::Vary(..) => "vary",
        Task::Enlarge(..) => "enlarge",
        Task::ZoomOut(_) => "zoom_out",
        Task::Pan(_) => "pan",
        Task::Square => "square",
        Task::Reroll => "reroll",
        _ => "",
    }
}
