//! Everything that can be called at this service: the contract's families and the pages of the table here.

use atelier_contract::catalogue::Catalogue;

use crate::pages::PAGES;

/// Made of both tables: families and pages.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue::of(PAGES)
}

#[cfg(test)]
mod tests {
    use atelier_contract::body::parse_object;
    use atelier_contract::catalogue::ResponseKind;
    use serde_json::Value;

    use super::*;

    /// The schema that a schema stands for.
    fn resolved<'a>(catalogue: &'a Catalogue, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str();
        let name = name.and_then(|path| path.rsplit('/').next());
        name.map_or(schema, |name| &catalogue.schemas[name])
    }

    /// Whether a schema says nothing of what it describes.
    fn is_bare(catalogue: &Catalogue, schema: &Value) -> bool {
        let schema = resolved(catalogue, schema);
        if schema["type"] == "array" {
            return is_bare(catalogue, &schema["items"]);
        }
        let described = ["type", "enum", "const", "anyOf", "oneOf", "allOf"];
        if !described.iter().any(|key| schema.get(key).is_some()) {
            return true;
        }
        let object = schema["type"] == "object";
        object && schema.get("properties").is_none() && !schema["additionalProperties"].is_object()
    }

    #[test]
    fn every_answer_says_what_its_data_is_made_of() {
        let catalogue = catalogue();
        let mut bare = Vec::new();
        let mut seen = 0;
        for operation in &catalogue.operations {
            let ResponseKind::Json(whole) = &operation.answer else {
                continue;
            };
            let whole = resolved(&catalogue, whole);
            let data = whole["properties"].get("data").unwrap_or(whole);
            seen += 1;
            if is_bare(&catalogue, data) {
                bare.push(operation.name.as_str());
            }
        }
        assert!(seen > 90, "{seen}");
        assert_eq!(bare, Vec::<&str>::new());
    }

    #[test]
    fn every_body_of_a_page_has_an_example_that_the_page_reads() {
        for page in PAGES {
            let Some(body) = page.takes.body else {
                assert!(page.example.is_none(), "{} reads no body", page.name);
                continue;
            };
            let example = page.example.unwrap_or_else(|| panic!("{}", page.name));
            let fields = parse_object(example.as_bytes()).expect(page.name);
            (body.reads)(fields).unwrap_or_else(|refusal| panic!("{}: {refusal}", page.name));
        }
    }

    #[test]
    fn what_operators_do_is_for_operators_and_what_callers_do_for_callers() {
        use atelier_contract::pages::{Access, Method};
        for operation in catalogue().operations {
            // What only works something out may be asked by whoever may look.
            let changes =
                !matches!(operation.method, Method::Get) && !operation.name.ends_with(".preview");
            let right = match operation.path.split('/').nth(1) {
                Some("admin") if changes => operation.access == Access::Operator,
                Some("admin") => operation.access == Access::Viewer,
                Some("jobs" | "account" | "custody" | "artgen") => {
                    matches!(operation.access, Access::Caller(_) | Access::Person)
                }
                _ => true,
            };
            assert!(right, "{}: {:?}", operation.name, operation.access);
        }
    }
}
