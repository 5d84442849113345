//! The request shape that most makers of videos have by now: pictures with roles, a ratio, a resolution, a length, and a
//! task that is asked about. One core, and a table for each maker: ByteDance Ark, MiniMax, Alibaba DashScope, Kling.

mod ark;
mod dashscope;
mod dialect;
mod kling;
mod kling_v1;
mod minimax;
mod minimax_v1;
mod settings;

use atelier_contract::brief::{Brief, Task};
use serde_json::Value;

use crate::backend::{Fault, LostSubmit, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse};
use crate::images::FinishOptions;
use crate::models::{Models, UsualModels};
use crate::seeds;
use crate::task_vendor::{
    Capabilities, ImageRequest, Lengths, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskStatus,
    TaskVendor, UsualTiming, VideoCapabilities, VideoRequest, is_video_work,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;
use dialect::{CallParams, MakerDialect, MakerTaskState};
use settings::{Maker, RoleTaskSettings};

pub(super) const VENDOR: Vendor = Vendor {
    name: "roletask",
    about: "Seedance and Seedream (Ark), Hailuo (MiniMax), Wan and Qwen-Image (DashScope), Kling: up to 30 s in one pass",
    needs_credential: true,
    address: "https://ark.ap-southeast.bytepluses.com/api/v3",
    settings: schema_of::<RoleTaskSettings>,
    ready: "",
    build,
};

const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 10,
    timeout_seconds: 300,
};

struct RoleTask {
    base: TaskBase,
    settings: RoleTaskSettings,
    models: Models,
    dialect: &'static MakerDialect,
}

/// The table of a maker.
fn table(maker: Maker) -> &'static MakerDialect {
    match maker {
        Maker::Ark => &ark::DIALECT,
        Maker::Minimax => &minimax::DIALECT,
        Maker::MinimaxV1 => &minimax_v1::DIALECT,
        Maker::Dashscope => &dashscope::DIALECT,
        Maker::Kling => &kling::DIALECT,
        Maker::KlingV1 => &kling_v1::DIALECT,
    }
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let mut settings: RoleTaskSettings = read_flattened(setup.settings)?;
    let dialect = table(settings.dialect);
    let usual = UsualModels {
        image: dialect.image_model,
        video: Some(dialect.video_model),
    };
    let models = std::mem::take(&mut settings.models).checked(dialect.makes, usual)?;
    let http = settings.signed(setup.http, setup.credential.reveal())?;
    Ok(TaskBackend::worker(RoleTask {
        base: TaskBase::new(http, settings.timing, TIMING),
        settings,
        models,
        dialect,
    }))
}

impl RoleTask {
    fn order<'a>(&'a self, work: &'a Work, place: u32) -> Result<CallParams<'a>, Fault> {
        let seed = work.brief.seed;
        Ok(CallParams {
            model: self.models.chosen(work)?,
            token: token(work, place),
            settings: &self.settings,
            seed: seed.map(|seed| seeds::member(seed, place as usize) & 0x7fff_ffff),
            hook_url: work.hook_url.as_deref(),
        })
    }

    /// What a video model can do.
    fn films(&self, model: &str) -> VideoCapabilities {
        let mut can = (self.dialect.films)(model);
        if let Some([from, to]) = self.settings.video_seconds {
            can.lengths = Lengths::Between(from, to);
        }
        can
    }

    async fn film_plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.order(work, 0)?.model;
        let scene = VideoRequest::of(work, &self.films(model)).await?;
        let orders = self.orders(work)?;
        let film = self.dialect.film;
        Ok(TaskPlan::each(
            work,
            FinishOptions::default(),
            move |place| self.settings.sign(film(&orders[place as usize], &scene)),
        ))
    }

    async fn paint_plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let sheet = ImageRequest::of(work, &self.dialect.pictures).await?;
        let orders = self.orders(work)?;
        let paint = self.dialect.paint;
        let finish = sheet.finish.clone();
        Ok(TaskPlan::each(work, finish, move |place| {
            self.settings.sign(paint(&orders[place as usize], &sheet))
        }))
    }

    fn orders<'a>(&'a self, work: &'a Work) -> Result<Vec<CallParams<'a>>, Fault> {
        let places = 0..work.brief.count.clamp(1, 16);
        places.map(|place| self.order(work, place)).collect()
    }

    /// The fault of a document that is a refusal in spite of its good status.
    fn refused(&self, body: &Value) -> Option<Fault> {
        let said = (self.dialect.refusal)(body)?;
        Some(vendor_errors::failed_by(self.dialect.rules, &said))
    }
}

