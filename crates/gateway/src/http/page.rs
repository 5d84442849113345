//! From a handler to a line of the table. What a page reads and answers is taken from the handler's own types, so that
//! the documents cannot say anything else.

use std::marker::PhantomData;
use std::sync::Arc;

use atelier_contract::body::{self as contract_body, Fields};
use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::answers::PendingAnswer;
use atelier_contract::pages::{
    Access, FieldsSpec, Method, Page, PageInput, PageListeners, PageOutput,
};
use atelier_contract::{Code, Refusal};
use atelier_fairness::background::{self, ThreadPriority};
use atelier_fairness::share::FairSemaphore;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::body::{self, UnreadBody};
use super::body_share::MOST_OPEN;
use super::denial::Denial;
use super::reply::{self, Reply};
use super::request::{HandlerResult, IncomingRequest};
use crate::app::App;

/// Long answers of one account that wait to be written, at most.
const LONG_WAITING: usize = 8;
const TOO_LONG: &str = "too many long lists of this account are being answered; ask for one after the other, or for fewer rows \
                        (limit)";

/// What answers a page.
pub(crate) type Handler =
    fn(Arc<App>, IncomingRequest, UnreadBody) -> BoxFuture<'static, HandlerResult>;

/// What a handler reads.
pub(crate) trait Input: Sized + Send {
    /// The same for the table.
    const TAKES: PageInput;

    fn read(
        app: &App,
        head: &Parts,
        body: UnreadBody,
    ) -> impl Future<Output = Result<Self, Denial>> + Send;
}

/// What a handler answers.
pub(crate) trait Output: Send + 'static {
    /// The same for the table.
    const GIVES: PageOutput;

    /// Whether its text is so long that it is written apart.
    fn is_long(&self) -> bool {
        false
    }

    fn reply(self) -> Reply;
}

impl Input for () {
    const TAKES: PageInput = PageInput::NOTHING;

    async fn read(_: &App, _: &Parts, _: UnreadBody) -> Result<Self, Denial> {
        Ok(())
    }
}

/// Fields of the query.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send> Input for Query<T> {
    const TAKES: PageInput = PageInput {
        query: Some(FieldsSpec::query::<T>()),
        ..PageInput::NOTHING
    };

    async fn read(_: &App, head: &Parts, _: UnreadBody) -> Result<Self, Denial> {
        Ok(Self(contract_body::read(body::query(head)?)?))
    }
}

/// Fields of a body of at most so many bytes.
pub(crate) struct Body<T, const MOST: usize = SMALL_BODY>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send, const MOST: usize> Input for Body<T, MOST> {
    const TAKES: PageInput = PageInput {
        body: Some(FieldsSpec::body::<T>()),
        ..PageInput::NOTHING
    };

    async fn read(app: &App, head: &Parts, given: UnreadBody) -> Result<Self, Denial> {
        let fields = body::fields(app, head, given, MOST).await?;
        Ok(Self(contract_body::read(fields)?))
    }
}

/// A body of at most so many bytes as it came, whatever it is.
pub(crate) struct BodyBytes<const MOST: usize = MOST_OPEN>(pub(crate) Bytes);

impl<const MOST: usize> Input for BodyBytes<MOST> {
    const TAKES: PageInput = PageInput::NOTHING;

    async fn read(app: &App, head: &Parts, given: UnreadBody) -> Result<Self, Denial> {
        Ok(Self(body::bytes(app, head, given, MOST).await?))
    }
}

/// What a raw body may become besides its texts: the operator's workflows are made of many small things.
const RAW_STRUCTURE: usize = 32 * 1024 * 1024;

/// A body of at most so many bytes in the shape of a `T`, as it came: its handler knows what an empty field means.
pub(crate) struct RawBody<T, const MOST: usize>(
    pub(crate) Fields,
    pub(crate) PhantomData<fn() -> T>,
);

impl<T: DeserializeOwned + JsonSchema, const MOST: usize> Input for RawBody<T, MOST> {
    const TAKES: PageInput = PageInput {
        body: Some(FieldsSpec::body::<T>()),
        ..PageInput::NOTHING
    };

    async fn read(app: &App, head: &Parts, given: UnreadBody) -> Result<Self, Denial> {
        let structure = RAW_STRUCTURE;
        let fields = body::fields_within(app, head, given, MOST, structure).await?;
        Ok(Self(fields, PhantomData))
    }
}

