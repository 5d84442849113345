//! The groups of the documents.

use crate::families::FAMILIES;

/// A group of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationGroup {
    /// Its name.
    pub title: &'static str,
    /// What its operations are for, in a sentence.
    pub about: &'static str,
}

/// Groups that no family owns, by the first word of their names.
const GROUPS: [(&str, OperationGroup); 7] = [
    (
        "jobs",
        OperationGroup {
            title: "Jobs",
            about: "Jobs of every family: state, events, batches, cancellation, deletion.",
        },
    ),
    (
        "files",
        OperationGroup {
            title: "Files",
            about: "Uploads that later requests can use as inputs.",
        },
    ),
    (
        "openai",
        OperationGroup {
            title: "OpenAI clients",
            about: "What OpenAI's client libraries call besides images: models and videos.",
        },
    ),
    (
        "midjourney",
        OperationGroup {
            title: "midjourney-proxy clients",
            about: "The endpoints of midjourney-proxy, in both dialects.",
        },
    ),
    (
        "account",
        OperationGroup {
            title: "Account",
            about: "Self-service: quota, usage, keys, prices, callbacks.",
        },
    ),
    (
        "custody",
        OperationGroup {
            title: "Custody",
            about: "The caller's own worker accounts at vendors.",
        },
    ),
    (
        "admin",
        OperationGroup {
            title: "Operator",
            about: "The operator API. Every change is in the audit log.",
        },
    ),
];
/// The group of everything else.
const SERVICE: OperationGroup = OperationGroup {
    title: "Service",
    about: "Files behind signed URLs, links, health, metrics, documents and the console's sessions.",
};

/// The title of the group that an operation belongs to, by the first word of its name.
pub fn group_of(name: &str) -> &'static str {
    let first = name.split('.').next().unwrap_or_default();
    let family = FAMILIES.iter().find(|family| family.name == first);
    if let Some(family) = family {
        return family.title;
    }
    let own = GROUPS.iter().find(|(word, _)| *word == first);
    own.map_or(SERVICE.title, |(_, group)| group.title)
}

/// All groups in the order a reader wants them: the families, then what belongs to every job and account.
pub fn groups() -> Vec<OperationGroup> {
    let families = FAMILIES.iter().map(|family| OperationGroup {
        title: family.title,
        about: family.about,
    });
    let mut all: Vec<OperationGroup> = families.collect();
    all.extend(GROUPS.map(|(_, group)| group));
    all.push(SERVICE);
    all.dedup();
    all
}