/// Whether a video begins with a picture: then some makers have it elsewhere.
fn begins_with_picture(work: &Work) -> bool {
    matches!(work.brief.task, Task::Extend(_)) || !work.sources.is_empty()
}

/// The name of a start that follows from its attempt.
fn token(work: &Work, place: u32) -> String {
    format!("{}-{place}", work.attempt_id)
}

impl TaskVendor for RoleTask {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            Capabilities::films(self.films(model)).seeded(self.dialect.seeds.0)
        } else {
            Capabilities::pictures(self.dialect.pictures).seeded(self.dialect.seeds.1)
        })
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        if is_video_work(work) {
            self.film_plan(work).await
        } else {
            self.paint_plan(work).await
        }
    }

    fn started(&self, work: &Work, mut reply: TaskReply) -> Result<TaskStatus, Fault> {
        if let Some(fault) = self.refused(&reply.body) {
            return Err(fault);
        }
        if !is_video_work(work) {
            let task_result = (self.dialect.painted)(&mut reply);
            return if task_result.files.is_empty() {
                Err(reply.nonsense())
            } else {
                Ok(TaskStatus::Done(task_result))
            };
        }
        let task = (self.dialect.task)(&reply.body, begins_with_picture(work));
        task.map(TaskStatus::Task).ok_or_else(|| reply.nonsense())
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        self.settings.sign((self.dialect.poll_request)(task))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if let Some(fault) = self.refused(&reply.body) {
            return Err(fault);
        }
        let state = (self.dialect.task_status)(&reply.body).ok_or_else(|| reply.nonsense())?;
        Ok(match state {
            MakerTaskState::Running => TaskStatus::Running(None),
            MakerTaskState::Next(task) => TaskStatus::Task(task),
            MakerTaskState::Done(task_result) => TaskStatus::Done(task_result),
            MakerTaskState::Failed(said) => {
                TaskStatus::Failed(vendor_errors::failed_by(self.dialect.rules, &said))
            }
            MakerTaskState::Gone => TaskStatus::Failed(Fault::vendor(
                crate::backend::Class::Gone,
                "the vendor does not know the task any more",
            )),
        })
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        self.dialect.rules
    }

    fn read_error(&self, body: &Value) -> Option<VendorError> {
        (self.dialect.refusal)(body).or_else(|| VendorError::read(body))
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        let stop = self.dialect.stop?;
        Some(self.settings.sign(stop(task)))
    }

    fn lost_submit(&self) -> LostSubmit {
        match self.dialect.lost {
            Some(_) => LostSubmit::LookUp,
            None => LostSubmit::Unknown,
        }
    }

    fn lost(&self, work: &Work, place: u32) -> Option<VendorRequest> {
        let lost = self.dialect.lost?;
        Some(self.settings.sign(lost(&token(work, place))))
    }

    fn found(&self, _: &Work, reply: TaskReply) -> Result<Option<Value>, Fault> {
        if let Some(fault) = self.refused(&reply.body) {
            return Err(fault);
        }
        Ok((self.dialect.found)(&reply.body))
    }

    fn probe(&self) -> VendorRequest {
        self.settings.sign((self.dialect.probe)())
    }

    /// The probe asks for a task that cannot be; that it is not known is a good answer.
    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        vendor_errors::is_unknown_task(answer) && !self.fault(answer).class.may_pass()
    }
}
