//! Where the parts of a result stand in a family's answer. The table's own render function is given a job whose
//! parts are marked; wherever a mark comes out, the remote's answer has the real thing.

use atelier_contract::body::Fields;
use atelier_contract::family::{AnswerMode, Family, FinishedJob, SubmitEndpoint};
use atelier_contract::{File, FileRole, Job, JobId, JobState, Notes, Output, Quota, Speed};
use serde_json::Value;

/// What a value in a result is, so that its files can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultPart {
    /// The address of a file.
    File(FileRole),
    /// A main file in base64.
    Bytes,
    /// Prompts that were found, one a line.
    Prompts,
    Seed,
    /// The prompt that was really used.
    Revised,
    /// The name later requests may cite.
    Alias,
}

const ORIGIN: &str = "marked-origin-";
const PROXY: &str = "marked-proxy-";
const ROLES: [(FileRole, &str); 4] = [
    (FileRole::Main, "main"),
    (FileRole::Small, "small"),
    (FileRole::FirstFrame, "first"),
    (FileRole::LastFrame, "last"),
];
const TEXTS: [(ResultPart, &str); 5] = [
    (ResultPart::Bytes, "marked-bytes"),
    (ResultPart::Prompts, "marked-prompt"),
    (ResultPart::Seed, "marked-seed"),
    (ResultPart::Revised, "marked-revised"),
    (ResultPart::Alias, "marked-alias"),
];

/// One step into a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Key(String),
    Each,
}

/// The places of every part, in the order they are looked at.
pub(super) struct ResultShape {
    places: Vec<(ResultPart, Vec<PathStep>)>,
}

impl ResultShape {
    /// The shape of the answer to a request.
    pub(super) fn of(family: &Family, submit: &SubmitEndpoint, request: &Fields) -> Self {
        let mut shape = Self { places: Vec::new() };
        let job = marked(submit.name, request.clone());
        match submit.answers_with {
            AnswerMode::Job => shape.learn(&(family.render)(family, &job)),
            AnswerMode::Answer(render) => {
                // A remote may answer with addresses or with bytes, whichever was asked for.
                for format in ["url", "b64_json"] {
                    let mut job = job.clone();
                    job.request.insert("response_format".into(), format.into());
                    let base64 = [mark(ResultPart::Bytes).to_owned()];
                    let finished = FinishedJob {
                        job: &job,
                        base64: &base64,
                    };
                    shape.learn(&render(&finished));
                }
            }
        }
        shape
    }

    fn learn(&mut self, rendered: &Value) {
        self.walk(rendered, &mut Vec::new());
    }

