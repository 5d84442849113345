//! Which of a vendor's models serves an operation: one for all pictures, one for all videos, or one by name.

use std::collections::{BTreeMap, BTreeSet};

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Fault, Work};
use crate::field_error::FieldError;
use crate::inputs::unsupported;

/// What is made four at a time and put into one, where `grids` is on.
const GRIDS: &[Task] = &[Task::Draw, Task::Blend];
const VIDEOS: &[Task] = &[Task::Animate, Task::Extend(0)];

/// The vendor's name of a model: one for all, or one for each of ours (`*` for any other).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ModelNames {
    One(String),
    Each(BTreeMap<String, String>),
}

/// The models that an operator may set. Flattened into the settings of a vendor, so its fields have no comments: they would
/// be shown in every form.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ModelSettings {
    image_model: Option<String>,
    video_model: Option<String>,
    grids: bool,
    models: BTreeMap<String, ModelNames>,
}

/// A vendor's models where the operator names none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UsualModels {
    pub(crate) image: Option<&'static str>,
    pub(crate) video: Option<&'static str>,
}

impl ModelSettings {
    /// The models of a worker account, checked.
    pub(crate) fn checked(
        self,
        makes: SupportedTasks,
        usual: UsualModels,
    ) -> Result<Models, FieldError> {
        let models = self.unchecked(makes, usual);
        models.check()?;
        Ok(models)
    }

    /// The models of a worker account, for a vendor that reports other errors first.
    pub(crate) fn unchecked(self, makes: SupportedTasks, usual: UsualModels) -> Models {
        Models {
            makes,
            image: self.image_model.or(usual.image.map(str::to_owned)),
            video: self.video_model.or(usual.video.map(str::to_owned)),
            grids: self.grids,
            named: self.models,
        }
    }
}

/// What a vendor can do at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SupportedTasks {
    /// Pictures that an image model makes.
    pub(crate) images: &'static [Task],
    /// Whether there are videos.
    pub(crate) videos: bool,
    /// Whether several clips of one request are made one by one.
    pub(crate) clips_in_fours: bool,
}

impl SupportedTasks {
    /// Videos, and pictures that are drawn and changed by words, as most vendors of both make them.
    pub(crate) const PICTURES_AND_VIDEOS: Self = Self {
        images: &[
            Task::Draw,
            Task::Edit,
            Task::Repaint,
            Task::Restyle,
            Task::ReplaceBackground,
        ],
        videos: true,
        clips_in_fours: true,
    };
}

/// The models of a worker account.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    makes: SupportedTasks,
    pub(crate) image: Option<String>,
    pub(crate) video: Option<String>,
    grids: bool,
    named: BTreeMap<String, ModelNames>,
}

enum ModelKind {
    Images,
    Grids,
    Videos,
}

impl Models {
    /// The vendor's name of the model that a job asks for.
    pub(crate) fn chosen<'a>(&'a self, work: &'a Work) -> Result<&'a str, Fault> {
        self.chosen_for(&work.operation, &work.brief)
    }

    /// The vendor's name of the model that a request asks for: the one that its route says, or else the one named here.
    pub(crate) fn chosen_for<'a>(
        &'a self,
        operation: &str,
        brief: &'a Brief,
    ) -> Result<&'a str, Fault> {
        let routed = brief.vendor_model.as_deref();
        let model = routed.or_else(|| self.of(operation, &brief.model));
        model.ok_or_else(|| unsupported("model", "no back end serves this model"))
    }

    /// What [`check`](Self::check) demands of a vendor without usual models, for schemas.
    pub(crate) fn one_of_required() -> Value {
        json!([
            { "required": ["image_model"] },
            { "required": ["video_model"] },
            { "required": ["models"] },
        ])
    }

    /// Names the first operation that this vendor does not do, or that nothing is named at all.
    pub(crate) fn check(&self) -> Result<(), FieldError> {
        if let Some(other) = self.named.keys().find(|name| self.kind(name).is_none()) {
            return Err(FieldError::not_served("models", other, |name| {
                self.kind(name).is_some()
            }));
        }
        if !self.named.is_empty() || self.image.is_some() || self.video.is_some() {
            return Ok(());
        }
        Err(FieldError::settings(
            "one of image_model, video_model and models must be given",
        ))
    }

    /// Whether a model is named for an operation.
    pub(crate) fn serves(&self, operation: &str) -> bool {
        self.kind(operation).is_some()
            && (self.named.contains_key(operation) || self.usual(operation).is_some())
    }

    /// The vendor's name of one of our models.
    pub(crate) fn of(&self, operation: &str, ours: &str) -> Option<&str> {
        match self.named.get(operation) {
            Some(ModelNames::One(name)) => Some(name),
            Some(ModelNames::Each(names)) => names
                .get(ours)
                .or_else(|| names.get("*"))
                .map(String::as_str)
                .or_else(|| self.usual(operation)),
            None => self.usual(operation),
        }
    }

    /// Every name that the vendor has to know.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let named = self.named.values().flat_map(|names| match names {
            ModelNames::One(name) => vec![name],
            ModelNames::Each(names) => names.values().collect(),
        });
        let usual = self.image.iter().chain(&self.video);
        usual.chain(named).map(String::as_str).collect()
    }

    fn usual(&self, operation: &str) -> Option<&str> {
        match self.kind(operation)? {
            ModelKind::Grids if !self.grids => None,
            ModelKind::Images | ModelKind::Grids => self.image.as_deref(),
            ModelKind::Videos => self.video.as_deref(),
        }
    }

    /// What an operation needs; `None` for what this vendor does not do.
    fn kind(&self, operation: &str) -> Option<ModelKind> {
        let (_, submit) = atelier_contract::operation(operation)?;
        let films = self.makes.videos && submit.makes_only(VIDEOS);
        match submit.in_fours {
            true if submit.makes_only(GRIDS) => Some(ModelKind::Grids),
            true if films && self.makes.clips_in_fours => Some(ModelKind::Videos),
            false if submit.makes_only(self.makes.images) => Some(ModelKind::Images),
            false if films => Some(ModelKind::Videos),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_routes_name_wins_over_the_mapping() {
        let settings = ModelSettings {
            image_model: Some("usual".to_owned()),
            ..ModelSettings::default()
        };
        let makes = SupportedTasks::PICTURES_AND_VIDEOS;
        let models = settings.unchecked(makes, UsualModels::default());
        let mut brief = Brief::new(Task::Draw).by_model("image-1");
        let chosen = |brief: &Brief| {
            let found = models.chosen_for("imgmodel.generations", brief);
            found.expect("a model").to_owned()
        };
        assert_eq!(chosen(&brief), "usual");
        brief.vendor_model = Some("gpt-image-2".to_owned());
        assert_eq!(chosen(&brief), "gpt-image-2");
    }
}
