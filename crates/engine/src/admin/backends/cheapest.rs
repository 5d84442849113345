//! The cheapest request of an operation that needs nothing but words: its example with the smallest values that its schema
//! allows.

use atelier_contract::body::Fields;
use atelier_contract::brief::Brief;
use atelier_contract::family::SubmitEndpoint;
use atelier_contract::models::ModelDefinition;
use atelier_contract::operation::ReferencedJobs;
use serde_json::Value;

/// A request and what it asks for.
pub(super) struct CheapRequest {
    pub(super) request: Fields,
    pub(super) brief: Brief,
}

/// The cheapest request of an operation, by the rules of a model where it is one's; `None` for one that needs pictures, a clip
/// or an earlier job.
pub(super) fn cheapest(
    submit: &SubmitEndpoint,
    model: Option<&ModelDefinition>,
) -> Option<CheapRequest> {
    let schema = submit.body_schema();
    let example: Fields = serde_json::from_str(submit.example).ok()?;
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let is_needed = |name: &str| required.contains(&name) || matches!(name, "prompt" | "model");
    let mut fields: Fields = example
        .iter()
        .filter(|(name, _)| is_needed(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if wanted(submit, &fields).is_none() {
        fields = example;
    }
    wanted(submit, &fields)?;
    let properties = schema["properties"].as_object().into_iter().flatten();
    let by_schema = properties.filter_map(|(name, rules)| Some((name, least(rules)?)));
    let rules = model.into_iter().flat_map(|model| &model.fields);
    let by_model = rules.filter_map(|(name, rule)| {
        let allowed = rule.allowed.as_deref().and_then(least_of);
        Some((name, allowed.or_else(|| rule.default.clone())?))
    });
    // What the model says comes last, and so it wins.
    for (name, least) in by_schema.chain(by_model) {
        let mut smaller = fields.clone();
        smaller.insert(name.clone(), least);
        // Fields may exclude each other.
        if wanted(submit, &smaller).is_some() {
            fields = smaller;
        }
    }
    wanted(submit, &fields)
}

/// What a request asks for, if it can be made of words alone.
fn wanted(submit: &SubmitEndpoint, fields: &Fields) -> Option<CheapRequest> {
    let request = (submit.parse)(fields.clone()).ok()?;
    if request.parent().is_some() || !request.cites().is_empty() {
        return None;
    }
    let order = request.order(ReferencedJobs {
        parent: None,
        cited: &[],
    });
    let brief = *order.ok()?.brief;
    let is_plain = brief.inputs().next().is_none() && brief.video.is_none();
    is_plain.then(|| CheapRequest {
        request: request.to_fields(),
        brief,
    })
}

/// The value that is likely the cheapest of those that a field may have; `None` where that cannot be said.
fn least(rules: &Value) -> Option<Value> {
    if let Some(words) = rules["enum"].as_array() {
        // One end of a scale, and not the milder of two rules.
        let is_scale = words.iter().any(|word| word == "high");
        if let Some(low) = words.iter().find(|word| is_scale && *word == "low") {
            return Some(low.clone());
        }
        return least_of(words);
    }
    let counted = rules["type"] == "integer" && rules["default"].is_number();
    rules.get("minimum").filter(|_| counted).cloned()
}

/// The one that stands for least, where each of them stands for an amount.
fn least_of(words: &[Value]) -> Option<Value> {
    let sized: Option<Vec<(f64, &Value)>> = words
        .iter()
        .map(|word| amount(word).map(|amount| (amount, word)))
        .collect();
    let sized = sized?.into_iter();
    let least = sized.min_by(|one, other| one.0.total_cmp(&other.0));
    least.map(|(_, word)| word.clone())
}

/// How much a word stands for: a number, a size in pixels, lines such as `480p`.
fn amount(word: &Value) -> Option<f64> {
    let text = match word {
        Value::Number(number) => return number.as_f64(),
        Value::String(text) => text.as_str(),
        _ => return None,
    };
    if let Some((width, height)) = text.split_once('x') {
        return Some(width.parse::<f64>().ok()? * height.parse::<f64>().ok()?);
    }
    text.trim_end_matches(['p', 's']).parse().ok()
}

#[cfg(test)]
mod tests {
    use atelier_contract::{FAMILIES, operation};
    use serde_json::json;

    use super::*;

    fn of(name: &str) -> CheapRequest {
        let (_, submit) = operation(name).expect("an operation");
        cheapest(submit, None).unwrap_or_else(|| panic!("{name} has no cheap request"))
    }

    #[test]
    fn the_shortest_and_smallest_is_asked_for() {
        let clip = of("vidgen.generations").brief;
        assert_eq!((clip.seconds, clip.count), (10, 1));
        let clip = of("vidgen_partner.generations").brief;
        assert_eq!(clip.seconds, 4);
        assert_eq!(of("imgmodel.generations").brief.count, 1);
    }

    #[test]
    fn a_models_own_lengths_are_kept_to() {
        let (_, submit) = operation("vidgen_partner.generations").expect("an operation");
        let model = json!({ "name": "m", "like": "vidgen_partner.generations",
            "fields": { "seconds": { "allowed": [8, 12] } } });
        let model: ModelDefinition = serde_json::from_value(model).expect("a model");
        let clip = cheapest(submit, Some(&model)).expect("a request").brief;
        assert_eq!(clip.seconds, 8);
    }

    #[test]
    fn what_needs_a_picture_or_an_earlier_job_has_none() {
        for name in ["facegen.swap", "design.vectorize", "artgen.action"] {
            let (_, submit) = operation(name).expect("an operation");
            assert!(cheapest(submit, None).is_none(), "{name}");
        }
    }

    #[test]
    fn most_families_have_a_cheap_request() {
        let has_one = |name: &str| {
            let submits = FAMILIES.iter().filter(|family| family.name == name);
            let mut submits = submits.flat_map(|family| family.submits);
            submits.any(|submit| cheapest(submit, None).is_some())
        };
        let without: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
        let without: Vec<_> = without.into_iter().filter(|name| !has_one(name)).collect();
        assert_eq!(
            without,
            ["artgen_video", "facegen", "motion"],
            "they need pictures"
        );
    }
}
