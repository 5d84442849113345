//! The request shape that most makers of videos have by now: pictures with roles, a ratio, a resolution, a length, and a
//! task that is asked about. One core, and a table for each maker: ByteDance Ark, MiniMax, Alibaba DashScope, Kling.

mod ark;
mod dashscope;
mod dialect;
mod kling;
mod minimax;
mod settings;

use std::time::Duration;

use atelier_contract::brief::Brief;
use serde_json::Value;

use crate::answers::{self, ErrorWords};
use crate::backend::{Fault, Later, LostSubmit, Work};
use crate::http::{VendorAnswer, VendorCall, VendorHttp};
use crate::models::Models;
use crate::pictures::Finish;
use crate::seeds;
use crate::tasks::{
    Desk, Films, Heard, Lengths, Plan, Scene, Sheet, Skills, Speech, Told, films, patience, pause,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;
use dialect::{Dialect, Order, State};
use settings::{Maker, Settings};

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "roletask",
    about: "Seedance and Seedream (Ark), Hailuo (MiniMax), Wan and Qwen-Image (DashScope), Kling: up to 30 s in one pass",
    needs_credential: true,
    address: "https://ark.ap-southeast.bytepluses.com/api/v3",
    settings: schema_of::<Settings>,
    ready: "",
    build,
};

/// A worker account.
struct RoleTask {
    http: VendorHttp,
    settings: Settings,
    models: Models,
    dialect: &'static Dialect,
}

/// The table of a maker.
fn table(maker: Maker) -> &'static Dialect {
    match maker {
        Maker::Ark => &ark::DIALECT,
        Maker::Minimax => &minimax::DIALECT,
        Maker::Dashscope => &dashscope::DIALECT,
        Maker::Kling => &kling::DIALECT,
    }
}

fn build(setup: Setup) -> Result<Worker, Wrong> {
    let mut settings: Settings = read_settings(setup.settings)?;
    let dialect = table(settings.dialect);
    let usual = |given: Option<String>, name: Option<&str>| given.or(name.map(str::to_owned));
    let models = Models {
        makes: dialect.makes,
        image: usual(settings.image_model.take(), dialect.image_model),
        video: usual(settings.video_model.take(), Some(dialect.video_model)),
        grids: settings.grids,
        named: std::mem::take(&mut settings.models),
    };
    models.check()?;
    let http = settings.signed(setup.http, setup.credential.reveal())?;
    Ok(Desk::worker(RoleTask {
        http,
        settings,
        models,
        dialect,
    }))
}

impl RoleTask {
    fn order<'a>(&'a self, work: &'a Work, place: u32) -> Result<Order<'a>, Fault> {
        let seed = work.brief.seed;
        Ok(Order {
            model: self.models.chosen(work)?,
            token: token(work, place),
            settings: &self.settings,
            seed: seed.map(|seed| seeds::member(seed, place as usize) & 0x7fff_ffff),
            hook_url: work.hook_url.as_deref(),
        })
    }

    /// What a video model can do.
    fn films(&self, model: &str) -> Films {
        let mut can = (self.dialect.films)(model);
        if let Some([from, to]) = self.settings.video_seconds {
            can.lengths = Lengths::Between(from, to);
        }
        can
    }

    async fn film_plan<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let model = self.order(work, 0)?.model;
        let scene = Scene::of(work, &self.films(model)).await?;
        let orders = self.orders(work)?;
        let film = self.dialect.film;
        Ok(Plan::each(work, Finish::default(), move |place| {
            self.settings.sign(film(&orders[place as usize], &scene))
        }))
    }

    async fn paint_plan<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let sheet = Sheet::of(work, &self.dialect.pictures).await?;
        let orders = self.orders(work)?;
        let paint = self.dialect.paint;
        let finish = sheet.finish.clone();
        Ok(Plan::each(work, finish, move |place| {
            self.settings.sign(paint(&orders[place as usize], &sheet))
        }))
    }

    fn orders<'a>(&'a self, work: &'a Work) -> Result<Vec<Order<'a>>, Fault> {
        let places = 0..work.brief.count.clamp(1, 16);
        places.map(|place| self.order(work, place)).collect()
    }

    /// The fault of a document that is a refusal in spite of its good status.
    fn refused(&self, body: &Value) -> Option<Fault> {
        let said = (self.dialect.refusal)(body)?;
        Some(answers::failed_by(self.dialect.rules, &said))
    }
}

