//! How the endpoints of a family do, by speed and by path, from the pool and from measurements.

use atelier_contract::family::{Family, Submit};
use atelier_contract::{EndpointStatus, FamilyStatus, ModeStatus, Quota, Refusal, Speed};

use crate::engine::Engine;
use crate::floor::pool::choice::{Choice, Earlier, Lane, Wish};

/// From worst to best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outlook {
    Down,
    Waiting,
    Running,
}

impl Outlook {
    const fn words(self) -> (u16, &'static str) {
        match self {
            Self::Down => (503, "no back end can take it"),
            Self::Waiting => (200, "every back end is busy or resting; jobs wait"),
            Self::Running => (200, "running"),
        }
    }
}

impl Engine {
    /// How the endpoints of a family are, by speed and by path.
    pub async fn family_status(&self, family: &Family) -> Result<FamilyStatus, Refusal> {
        const SPEEDS: [Speed; 3] = [Speed::Relax, Speed::Fast, Speed::Turbo];
        let submits = family.submits;
        let endpoint = |submit: &Submit| {
            let outlooks = SPEEDS.into_iter().map(|speed| self.outlook(submit, speed));
            let (status, message) = outlooks.max().unwrap_or(Outlook::Down).words();
            EndpointStatus {
                name: submit.name.to_owned(),
                path: submit.path.to_owned(),
                status,
                running_message: message.to_owned(),
            }
        };
        Ok(FamilyStatus {
            relax: self.mode_status(submits, Speed::Relax).await,
            fast: self.mode_status(submits, Speed::Fast).await,
            turbo: self.mode_status(submits, Speed::Turbo).await,
            endpoints: submits.iter().map(endpoint).collect(),
        })
    }

    /// How one speed does over some operations.
    async fn mode_status(&self, submits: &[Submit], speed: Speed) -> ModeStatus {
        let operations: Vec<String> = submits
            .iter()
            .map(|submit| submit.name.to_owned())
            .collect();
        let outlooks = submits.iter().map(|submit| self.outlook(submit, speed));
        let (status, message) = outlooks.max().unwrap_or(Outlook::Down).words();
        let durations = self.recent_durations(&operations, speed).await;
        let count = durations.len().max(1) as f64;
        let average_s = durations.iter().sum::<i64>() as f64 / count / 1000.0;
        ModeStatus {
            status,
            running_message: message.to_owned(),
            average_execute: (average_s * 10.0).round() / 10.0,
        }
    }

    /// What a job of an operation would meet right now on the operator's back ends.
    fn outlook(&self, submit: &Submit, speed: Speed) -> Outlook {
        let wish = Wish {
            operation: submit.name,
            speed,
            model: None,
            lane: Lane::Any,
            follows: None,
            price: Quota::ZERO,
            earlier: Earlier::NONE,
        };
        match self.pool.outlook(&wish, self.now_ms()) {
            Choice::Take(_) => Outlook::Running,
            Choice::Wait(_) => Outlook::Waiting,
            Choice::Nobody => Outlook::Down,
        }
    }
}
