//! The model that a job was accepted with, as its revision has it.

use crate::runner::job::LeasedJob;
use crate::runner::runner_core::RunnerCore;

/// Looks up the revision of the model that a job was accepted with, whose routes hold for it whatever became of the model since;
/// false when the store did not say.
pub(super) async fn find_model(core: &RunnerCore, leased: &mut LeasedJob) -> bool {
    let Some((name, revision)) = &leased.accepted_model else {
        return true;
    };
    match core.models.revision(name, *revision).await {
        Ok(Some(row)) => {
            leased.catalogue_model = Some(row);
            true
        }
        Ok(None) => {
            tracing::warn!(job = %leased.id, name, revision, "the model of a job does not exist; the job runs without routes");
            true
        }
        Err(error) => {
            tracing::warn!(%error, job = %leased.id, "the model of a job could not be read");
            false
        }
    }
}
