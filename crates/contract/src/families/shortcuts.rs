//! Short words for the operations that people ask for most, for whoever types them.

/// A short word for an operation.
#[derive(Clone, Copy, Debug)]
pub struct Shortcut {
    /// What people type instead of the operation's name.
    pub word: &'static str,
    /// The operation it stands for.
    pub operation: &'static str,
    /// The fields that need no name, in order.
    pub fields: &'static [&'static str],
    /// A line one may paste, behind the word.
    pub example: &'static str,
}

/// Every short word, once each.
pub const SHORTCUTS: &[Shortcut] = &[
    Shortcut {
        word: "imagine",
        operation: "artgen.imagine",
        fields: &["prompt"],
        example: "\"a lighthouse at dawn --ar 3:2\"",
    },
    Shortcut {
        word: "video",
        operation: "vidgen.generations",
        fields: &["prompt"],
        example: "\"a sailing boat crosses a quiet bay\" duration=10",
    },
    Shortcut {
        word: "edit",
        operation: "imgmodel.edits",
        fields: &["image", "prompt"],
        example: "picture.png \"put a red hat on the fox\"",
    },
    Shortcut {
        word: "swap",
        operation: "facegen.swap",
        fields: &["targetImage", "swapImage"],
        example: "group.png face.png",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::operation;

    #[test]
    fn every_short_word_stands_for_an_operation_and_its_fields() {
        for short in SHORTCUTS {
            let (_, submit) = operation(short.operation).expect(short.word);
            let mut generator = schemars::SchemaGenerator::default();
            let _ = (submit.schema)(&mut generator);
            let known = serde_json::Value::Object(generator.take_definitions(true)).to_string();
            for field in short.fields {
                assert!(known.contains(&format!("\"{field}\"")), "{field}");
            }
        }
    }
}
