//! The name that somebody meant who wrote another one.

use strsim::normalized_damerau_levenshtein;

/// Names that have less in common than this are not taken for each other.
const ALIKE: f64 = 0.6;
/// Longer names are not compared: the time for it grows with the square of their length.
const LONGEST: usize = 200;

/// What is added to a message about an unknown name: the known name that is most like it, or nothing if none is.
pub fn did_you_mean<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    if written.len() > LONGEST {
        return String::new();
    }
    let scored = known.into_iter().map(|name| {
        let alike = normalized_damerau_levenshtein(written, name);
        (alike, name)
    });
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    match best {
        Some((alike, name)) if alike >= ALIKE => format!("; did you mean {name}?"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_no_other() {
        let known = [
            "artgen.imagine.fast",
            "artgen.imagine.turbo",
            "design.vectorize",
        ];
        let said = |written| did_you_mean(written, known);
        assert_eq!(
            said("artgen.imagine.fats"),
            "; did you mean artgen.imagine.fast?"
        );
        assert_eq!(
            said("artgen.imagin.turbo"),
            "; did you mean artgen.imagine.turbo?"
        );
        assert_eq!(said("price"), "");
        assert_eq!(said(&"x".repeat(100_000)), "");
        assert_eq!(did_you_mean("a", []), "");
    }
}