/// A body, and beside it fields of the query that say what to do with it.
pub(crate) struct BodyAndQuery<B, Q>(pub(crate) B, pub(crate) Q);

impl<B: Input, Q: DeserializeOwned + JsonSchema + Send> Input for BodyAndQuery<B, Q> {
    const TAKES: PageInput = PageInput {
        query: Some(FieldsSpec::query::<Q>()),
        ..B::TAKES
    };

    async fn read(app: &App, head: &Parts, given: UnreadBody) -> Result<Self, Denial> {
        let query = contract_body::read(body::query(head)?)?;
        Ok(Self(B::read(app, head, given).await?, query))
    }
}

/// Fields of the query and of the body together; the body wins.
pub(crate) struct QueryOrBody<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send> Input for QueryOrBody<T> {
    const TAKES: PageInput = PageInput {
        query: Some(FieldsSpec::query::<T>()),
        body: Some(FieldsSpec::body::<T>()),
        ..PageInput::NOTHING
    };

    async fn read(app: &App, head: &Parts, given: UnreadBody) -> Result<Self, Denial> {
        let fields = body::query_and_fields(app, head, given).await?;
        Ok(Self(contract_body::read(fields)?))
    }
}

/// The usual envelope around `data`.
pub(crate) struct Data<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Data<T> {
    const GIVES: PageOutput = PageOutput::Data(SchemaGenerator::subschema_for::<T>);

    fn reply(self) -> Reply {
        reply::success(self.0)
    }
}

/// The usual envelope around a list as a whole, which may have megabytes.
pub(crate) struct WholeList<T>(pub(crate) Vec<T>);

impl<T: Serialize + JsonSchema + Send + 'static> Output for WholeList<T> {
    const GIVES: PageOutput = Data::<Vec<T>>::GIVES;

    fn is_long(&self) -> bool {
        reply::is_long(&self.0)
    }

    fn reply(self) -> Reply {
        reply::success(self.0)
    }
}

/// The usual envelope around one page of a list.
pub(crate) struct List<T> {
    pub(crate) rows: Vec<T>,
    pub(crate) total: i64,
    pub(crate) page: i64,
    pub(crate) limit: i64,
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for List<T> {
    const GIVES: PageOutput = PageOutput::List(SchemaGenerator::subschema_for::<T>);

    fn is_long(&self) -> bool {
        reply::is_long(&self.rows)
    }

    fn reply(self) -> Reply {
        reply::page(&self.rows, self.total, self.page, self.limit)
    }
}

/// One page of a list that says where it goes on.
pub(crate) struct CursorList<T> {
    pub(crate) list: List<T>,
    pub(crate) next: Option<String>,
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for CursorList<T> {
    const GIVES: PageOutput = PageOutput::Continued(SchemaGenerator::subschema_for::<T>);

    fn is_long(&self) -> bool {
        self.list.is_long()
    }

    fn reply(self) -> Reply {
        let List {
            rows,
            total,
            page,
            limit,
        } = self.list;
        reply::continued_page(&rows, total, page, limit, self.next.as_deref())
    }
}

/// JSON without an envelope.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Json<T> {
    const GIVES: PageOutput = PageOutput::Json(SchemaGenerator::subschema_for::<T>);

    fn is_long(&self) -> bool {
        reply::is_long(&self.0)
    }

