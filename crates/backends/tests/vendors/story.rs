//! What the tests of vendors of tasks have in common: a clip, a whole story, and tables of failures.

use std::sync::Arc;

use atelier_backends::backend::{Acceptance, Backend};
use atelier_backends::{Class, Fault, PollOutcome};
use atelier_media::{Picture, encode_video};
use serde_json::Value;

use crate::stand::{Reply, Stand, worker};
use crate::studio::Studio;

/// A short film.
pub(crate) fn clip(width: u32, height: u32) -> Vec<u8> {
    let frames = (0..6_u8).map(|index| Picture::filled(width, height, [index * 30, 90, 9, 255]));
    encode_video(&mut { frames }, 6).expect("a clip")
}

/// A worker account with a request that it serves.
pub(crate) struct Story {
    pub(crate) vendor: &'static str,
    pub(crate) settings: Value,
    pub(crate) operation: &'static str,
    pub(crate) body: Value,
}

impl Story {
    fn worker(&self, stand: &Stand) -> Arc<dyn Backend> {
        worker(self.vendor, &stand.url("/v1"), self.settings.clone()).expect("good settings")
    }

    /// The fault of a start that is answered so.
    pub(crate) async fn refused(&self, reply: Reply) -> Fault {
        let stand = Stand::always(reply);
        let (work, _) = Studio::new().work(self.operation, &self.body, None);
        let started = self.worker(&stand).start(work).await;
        started.expect_err("a fault")
    }

    /// Each answer to a start has its class, and none of them was taken.
    pub(crate) async fn refusals(&self, cases: Vec<(Reply, Class)>) {
        for (number, (reply, class)) in cases.into_iter().enumerate() {
            let fault = self.refused(reply).await;
            let seen = (fault.class, fault.taken);
            assert_eq!(seen, (class, Acceptance::No), "case {number}: {fault:?}");
        }
    }

    /// Each answer to a question has its class, and says whether the task has ended.
    pub(crate) async fn endings(&self, ticket: &Value, cases: Vec<(Reply, Class, bool)>) {
        for (number, (reply, class, ended)) in cases.into_iter().enumerate() {
            let stand = Stand::always(reply);
            let (work, _) = Studio::new().work(self.operation, &self.body, None);
            let (fault, over) = match self.worker(&stand).poll(&work, ticket).await {
                Ok(PollOutcome::Failed(fault)) => (fault, true),
                Err(fault) => (fault, false),
                Ok(_) => panic!("case {number}: neither failed nor unclear"),
            };
            assert_eq!(
                (fault.class, over),
                (class, ended),
                "case {number}: {fault:?}"
            );
        }
    }
}
