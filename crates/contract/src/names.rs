//! The names of families and operations as operators write them: with `-` as in paths, or with `_` as in the tables.

use crate::families::FAMILIES;

/// The family or operation of a name in either spelling, as the tables have it.
pub fn canonical_name(written: &str) -> Option<&'static str> {
    let families = FAMILIES.iter().map(|family| family.name);
    let submits = FAMILIES.iter().flat_map(|family| family.submits);
    let mut names = families.chain(submits.map(|submit| submit.name));
    names.find(|name| is_spelled(name, written))
}

/// Whether a name of the tables is written so, in either spelling.
pub(crate) fn is_spelled(name: &str, written: &str) -> bool {
    name.len() == written.len() && letters(name).eq(letters(written))
}

/// The letters of a name in the spelling of the tables.
fn letters(name: &str) -> impl Iterator<Item = u8> {
    let spelled = |byte| if byte == b'-' { b'_' } else { byte };
    name.bytes().map(spelled)
}

/// Why a name is neither a family nor an operation, with the right ones: those of its family where that is known.
pub fn unknown_name(written: &str) -> String {
    let shown: String = written.chars().take(100).collect();
    let before = written.split_once('.').map(|(family, _)| family);
    let family = before.and_then(canonical_name);
    let family = family.and_then(|name| FAMILIES.iter().find(|family| family.name == name));
    if let Some(family) = family {
        let names: Vec<_> = family.submits.iter().map(|submit| submit.name).collect();
        return format!("{shown} is no operation, there are {}", names.join(", "));
    }
    let names: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
    let names = names.join(", ");
    format!("{shown} is no family and no operation, the families are {names}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_name_are_one() {
        for (written, name) in [
            ("vidgen-partner", "vidgen_partner"),
            ("vidgen_partner", "vidgen_partner"),
            ("animegen.text-to-image", "animegen.text_to_image"),
            ("vidgen-partner.generations", "vidgen_partner.generations"),
        ] {
            assert_eq!(canonical_name(written), Some(name), "{written}");
        }
        assert_eq!(canonical_name("vidgen partner"), None);
        assert_eq!(canonical_name(""), None);
    }

    #[test]
    fn an_unknown_name_is_told_with_the_right_ones() {
        let family = unknown_name("vidgenpartner");
        assert!(
            family.contains("vidgen_partner") && family.contains("facegen"),
            "{family}"
        );
        let operation = unknown_name("vidgen-partner.generation");
        assert!(
            operation.contains("vidgen_partner.generations"),
            "{operation}"
        );
        assert!(!operation.contains("facegen"), "{operation}");
    }
}
