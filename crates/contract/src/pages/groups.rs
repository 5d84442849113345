//! The groups of the documents.

use crate::families::FAMILIES;

/// Groups that no family owns, by the first word of their names.
const GROUPS: [(&str, &str); 8] = [
    ("jobs", "Jobs"),
    ("files", "Files"),
    ("openai", "OpenAI clients"),
    ("midjourney", "midjourney-proxy clients"),
    ("account", "Account"),
    ("custody", "Custody"),
    ("auth", "Signing in"),
    ("admin", "Operator"),
];
/// The group of everything else.
const SERVICE: &str = "Service";

/// The title of the group that an operation belongs to, by the first word of its name.
pub fn group_of(name: &str) -> &'static str {
    let first = name.split('.').next().unwrap_or_default();
    let family = FAMILIES.iter().find(|family| family.name == first);
    if let Some(family) = family {
        return family.title;
    }
    let own = GROUPS.iter().find(|(word, _)| *word == first);
    own.map_or(SERVICE, |(_, title)| title)
}

/// The titles of all groups in the order a reader wants them: the families, then what belongs to every job and account.
pub fn groups() -> Vec<&'static str> {
    let mut titles: Vec<&str> = FAMILIES.iter().map(|family| family.title).collect();
    titles.extend(GROUPS.map(|(_, title)| title));
    titles.push(SERVICE);
    titles.dedup();
    titles
}
