//! Models: every job finds the revision it was accepted with, and no revision is missing.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "models.job",
        what: "job was accepted with a revision of a model that is not stored",
        of: RowKind::Jobs,
        broken: "job.model_revision IS NOT NULL AND NOT EXISTS (SELECT 1 FROM model \
            WHERE model.name_key = {lower:job.model} AND model.revision = job.model_revision)",
        at_work: false,
    },
    Invariant {
        name: "models.follows",
        what: "revision of a model does not follow from the one before it",
        of: RowKind::Models,
        broken: "model.name_key <> {lower:model.name} OR (model.revision <> 1 AND NOT EXISTS (SELECT 1 FROM model AS earlier \
            WHERE earlier.name_key = model.name_key AND earlier.revision = model.revision - 1))",
        at_work: false,
    },
    Invariant {
        name: "models.beside",
        what: "there is a model, and programs that know of none may start",
        of: RowKind::Models,
        broken: "EXISTS (SELECT 1 FROM schema_version WHERE schema_version.name = '0043_models' AND schema_version.widens <> 0)",
        at_work: false,
    },
];
