//! How the artgen image endpoints do, by speed and by path, from the pool and from measurements.

use atelier_contract::families::artgen;
use atelier_contract::family::Submit;
use atelier_contract::{Quota, Refusal, Speed};
use serde_json::{Map, Value, json};

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
    /// How the artgen image endpoints are, by speed and by path.
    pub async fn artgen_status(&self) -> Result<Value, Refusal> {
        const SPEEDS: [Speed; 3] = [Speed::Relax, Speed::Fast, Speed::Turbo];
        let submits = artgen::FAMILY.submits;
        let operations: Vec<String> = submits
            .iter()
            .map(|submit| submit.name.to_owned())
            .collect();
        let mut data = Map::new();
        for speed in SPEEDS {
            let outlooks = submits.iter().map(|submit| self.outlook(submit, speed));
            let (status, message) = outlooks.max().unwrap_or(Outlook::Down).words();
            let durations = self.recent_durations(&operations, speed).await;
            let count = durations.len().max(1) as f64;
            let average_s = durations.iter().sum::<i64>() as f64 / count / 1000.0;
            let average_s = (average_s * 10.0).round() / 10.0;
            data.insert(
                speed.word().into(),
                json!({ "status": status, "runningMessage": message, "averageExecute": average_s }),
            );
        }
        let endpoint = |submit: &Submit| {
            let outlooks = SPEEDS.into_iter().map(|speed| self.outlook(submit, speed));
            let (status, message) = outlooks.max().unwrap_or(Outlook::Down).words();
            json!({ "name": submit.name, "path": submit.path, "status": status, "runningMessage": message })
        };
        let endpoints: Vec<Value> = submits.iter().map(endpoint).collect();
        data.insert("endpoints".into(), endpoints.into());
        Ok(Value::Object(data))
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
