//! Names of models, and the bounds of what may be said of one.

/// How families spell the field that names a model.
pub(super) const SPELLINGS: [&str; 2] = ["model", "modelName"];
/// Characters of a model's name, an alias and the name of a group.
pub(super) const NAME_MOST: usize = 64;
/// Other names that one model may have.
pub(super) const ALIASES_MOST: usize = 32;
/// Back ends that one model may be routed to.
pub(super) const ROUTES_MOST: usize = 50;
/// Fields that one model may have rules for.
pub(super) const FIELDS_MOST: usize = 64;
/// Words that a rule may allow.
pub(super) const WORDS_MOST: usize = 64;
/// Groups that one model may be shown to.
pub(super) const GROUPS_MOST: usize = 32;
/// Characters of a title and of the name that a back end calls a model by.
pub(super) const TEXT_MOST: usize = 200;

/// A name without regard to case, as names are compared and stored.
pub fn model_key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Whether a text may name a model: 1 to 64 of the characters that names are made of. Names stand in addresses, where a part of
/// one or two dots means another place.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte);
    let mut parts = text.split('/');
    (1..=NAME_MOST).contains(&text.len())
        && text.bytes().all(plain)
        && !parts.any(|part| matches!(part, "." | ".."))
}

/// What is said of a text that cannot name a model.
pub(crate) const NOT_A_NAME: &str =
    "must be 1 to 64 of a-z, A-Z, 0-9, `.`, `_`, `:`, `/`, `-`, and no part of it `.` or `..`";
