//! Random sequences of operations against a model that is simple enough to be right.

use std::collections::BTreeMap;

use atelier_contract::JobState;
use atelier_store::{
    AcceptOutcome, Credit, CreditKind, CreditOutcome, Guard, RequeueRequest, SettleOutcome,
};

use crate::rig::{NOW, Rig, quota};

each_db!(random_operations_agree_with_the_model);

/// A small seeded generator; the same seed gives the same sequence everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len() as u64) as usize]
    }
}

#[derive(Default)]
struct Purse {
    balance: i64,
    frozen: i64,
    unfinished: i64,
}

struct Task {
    id: String,
    account: String,
    price: i64,
    state: JobState,
    fence: i64,
}

const MAX_QUEUE: i64 = 12;

struct Model {
    rig: Rig,
    dice: Dice,
    purses: BTreeMap<String, Purse>,
    tasks: Vec<Task>,
}

async fn random_operations_agree_with_the_model(rig: Rig) {
    for seed in [7, 20_260, 424_242] {
        let mut purses = BTreeMap::new();
        for _ in 0..3 {
            let id = rig.account(40, MAX_QUEUE).await;
            purses.insert(
                id,
                Purse {
                    balance: 40,
                    ..Purse::default()
                },
            );
        }
        let dice = Dice(seed * 0x9E37_79B9);
        let mut model = Model {
            rig: rig.clone(),
            dice,
            purses,
            tasks: Vec::new(),
        };
        for _ in 0..250 {
            model.step().await;
        }
        model.agree().await;
        for index in 0..model.tasks.len() {
            model.settle(index, Guard::Unfinished).await;
        }
        model.agree().await;
        assert!(
            model
                .purses
                .values()
                .all(|purse| purse.frozen == 0 && purse.unfinished == 0)
        );
    }
}

impl Model {
    async fn step(&mut self) {
        match self.dice.roll(10) {
            0..=3 => self.accept().await,
            4 => self.credit().await,
            5 => self.lease().await,
            6 if !self.tasks.is_empty() => self.give_back().await,
            _ if !self.tasks.is_empty() => {
                let index = self.dice.roll(self.tasks.len() as u64) as usize;
                let fence = self.tasks[index].fence;
                let guards = [
                    Guard::Fence(fence),
                    Guard::Fence(fence - 1),
                    Guard::Unfinished,
                ];
                let guard = *self.dice.pick(&guards);
                self.settle(index, guard).await;
            }
            _ => {}
        }
    }

    fn any_account(&mut self) -> String {
        let ids: Vec<String> = self.purses.keys().cloned().collect();
        self.dice.pick(&ids).clone()
    }

    async fn accept(&mut self) {
        let account = self.any_account();
        let price = self.dice.roll(9) as i64;
        let accept = self.rig.accept(&account, price);
        let id = accept.job.id.clone();
        let purse = self.purses.get_mut(&account).expect("a purse");
        let expected = if purse.unfinished >= MAX_QUEUE {
            AcceptOutcome::QueueFull {
                max_queue: MAX_QUEUE,
            }
        } else if purse.balance < price {
            AcceptOutcome::QuotaShort {
                balance: quota(purse.balance),
            }
        } else {
            purse.balance -= price;
            purse.frozen += price;
            purse.unfinished += 1;
            self.tasks.push(Task {
                id,
                account,
                price,
                state: JobState::Waiting,
                fence: 0,
            });
            AcceptOutcome::New {
                fence: 0,
                begun: false,
            }
        };
        assert_eq!(self.rig.take(accept).await, expected);
    }

    async fn credit(&mut self) {
        let account = self.any_account();
        let amount = self.dice.roll(20) as i64 - 8;
        let credit = Credit {
            id: self.rig.id("ledger"),
            account_id: account.clone(),
            amount: quota(amount),
            kind: CreditKind::Adjust,
            reason: "dice".into(),
            idempotency_key: None,
            end: None,
            now_ms: NOW,
        };
        let answer = self
            .rig
            .store
            .ledger()
            .credit(credit, None)
            .await
            .expect("an answer");
        let purse = self.purses.get_mut(&account).expect("a purse");
        if purse.balance + amount < 0 {
            assert!(matches!(answer, CreditOutcome::TooLow(_)));
        } else {
            purse.balance += amount;
            assert!(
                matches!(answer, CreditOutcome::Done(after) if after.balance == quota(purse.balance))
            );
        }
    }

    async fn lease(&mut self) {
        for leased in self.rig.lease("node", NOW, 4).await {
            let Some(task) = self.tasks.iter_mut().find(|task| task.id == leased.id) else {
                continue;
            };
            assert_eq!(task.state, JobState::Waiting);
            task.state = JobState::Running;
            task.fence += 1;
            assert_eq!(leased.fence, task.fence);
        }
    }

    async fn give_back(&mut self) {
        let index = self.dice.roll(self.tasks.len() as u64) as usize;
        let task = &mut self.tasks[index];
        let requeue = RequeueRequest {
            job_id: task.id.clone(),
            fence: task.fence,
            not_before_ms: NOW,
            why: "dice".into(),
            now_ms: NOW,
            attempt_state: "lost",
            counts: true,
        };
        let done = self
            .rig
            .store
            .attempts()
            .requeue(requeue)
            .await
            .expect("an answer");
        assert_eq!(done, task.state == JobState::Running);
        if done {
            task.state = JobState::Waiting;
        }
    }

    async fn settle(&mut self, index: usize, guard: Guard) {
        let success = self.dice.roll(2) == 0;
        let spent = self.dice.roll(10) as i64;
        let task = &mut self.tasks[index];
        let allowed = match guard {
            Guard::Fence(fence) => task.state == JobState::Running && fence == task.fence,
            Guard::Unfinished => !task.state.is_final(),
        };
        let settlement = if success {
            self.rig.success(&task.id, guard, spent)
        } else {
            self.rig.failure(&task.id, guard)
        };
        let done = matches!(self.rig.settle(settlement).await, SettleOutcome::Done(_));
        assert_eq!(done, allowed);
        if done {
            let charged = if success { spent.min(task.price) } else { 0 };
            task.state = if success {
                JobState::Succeeded
            } else {
                JobState::Failed
            };
            let purse = self.purses.get_mut(&task.account).expect("a purse");
            purse.frozen -= task.price;
            purse.balance += task.price - charged;
            purse.unfinished -= 1;
        }
    }

    async fn agree(&self) {
        for (id, purse) in &self.purses {
            let expected = (quota(purse.balance), quota(purse.frozen));
            assert_eq!(self.rig.purse(id).await, expected);
        }
        for task in &self.tasks {
            let job = self.rig.job(&task.id).await;
            assert_eq!((job.state, job.fence), (task.state, task.fence));
        }
        let found = self
            .rig
            .store
            .invariants()
            .check_books()
            .await
            .expect("an audit");
        assert_eq!(found, Vec::<String>::new());
    }
}
