//! Which placeholders there are, by where they stand. All of them are of the job itself: there is no name for anything of
//! another one, for the caller's key or for the credential.

use std::collections::BTreeSet;

use atelier_contract::FAMILIES;

/// Values of a job that are no pictures.
pub(super) const JOB: &[&str] = &[
    "prompt",
    "negative",
    "model",
    "count",
    "seed",
    "width",
    "height",
    "size",
    "ratio",
    "resolution",
    "strength",
    "seconds",
    "seconds_text",
    "loop",
    "hook",
    "attempt",
    "format",
    "quality",
    "style",
    "background",
    "moderation",
    "steps",
    "scale",
    "sampler",
];
/// Pictures of a job.
pub(super) const PICTURES: &[&str] = &[
    "image",
    "image1",
    "image2",
    "image3",
    "image4",
    "image5",
    "first",
    "last",
    "mask",
    "mask_black",
];
/// All given pictures, as a list.
pub(super) const LIST: &str = "images";
/// One of a list, where it is gone through.
pub(super) const ITEM: &str = "item";
/// A picture that is uploaded.
pub(super) const FILE: &str = "file";
/// A name that no other call has.
pub(super) const NONCE: &str = "nonce";
/// The forms that a picture may have, behind a dot; without one it is a `data:` address.
pub(super) const FORMS: &[&str] = &["base64", "url", "upload", "type"];

/// Whether a placeholder stands for the bytes of pictures.
pub(super) fn is_bytes(name: &str) -> bool {
    let (base, form) = match name.split_once('.') {
        Some((base, form)) => (base, Some(form)),
        None => (name, None),
    };
    let pictured = base == LIST || base == ITEM || PICTURES.contains(&base);
    pictured && form.is_none_or(|form| form == "base64")
}

/// Whether some operation has a field of this name that is a single word or number.
fn is_field(name: &str) -> bool {
    let submits = FAMILIES.iter().flat_map(|family| family.submits);
    submits
        .into_iter()
        .any(|submit| (submit.field_order)().contains(&name))
}

/// Where a template stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplatePlace {
    /// A call that orders work.
    Order,
    /// A call that uploads a picture.
    Upload,
    /// A call about a task.
    Task,
    /// A call that looks for an order whose answer was lost.
    Search,
    /// A call about nothing in particular.
    Probe,
    /// What a signature is made of.
    Signature,
}

/// What a template may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct TemplateScope<'a> {
    pub(super) place: TemplatePlace,
    /// What answers said of the task.
    pub(super) task: &'a BTreeSet<String>,
    /// Values that entries of `models` give.
    pub(super) with: &'a BTreeSet<String>,
    /// Tables of words.
    pub(super) maps: &'a BTreeSet<String>,
    /// Whether a list is gone through here.
    pub(super) in_list: bool,
}

/// Names without a group.
static NOTHING: BTreeSet<String> = BTreeSet::new();

impl TemplateScope<'_> {
    /// Where nothing has a name of its own.
    pub(super) fn plain(place: TemplatePlace) -> TemplateScope<'static> {
        TemplateScope {
            place,
            task: &NOTHING,
            with: &NOTHING,
            maps: &NOTHING,
            in_list: false,
        }
    }

    /// Whether a placeholder is known here, or what is instead.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        if self.knows(name) {
            return Ok(());
        }
        Err(format!(
            "{{{{{name}}}}} is not a placeholder here, there are {}",
            self.words()
        ))
    }

    fn knows(&self, name: &str) -> bool {
        let (base, part) = match name.split_once('.') {
            Some((base, part)) => (base, Some(part)),
            None => (name, None),
        };
        let is_form = part.is_none_or(|form| FORMS.contains(&form));
        match (self.place, base) {
            (_, NONCE) => part.is_none(),
            (TemplatePlace::Order, ITEM) => self.in_list && is_form,
            (TemplatePlace::Order, LIST) => is_form,
            (TemplatePlace::Order, "with") => part.is_some_and(|part| self.with.contains(part)),
            (TemplatePlace::Order, "request") => part.is_some_and(is_field),
            (TemplatePlace::Order, "map") => part.is_some_and(|part| self.maps.contains(part)),
            (TemplatePlace::Order, base) if PICTURES.contains(&base) => is_form,
            (TemplatePlace::Order, base) => part.is_none() && JOB.contains(&base),
            (TemplatePlace::Upload, FILE) => {
                part.is_none_or(|form| matches!(form, "base64" | "type" | "name" | "bytes"))
            }
            (TemplatePlace::Task, "task") => part.is_some_and(|part| self.task.contains(part)),
            (TemplatePlace::Search, "attempt") => part.is_none(),
            (TemplatePlace::Signature, base) => part.is_none() && SIGNED.contains(&base),
            _ => false,
        }
    }

    /// The placeholders that are known here.
    fn words(&self) -> String {
        let own = self.own_words();
        match self.place {
            TemplatePlace::Signature => own,
            _ if own.is_empty() => NONCE.to_owned(),
            _ => format!("{own}, {NONCE}"),
        }
    }

    fn own_words(&self) -> String {
        let list = |names: &[&str]| names.join(", ");
        let group = |name: &str, known: &BTreeSet<String>| {
            let known: Vec<String> = known.iter().map(|one| format!(", {name}.{one}")).collect();
            known.concat()
        };
        match self.place {
            TemplatePlace::Order => format!(
                "{}, {}, {LIST}{}{}{}, request.FIELD (a picture also as .{})",
                list(JOB),
                list(PICTURES),
                if self.in_list { ", item" } else { "" },
                group("with", self.with),
                group("map", self.maps),
                FORMS.join(", ."),
            ),
            TemplatePlace::Upload => "file, file.base64, file.type, file.name".to_owned(),
            TemplatePlace::Task if self.task.is_empty() => String::new(),
            TemplatePlace::Task => group("task", self.task)[2..].to_owned(),
            TemplatePlace::Search => "attempt".to_owned(),
            TemplatePlace::Probe => String::new(),
            TemplatePlace::Signature => list(SIGNED),
        }
    }
}

/// What a signature may be made of.
pub(super) const SIGNED: &[&str] = &[
    "key",
    "method",
    "host",
    "path",
    "query",
    "body",
    "body_sha256",
    "timestamp",
    "timestamp_ms",
    "date",
    "nonce",
    "signature",
];
