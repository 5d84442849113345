//! Work that nobody wants any more is let go at once, however long the vendor would take to answer.

use crate::backend::{Fault, Work};

impl Work {
    /// Waits for something for as long as somebody wants the result. What is let go is nobody's fault, and nothing is
    /// looked for afterwards.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        doing: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(Fault::internal("nobody wants the result any more")),
            done = doing => done,
        }
    }
}
