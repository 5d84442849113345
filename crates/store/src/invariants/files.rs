//! Rows of files, as far as the database alone can tell; whether the files are there is asked of the asset store.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[Invariant {
    name: "files.job",
    what: "result file belongs to a job that did not succeed or is another account's",
    of: RowKind::Assets,
    broken: "asset.job_id <> '' AND EXISTS (SELECT 1 FROM job WHERE job.id = asset.job_id \
        AND (job.state <> 2 OR job.account_id <> asset.account_id))",
    at_work: false,
}];
