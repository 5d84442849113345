//! A worker account at a server of this format, as all files of this vendor see it.

use std::sync::atomic::AtomicBool;

use super::settings::OpenAiSettings;
use crate::backend::{Fault, Work};
use crate::http::VendorHttp;
use crate::inputs::unsupported;

pub(super) struct OpenAi {
    pub(super) http: VendorHttp,
    pub(super) settings: OpenAiSettings,
    /// It has said that videos cannot be deleted there.
    pub(super) keeps_videos: AtomicBool,
}

impl OpenAi {
    /// The vendor's name of the model for a piece of work.
    pub(super) fn model(&self, work: &Work) -> Result<String, Fault> {
        let brief = &work.brief;
        let routed = brief.vendor_model.as_deref();
        let model = routed.or_else(|| self.settings.model(&work.operation, &brief.model));
        let model = model.ok_or_else(|| unsupported("model", "no back end serves this model"))?;
        Ok(model.to_owned())
    }
}
