//! A vendor that does not know the model of a route: the evidence that worker accounts keep names the model, so that whoever looks
//! at the route reads why nothing comes of it.

use atelier_backends::backend::Work;
pub(crate) use atelier_backends::unknown_model;
use atelier_backends::{Class, Fault};

/// A fault with the model in its detail, if it is about that.
pub(super) fn with_model(fault: Fault, work: &Work) -> Fault {
    if fault.class != Class::Model {
        return fault;
    }
    let brief = &work.brief;
    let model = brief.vendor_model.as_deref().unwrap_or(&brief.model);
    let detail = format!("{}: {}", unknown_model(model), fault.detail);
    tracing::warn!(job = %work.job_id, model = %brief.model, detail, "a route names a model that the vendor does not know");
    Fault { detail, ..fault }
}