/// The name of a start that follows from its attempt.
fn token(work: &Work, place: u32) -> String {
    format!("{}-{place}", work.attempt_id)
}

impl Speech for RoleTask {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn skills(&self, operation: &str, brief: &Brief) -> Result<Skills, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            Skills::films(self.films(model)).seeded(self.dialect.seeds.0)
        } else {
            Skills::pictures(self.dialect.pictures).seeded(self.dialect.seeds.1)
        })
    }

    fn patience(&self) -> Duration {
        patience(self.settings.timeout_seconds, 300)
    }

    fn pause(&self) -> Duration {
        pause(self.settings.poll_seconds, 10)
    }

    fn plan<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Plan<'a>, Fault>> {
        Box::pin(async move {
            if films(work) {
                self.film_plan(work).await
            } else {
                self.paint_plan(work).await
            }
        })
    }

    fn started(&self, work: &Work, mut heard: Heard) -> Result<Told, Fault> {
        if let Some(fault) = self.refused(&heard.body) {
            return Err(fault);
        }
        if !films(work) {
            let brought = (self.dialect.painted)(&mut heard);
            return if brought.files.is_empty() {
                Err(heard.nonsense())
            } else {
                Ok(Told::Done(brought))
            };
        }
        let task = (self.dialect.task)(&heard.body);
        task.map(Told::Task).ok_or_else(|| heard.nonsense())
    }

    fn question(&self, task: &Value) -> VendorCall {
        self.settings.sign((self.dialect.question)(task))
    }

    fn told(&self, _: &Work, _: &Value, heard: Heard) -> Result<Told, Fault> {
        if let Some(fault) = self.refused(&heard.body) {
            return Err(fault);
        }
        let state = (self.dialect.told)(&heard.body).ok_or_else(|| heard.nonsense())?;
        Ok(match state {
            State::Running => Told::Running(None),
            State::Done(brought) => Told::Done(brought),
            State::Failed(said) => Told::Failed(answers::failed_by(self.dialect.rules, &said)),
            State::Gone => Told::Failed(Fault::vendor(
                crate::backend::Class::Gone,
                "the vendor does not know the task any more",
            )),
        })
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        let said = answer.json().ok().and_then(|body| {
            let refusal = (self.dialect.refusal)(&body);
            refusal.or_else(|| ErrorWords::read(&body))
        });
        answers::fault_by(self.dialect.rules, answer, said)
    }

    fn stop(&self, task: &Value) -> Option<VendorCall> {
        let stop = self.dialect.stop?;
        Some(self.settings.sign(stop(task)))
    }

    fn lost_submit(&self) -> LostSubmit {
        match self.dialect.lost {
            Some(_) => LostSubmit::LookUp,
            None => LostSubmit::Unknown,
        }
    }

    fn lost(&self, work: &Work, place: u32) -> Option<VendorCall> {
        let lost = self.dialect.lost?;
        Some(self.settings.sign(lost(&token(work, place))))
    }

    fn found(&self, heard: Heard) -> Result<Option<Value>, Fault> {
        if let Some(fault) = self.refused(&heard.body) {
            return Err(fault);
        }
        Ok((self.dialect.found)(&heard.body))
    }

    fn probe(&self) -> VendorCall {
        self.settings.sign((self.dialect.probe)())
    }

    /// The probe asks for a task that cannot be; that it is not known is a good answer.
    fn is_well(&self, answer: &VendorAnswer) -> bool {
        let is_json = answer.json().is_ok();
        is_json && matches!(answer.status, 400 | 404 | 422) && !self.fault(answer).class.may_pass()
    }
}
