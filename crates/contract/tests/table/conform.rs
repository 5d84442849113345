//! A small reader of the table's JSON Schemas: the properties of a request, and whether a body has a shape.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// A schema with the definitions it refers to.
pub(crate) struct Schemas {
    root: Value,
    definitions: Map<String, Value>,
}

impl Schemas {
    /// The schema a function of the table makes.
    pub(crate) fn of(make: fn(&mut SchemaGenerator) -> Schema) -> Self {
        let mut generator = SchemaGenerator::default();
        let root = make(&mut generator).to_value();
        let definitions = generator.take_definitions(true);
        Self { root, definitions }
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"]
            .as_str()
            .and_then(|path| path.rsplit('/').next())
        {
            Some(name) => &self.definitions[name],
            None => schema,
        }
    }

    /// The properties at the top level, by name.
    pub(crate) fn properties(&self) -> Vec<(String, Value)> {
        let root = self.resolve(&self.root);
        let properties = root["properties"].as_object().expect("an object");
        let resolved =
            |(name, schema): (&String, &Value)| (name.clone(), self.resolve(schema).clone());
        properties.iter().map(resolved).collect()
    }

    /// Whether a property must be there.
    pub(crate) fn requires(&self, field: &str) -> bool {
        let root = self.resolve(&self.root);
        let required = root["required"].as_array();
        required.is_some_and(|names| names.iter().any(|name| name == field))
    }

    /// Where a value does not have the shape of the schema.
    pub(crate) fn faults(&self, value: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(&self.root, value, "$", &mut faults);
        faults
    }

    fn check(&self, schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
        let schema = self.resolve(schema);
        if let Some(choices) = schema["anyOf"].as_array() {
            let fits = choices.iter().any(|choice| {
                let mut inner = Vec::new();
                self.check(choice, value, path, &mut inner);
                inner.is_empty()
            });
            if !fits {
                faults.push(format!("{path}: fits no choice: {value}"));
            }
            return;
        }
        if !type_fits(&schema["type"], value) {
            faults.push(format!("{path}: is {value}, wanted {}", schema["type"]));
        }
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
        {
            faults.push(format!("{path}: {value} is not listed"));
        }
        if let Value::Object(fields) = value {
            for (name, value) in fields {
                match schema["properties"].get(name) {
                    Some(inner) => self.check(inner, value, &format!("{path}.{name}"), faults),
                    None => faults.push(format!("{path}.{name}: not described")),
                }
            }
            let required = schema["required"].as_array().into_iter().flatten();
            for name in required.filter_map(Value::as_str) {
                if !fields.contains_key(name) {
                    faults.push(format!("{path}.{name}: missing"));
                }
            }
        }
        if let Value::Array(items) = value {
            for (index, item) in items.iter().enumerate() {
                self.check(&schema["items"], item, &format!("{path}[{index}]"), faults);
            }
        }
    }
}

fn type_fits(wanted: &Value, value: &Value) -> bool {
    let fits = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    match wanted {
        Value::String(name) => fits(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    }
}
