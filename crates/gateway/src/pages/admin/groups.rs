//! Groups of accounts and their prices: made, changed and removed, and asked about before.

use std::sync::Arc;

use atelier_contract::fields::Count;
use atelier_contract::groups::GroupDefinition;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::price_groups::{GroupPreview, GroupQuery, GroupView};
use atelier_engine::{GroupEdit, GroupReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{BodyAndQuery, Data, Query, RawBody, WholeList};
use crate::http::request::IncomingRequest;

/// Bytes of a group: every rule that one may have fits.
const GROUP_BODY: usize = 256 * 1024;

/// A body in the shape of a `T`, as it came: null takes something away.
type RawGroupBody<T> = RawBody<T, GROUP_BODY>;

/// How a removal is asked for; it has no body.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct GroupRemovalQuery {
    /// The revision to be removed; with another one now, nothing is.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

/// A change of a group: the fields that are given, each as a whole; null takes one away.
#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "only its shape is told; the engine reads the body as it came"
)]
pub(crate) struct GroupChange {
    /// What it shall be.
    #[serde(flatten)]
    definition: Patch<GroupDefinition>,
    /// The revision that the change was made on; with another one now, it is refused.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

/// Result of a change, or of its preview.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum GroupEditResult {
    /// The group as it is now.
    Group(Box<GroupView>),
    /// Effect of the change.
    Preview(GroupPreview),
}

/// Lists groups, by name.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<WholeList<GroupView>, Denial> {
    let groups = app.engine.admin().groups().list().await?;
    Ok(WholeList(groups.into_iter().map(view).collect()))
}

/// Shows a group.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<GroupView>, Denial> {
    let name = received.decoded_param(0);
    let group = app.engine.admin().groups().one(&name).await?;
    Ok(Data(view(group)))
}

/// Makes a group.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    BodyAndQuery(RawBody(fields, _), query): BodyAndQuery<
        RawGroupBody<GroupDefinition>,
        GroupQuery,
    >,
) -> Result<Data<GroupEditResult>, Denial> {
    if query.preview.on() {
        return preview(&app, GroupEdit::Create(fields), &query).await;
    }
    let groups = app.engine.admin().groups();
    let made = groups.create(received.operator()?, fields).await?;
    Ok(Data(GroupEditResult::Group(Box::new(view(made)))))
}

/// Changes a group, for requests from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    BodyAndQuery(RawBody(fields, _), query): BodyAndQuery<RawGroupBody<GroupChange>, GroupQuery>,
) -> Result<Data<GroupEditResult>, Denial> {
    let name = received.decoded_param(0);
    if query.preview.on() {
        return preview(&app, GroupEdit::Change { name, fields }, &query).await;
    }
    let groups = app.engine.admin().groups();
    let changed = groups.change(received.operator()?, &name, fields).await?;
    Ok(Data(GroupEditResult::Group(Box::new(view(changed)))))
}

/// Removes a group that no account is in.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<GroupRemovalQuery>,
) -> Result<Data<GroupView>, Denial> {
    let name = received.decoded_param(0);
    let revision = query.revision.map(|revision| revision.get() as u32);
    let groups = app.engine.admin().groups();
    let removed = groups.remove(received.operator()?, &name, revision).await?;
    Ok(Data(view(removed)))
}

/// What a change would have meant for the latest jobs.
async fn preview(
    app: &App,
    edit: GroupEdit,
    query: &GroupQuery,
) -> Result<Data<GroupEditResult>, Denial> {
    let at = query.at.as_deref().filter(|at| !at.is_empty());
    let preview = app.engine.admin().groups().preview(edit, at).await?;
    Ok(Data(GroupEditResult::Preview(preview)))
}

fn view(group: GroupReport) -> GroupView {
    GroupView::of(group.row, group.accounts)
}