    fn reply(self) -> Reply {
        reply::json_of(&self.0)
    }
}

/// The usual envelope here, or another page to look at.
pub(crate) enum PageOrRedirect<T> {
    Page(Data<T>),
    /// The path of the other page (303).
    Redirect(&'static str),
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for PageOrRedirect<T> {
    const GIVES: PageOutput = Data::<T>::GIVES;

    fn reply(self) -> Reply {
        match self {
            Self::Page(data) => data.reply(),
            Self::Redirect(path) => reply::see_other(path),
        }
    }
}

/// The answer of another operation, or where that will be.
pub(crate) struct LaterAnswer(pub(crate) Reply);

impl Output for LaterAnswer {
    const GIVES: PageOutput = PageOutput::Later(SchemaGenerator::subschema_for::<PendingAnswer>);

    fn reply(self) -> Reply {
        self.0
    }
}

/// Answers that are no JSON to describe, each with what it is.
macro_rules! other_answers {
    ($($(#[$doc:meta])* $name:ident $gives:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Reply);

        impl Output for $name {
            const GIVES: PageOutput = $gives;

            fn reply(self) -> Reply {
                self.0
            }
        }
    )*};
}

other_answers! {
    /// An open stream of server-sent events.
    Events PageOutput::Events;
    /// Messages of a protocol of their own.
    Messages PageOutput::Messages;
    /// Metrics in the text format of Prometheus.
    Counters PageOutput::Media("text/plain");
    /// A word for another program.
    Words PageOutput::Media("text/plain");
    /// A JSON document that describes itself.
    Document PageOutput::Media("application/json");
    /// A result file of any kind.
    File PageOutput::Media("application/octet-stream");
}

/// A handler and what its types say.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    takes: PageInput,
    gives: PageOutput,
    handler: Handler,
}

/// Takes what a handler's types say; the handler itself comes a second time as the function that runs it.
pub(crate) const fn endpoint<I: Input, O: Output, F: Future<Output = Result<O, Denial>>>(
    _: fn(Arc<App>, IncomingRequest, I) -> F,
    handler: Handler,
) -> Endpoint {
    Endpoint {
        takes: I::TAKES,
        gives: O::GIVES,
        handler,
    }
}

/// Reads what a handler wants, has it answer and writes that.
pub(crate) async fn run<I: Input, O: Output, F: Future<Output = Result<O, Denial>> + Send>(
    app: Arc<App>,
    received: IncomingRequest,
    body: UnreadBody,
    handler: fn(Arc<App>, IncomingRequest, I) -> F,
) -> HandlerResult {
    let admission = &received.admission;
    let room = admission.await_body(&app.request_slots)?;
    let input = I::read(&app, &received.head, body).await?;
    drop(room);
    // Whoever sends nothing has no place that others want.
    admission.begin_open(&app.request_slots).await?;
    let (answers, admission) = (
        Arc::clone(&app.long_answers),
        Arc::clone(&received.admission),
    );
    let output = handler(app, received, input).await?;
    if output.is_long() {
        return write_in_background(
            &answers,
            admission.holder(),
            Box::new(move || output.reply()),
        )
        .await;
    }
    Ok(output.reply())
}

/// Writes a long answer on a thread that gives way to those that answer others, a few of one account at once. Few wait for that:
/// what is to be written is in memory meanwhile.
async fn write_in_background(
    answers: &Arc<FairSemaphore>,
    holder: &Arc<str>,
    write: Box<dyn FnOnce() -> Reply + Send>,
) -> HandlerResult {
    let place = match answers.try_take(holder, 1) {
        Ok(place) => place,
        Err(_) if answers.waiting(holder) >= LONG_WAITING => {
            return Err(Denial::too_many_requests(TOO_LONG, 1));
        }
        Err(_) => answers.take(holder, 1).await,
    };
    let written = background::spawn(ThreadPriority::Crowd, move || {
        let reply = write();
        drop(place);
        reply
    });
    let broken = |_| Refusal::new(Code::Internal, "the answer could not be written").into();
    written.await.map_err(broken)
}

/// Puts an asynchronous function into the table.
macro_rules! page {
    ($handler:path) => {
        $crate::http::page::endpoint($handler, |app, received, body| {
            Box::pin($crate::http::page::run(app, received, body, $handler))
        })
    };
}
pub(crate) use page;

const fn line(
    methods: &'static [Method],
    name: &'static str,
    path: &'static str,
    access: Access,
    summary: &'static str,
    served: Endpoint,
) -> Page<Handler> {
    Page {
        methods,
        path,
        name,
        access,
        summary,
        example: None,
        door: PageListeners::Main,
        idempotent: false,
        own_names: false,
        takes: served.takes,
        gives: served.gives,
        handler: served.handler,
    }
}

/// One function for each method, so that a line of the table starts with its method.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $method:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) const fn $name(
            name: &'static str,
            path: &'static str,
            access: Access,
            summary: &'static str,
            served: Endpoint,
        ) -> Page<Handler> {
            line(&[Method::$method], name, path, access, summary, served)
        }
    )*};
}

methods! {
    /// A page that is read.
    get Get;
    /// A page that does or makes something.
    post Post;
    /// A page that replaces something.
    put Put;
    /// A page that changes something.
    patch Patch;
    /// A page that removes something.
    delete Delete;
}
