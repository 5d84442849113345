//! What the readers of TOML say, in the words of people who write settings: no types of Rust, and what is wrong before what it is.

/// Names of types, and what they are to people.
const TYPES: [(&str, &str); 10] = [
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number, 0 or more"),
    ("usize", "a whole number, 0 or more"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a string", "text in quotes"),
    ("a boolean", "true or false"),
    ("a sequence", "a list, such as [\"a\", \"b\"]"),
];

/// How values are called.
const VALUES: [(&str, &str); 6] = [
    ("string ", ""),
    ("integer ", ""),
    ("floating point ", ""),
    ("boolean ", ""),
    ("sequence", "a list"),
    ("map", "a table"),
];

/// What is wrong with a value, as a person would say it.
pub(super) fn humanize(message: &str) -> String {
    let message = message.trim_end().replace('\n', " ");
    for kind in ["invalid type: ", "invalid value: "] {
        let parts = message.strip_prefix(kind);
        if let Some((is, wanted)) = parts.and_then(|rest| rest.split_once(", expected ")) {
            return format!("must be {}, is {}", type_name(wanted), value_name(is));
        }
    }
    for (prefix, what) in [
        ("unknown field `", "no such setting"),
        ("unknown variant `", ""),
    ] {
        let rest = message.strip_prefix(prefix);
        if let Some((name, known)) = rest.and_then(|rest| rest.split_once("`, expected ")) {
            let known = known.trim_start_matches("one of ");
            return match what {
                "" => format!("must be one of {known}, is `{name}`"),
                what => format!("{what}: `{name}`; there are {known}"),
            };
        }
    }
    match message.strip_prefix("missing field ") {
        Some(name) => format!("{name} is missing"),
        None => message,
    }
}

fn type_name(wanted: &str) -> &str {
    let known = TYPES.iter().find(|(name, _)| *name == wanted);
    known.map_or(wanted, |(_, name)| name)
}

fn value_name(is: &str) -> String {
    let known = VALUES.iter().find(|(name, _)| is.starts_with(name));
    known.map_or_else(
        || is.to_owned(),
        |(name, shown)| is.replacen(name, shown, 1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_the_language_is_named() {
        for (said, wanted) in [
            (
                "invalid type: string \"x\", expected u16",
                "must be a whole number from 0 to 65535, is \"x\"",
            ),
            (
                "invalid value: integer `-1`, expected u64",
                "must be a whole number, 0 or more, is `-1`",
            ),
            (
                "invalid type: integer `1`, expected a string\n",
                "must be text in quotes, is `1`",
            ),
            (
                "invalid type: sequence, expected a whole number from 1 to 9",
                "must be a whole number from 1 to 9, is a list",
            ),
            (
                "unknown field `adress`, expected one of `address`, `host`",
                "no such setting: `adress`; there are `address`, `host`",
            ),
            (
                "unknown variant `x`, expected one of `main`, `alt`",
                "must be one of `main`, `alt`, is `x`",
            ),
            ("missing field `role`", "`role` is missing"),
            ("must be from 1 to 9", "must be from 1 to 9"),
        ] {
            assert_eq!(humanize(said), wanted);
        }
    }
}
