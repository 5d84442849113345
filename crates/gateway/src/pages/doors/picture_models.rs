//! Pictures for conversations: the model that a client names becomes an operation, and its job is waited for.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::FinishedJob;
use atelier_contract::models::ListedModel;
use atelier_contract::picture_chats::{
    CHAT_IMAGE, CHAT_OPERATION, PICTURE_OPERATIONS, PictureTask, PictureWish,
};
use atelier_contract::{Refusal, operation};
use atelier_engine::{Caller, Submission};
use serde_json::Value;

use super::orders::DoorOrder;
use super::picture_events::{PictureEvents, PictureWire};
use crate::app::App;
use crate::http::admission::capacity_denial;
use crate::http::answer;
use crate::http::denial::Denial;
use crate::http::reply::{self, RefusalShape};
use crate::http::request::{HandlerResult, IncomingRequest};
use crate::http::submit::patience_s;
use crate::http::sync_answer::SyncWait;
use crate::pages::job_news::{JobNews, job_event};
use crate::pages::usable_models::{is_usable, visible};

/// Names that a refusal lists at most.
const NAMES_MOST: usize = 40;

/// What a client says as the name of a model, as an operation.
struct PictureModel {
    operation: &'static str,
    /// What its submit is to name; nothing for chat-image itself.
    name: Option<String>,
}

/// The names of the models that a conversation may name now, with those that people read.
pub(super) fn picture_models(app: &App, caller: &Caller) -> Vec<(String, String)> {
    let models = app.models();
    let listed = visible(app, caller, &models);
    let pictures = listed
        .iter()
        .filter(|model| makes_pictures(model) && is_usable(app, model));
    let named = pictures.map(|model| {
        let title = model.row.and_then(|row| row.definition.title.clone());
        let title = title.unwrap_or_else(|| model.name.to_owned());
        (model.name.to_owned(), title)
    });
    let own = serves_chat(app).then(|| (CHAT_IMAGE.to_owned(), "Chat images".to_owned()));
    own.into_iter().chain(named).collect()
}

/// Whether a back end makes chat images now.
pub(super) fn serves_chat(app: &App) -> bool {
    operation(CHAT_OPERATION).is_some_and(|(_, submit)| app.engine.runner().serves(submit, ""))
}

fn makes_pictures(model: &ListedModel<'_>) -> bool {
    let mut submits = model.submits.iter();
    submits.any(|submit| PICTURE_OPERATIONS.contains(&submit.name))
}

/// A call that is to be answered with pictures.
pub(super) struct PictureCall {
    task: PictureTask,
    operation: &'static str,
    fields: Fields,
}

impl PictureCall {
    /// The call for a wish, by the model that the client names.
    pub(super) fn of(
        app: &App,
        caller: &Caller,
        model: Option<&str>,
        wish: PictureWish,
    ) -> Result<Self, Refusal> {
        let asked = model.filter(|name| !name.is_empty());
        let models = app.models();
        let listed = visible(app, caller, &models);
        let row = asked.and_then(|name| models.find(name));
        let is_meant = |model: &&ListedModel<'_>| match row {
            // By its name in any case, or by an alias.
            Some(row) => model.name.eq_ignore_ascii_case(&row.definition.name),
            None => asked == Some(model.name),
        };
        let listed = listed.iter().find(is_meant);
        let meant = match (listed, asked) {
            (Some(model), _) => operation_of(model, wish.has_images()),
            (None, None | Some(CHAT_IMAGE)) => Some(PictureModel {
                operation: CHAT_OPERATION,
                name: None,
            }),
            _ => None,
        };
        let Some(meant) = meant else {
            return Err(no_picture(app, caller, asked.unwrap_or_default()));
        };
        let fields = listed.map(ListedModel::view).and_then(|view| {
            let mut operations = view.operations.into_iter();
            operations.find(|one| one.name == meant.operation)
        });
        let size = fields.as_ref().and_then(|one| one.fields.get("size"));
        let asked = asked.unwrap_or(CHAT_IMAGE);
        let mut task = PictureTask::of(wish, meant.operation, meant.name.as_deref(), size, asked)?;
        Ok(Self {
            fields: std::mem::take(&mut task.fields),
            operation: meant.operation,
            task,
        })
    }

    async fn submitted(
        &mut self,
        app: &Arc<App>,
        received: &IncomingRequest,
    ) -> Result<Submission, Denial> {
        let mut order = DoorOrder::new(self.operation, self.fields.clone());
        order.notes = std::mem::take(&mut self.task.notes);
        let submitted = Box::pin(order.submitted(app, received)).await;
        submitted.map_err(|denial| Denial {
            refusal: self.task.reworded(denial.refusal),
            ..denial
        })
    }

    /// Submits it and answers with what comes of it.
    pub(super) async fn answer(
        mut self,
        app: &Arc<App>,
        received: &IncomingRequest,
        render: fn(&FinishedJob<'_>) -> Value,
    ) -> HandlerResult {
        let Some((family, entry)) = operation(self.operation) else {
            return Err(Refusal::job_not_found().into());
        };
        let patience_s = patience_s(app, family, entry, &self.fields);
        let submitted = self.submitted(app, received).await?;
        let id = submitted.job_id.clone();
        let wait = SyncWait {
            app: Arc::clone(app),
            account_id: received.account()?.clone(),
            submitted,
            entry,
            shape: RefusalShape::of(received.head.uri.path()),
            wants_bytes: |_| true,
            render,
            patience_s,
        };
        let mut reply = wait.answer(&received.admission).await?;
        answer::name_job(&mut reply, id.as_str());
        Ok(reply)
    }

    /// Submits it and answers with events.
    pub(super) async fn events(
        mut self,
        app: &Arc<App>,
        received: &IncomingRequest,
        wire: PictureWire,
    ) -> HandlerResult {
        // Whoever finds no place is told so before anything is accepted.
        let holder = Arc::clone(received.admission.holder());
        let place = app.event_streams.try_take(&holder, 1);
        let place =
            place.map_err(|full| capacity_denial(full, "too many streams of this account"))?;
        let caller = received.caller()?.clone();
        let id = self.submitted(app, received).await?.job_id;
        let job = app.engine.jobs().job(&caller.account_id, &id).await?;
        let seen = job_event::id(&job);
        let news = JobNews::new(Arc::clone(app), caller, id.clone(), seen, place);
        let shape = RefusalShape::of(received.head.uri.path());
        let events = PictureEvents::new(wire, news, job, shape, holder);
        let mut reply = reply::events(events.flow());
        answer::name_job(&mut reply, id.as_str());
        Ok(reply)
    }
}

/// The operation of a model that suits a conversation with images, or without.
fn operation_of(model: &ListedModel<'_>, with_images: bool) -> Option<PictureModel> {
    let [chat, words, edits] = PICTURE_OPERATIONS;
    let has = |operation: &&str| model.submits.iter().any(|submit| submit.name == *operation);
    let suits = if with_images { edits } else { words };
    let operation = [chat, suits].into_iter().find(|one| has(one))?;
    Some(PictureModel {
        operation,
        name: Some(model.name.to_owned()),
    })
}

/// A model that is not known, or makes no pictures of what was said.
fn no_picture(app: &App, caller: &Caller, asked: &str) -> Refusal {
    let names: Vec<String> = picture_models(app, caller)
        .into_iter()
        .map(|(name, _)| name)
        .take(NAMES_MOST)
        .collect();
    let shown: String = asked.chars().take(60).collect();
    let message = format!(
        "this service makes pictures and no text; must be one of {}, is `{shown}`",
        names.join(", ")
    );
    Refusal::invalid("model", message)
}