    fn walk(&mut self, value: &Value, path: &mut Vec<PathStep>) {
        match value {
            Value::String(text) => {
                if let Some(part) = part_of(text)
                    && !self.places.contains(&(part, path.clone()))
                {
                    self.places.push((part, path.clone()));
                }
            }
            Value::Array(items) => {
                path.push(PathStep::Each);
                for item in items {
                    self.walk(item, path);
                }
                path.pop();
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    path.push(PathStep::Key(key.clone()));
                    self.walk(value, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    /// What an answer has of a part: one list for each place that is not empty.
    pub(super) fn read(&self, body: &Value, part: ResultPart) -> Vec<Vec<String>> {
        let mut lists = Vec::new();
        for (_, path) in self.places.iter().filter(|(found, _)| *found == part) {
            let mut list = Vec::new();
            gather(body, path, &mut list);
            if !list.is_empty() && !lists.contains(&list) {
                lists.push(list);
            }
        }
        lists
    }
}

fn gather(value: &Value, path: &[PathStep], found: &mut Vec<String>) {
    match (path.split_first(), value) {
        (None, Value::String(text)) if !text.is_empty() => found.push(text.clone()),
        (None, Value::Number(number)) => found.push(number.to_string()),
        (Some((PathStep::Key(key), rest)), Value::Object(fields)) => {
            if let Some(value) = fields.get(key) {
                gather(value, rest, found);
            }
        }
        (Some((PathStep::Each, rest)), Value::Array(items)) => {
            for item in items {
                gather(item, rest, found);
            }
        }
        _ => {}
    }
}

fn mark(part: ResultPart) -> &'static str {
    let found = TEXTS.iter().find(|(other, _)| *other == part);
    found.map_or("", |(_, mark)| mark)
}

fn part_of(text: &str) -> Option<ResultPart> {
    let role = text
        .strip_prefix(ORIGIN)
        .or_else(|| text.strip_prefix(PROXY));
    if let Some(name) = role {
        let found = ROLES.iter().find(|(_, other)| *other == name);
        return found.map(|(role, _)| ResultPart::File(*role));
    }
    let found = TEXTS.iter().find(|(_, mark)| *mark == text);
    found.map(|(part, _)| *part)
}

/// A finished job with a mark wherever something was made.
fn marked(operation: &str, request: Fields) -> Job {
    let file = |(role, name): (FileRole, &str)| File {
        role,
        width: 1,
        height: 1,
        origin_url: format!("{ORIGIN}{name}"),
        cdn_url: format!("{PROXY}{name}"),
        ..File::default()
    };
    let text = |part| Some(mark(part).to_owned());
    let output = Output {
        files: ROLES.map(file).into(),
        prompts: vec![mark(ResultPart::Prompts).to_owned()],
        seed: text(ResultPart::Seed),
        revised_prompt: text(ResultPart::Revised),
        alias: text(ResultPart::Alias),
        made: 1,
        ignored: Vec::new(),
        notes: Notes::default(),
    };
    Job {
        id: JobId::new(""),
        operation: operation.to_owned(),
        state: JobState::Succeeded,
        progress: 100,
        message: None,
        fault: None,
        request,
        output: Some(output),
        speed: Speed::Fast,
        price: Quota::ZERO,
        quota: Quota::ZERO,
        parent: None,
        hook_url: None,
        hook_times: 0,
        created_ms: 0,
        started_ms: None,
        finished_ms: Some(0),
        deadline_ms: 0,
        updated_ms: 0,
        revision: 0,
        price_lines: Vec::new(),
        spender: atelier_contract::Spender::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shape(name: &str, request: &Value) -> ResultShape {
        let (family, submit) = atelier_contract::operation(name).expect("in the table");
        let fields = request.as_object().expect("an object").clone();
        ResultShape::of(family, submit, &fields)
    }

    #[test]
    fn every_operation_has_a_place_for_what_it_makes() {
        for family in atelier_contract::FAMILIES {
            for submit in family.submits {
                let request: Fields = serde_json::from_str(submit.example).expect("an example");
                let parsed = (submit.parse)(request).expect("a good example");
                let shape = ResultShape::of(family, submit, &parsed.to_fields());
                let part = match submit.name {
                    "artgen.describe" | "artgen.shorten" => ResultPart::Prompts,
                    "artgen.seed" => ResultPart::Seed,
                    _ => ResultPart::File(FileRole::Main),
                };
                let places = shape.places.iter().filter(|(found, _)| *found == part);
                assert!(places.count() > 0, "{}", submit.name);
            }
        }
    }

    #[test]
    fn lists_are_read_whole_and_each_place_once() {
        let videos = shape("artgen.video.submit", &json!({ "prompt": "x" }));
        let body = json!({ "data": { "videos": ["a", "b", "c"] } });
        let main = ResultPart::File(FileRole::Main);
        assert_eq!(videos.read(&body, main), [["a", "b", "c"]]);

        let images = shape("design.generations", &json!({ "prompt": "x" }));
        let body = json!({ "data": { "images": [{ "url": "a" }, { "url": "b" }] } });
        assert_eq!(images.read(&body, main), [["a", "b"]]);

        let grid = shape("artgen.imagine", &json!({ "prompt": "x" }));
        let body = json!({
            "originImage": "o", "cdnImage": "c", "images": ["1", "2"],
            "data": { "originImage": "o", "cdnImage": "c", "images": ["1", "2"] },
        });
        assert_eq!(grid.read(&body, main), [["c"], ["o"]]);
        assert_eq!(
            grid.read(&body, ResultPart::File(FileRole::Small)),
            [["1", "2"]]
        );
    }

    #[test]
    fn images_may_come_as_addresses_or_as_bytes() {
        let request = json!({ "prompt": "x", "model": "art-3" });
        let images = shape("imgmodel.generations", &request);
        let body = json!({ "data": [{ "b64_json": "QQ==", "revised_prompt": "y" }] });
        assert_eq!(images.read(&body, ResultPart::Bytes), [["QQ=="]]);
        assert_eq!(images.read(&body, ResultPart::Revised), [["y"]]);
        let body = json!({ "data": [{ "url": "http://a/" }] });
        assert_eq!(
            images.read(&body, ResultPart::File(FileRole::Main)),
            [["http://a/"]]
        );
    }
}
