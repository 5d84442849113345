//! From a handler to a line of the table. What a page reads and answers is taken from the handler's own types, so that
//! the documents cannot say anything else.

use std::marker::PhantomData;
use std::sync::Arc;

use atelier_contract::body::{self as contract_body, Fields};
use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::{Access, Described, Door, Gives, Method, Page, Takes};
use atelier_contract::{Code, Refusal};
use atelier_engine::heavy::{self, Whose};
use atelier_engine::shares::Shares;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::body::{self, Arriving};
use super::body_share::MOST_OPEN;
use super::denial::Denial;
use super::received::{Answer, Received};
use super::reply::{self, Reply};
use crate::app::App;

/// Long answers of one account that wait to be written, at most.
const LONG_WAITING: usize = 8;
const TOO_LONG: &str = "too many long lists of this account are being answered; ask for one after the other, or for fewer rows \
                        (limit)";

/// What answers a page.
pub(crate) type Handler = fn(Arc<App>, Received, Arriving) -> BoxFuture<'static, Answer>;

/// What a handler reads.
pub(crate) trait Input: Sized + Send {
    /// The same for the table.
    const TAKES: Takes;

    /// Reads it.
    fn read(
        app: &App,
        head: &Parts,
        body: Arriving,
    ) -> impl Future<Output = Result<Self, Denial>> + Send;
}

/// What a handler answers.
pub(crate) trait Output: Send + 'static {
    /// The same for the table.
    const GIVES: Gives;

    /// Whether its text is so long that it is written apart.
    fn is_long(&self) -> bool {
        false
    }

    /// Writes it.
    fn reply(self) -> Reply;
}

impl Input for () {
    const TAKES: Takes = Takes::NOTHING;

    async fn read(_: &App, _: &Parts, _: Arriving) -> Result<Self, Denial> {
        Ok(())
    }
}

/// Fields of the query.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send> Input for Query<T> {
    const TAKES: Takes = Takes {
        query: Some(Described::query::<T>()),
        ..Takes::NOTHING
    };

    async fn read(_: &App, head: &Parts, _: Arriving) -> Result<Self, Denial> {
        Ok(Self(contract_body::read(body::query(head)?)?))
    }
}

/// Fields of a body of at most so many bytes.
pub(crate) struct Body<T, const MOST: usize = SMALL_BODY>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send, const MOST: usize> Input for Body<T, MOST> {
    const TAKES: Takes = Takes {
        body: Some(Described::body::<T>()),
        ..Takes::NOTHING
    };

    async fn read(app: &App, head: &Parts, given: Arriving) -> Result<Self, Denial> {
        let fields = body::fields(app, head, given, MOST).await?;
        Ok(Self(contract_body::read(fields)?))
    }
}

/// A body as it came, whatever it is.
pub(crate) struct Posted(pub(crate) Bytes);

impl Input for Posted {
    const TAKES: Takes = Takes::NOTHING;

    async fn read(app: &App, head: &Parts, given: Arriving) -> Result<Self, Denial> {
        Ok(Self(body::bytes(app, head, given, MOST_OPEN).await?))
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
    const TAKES: Takes = Takes {
        body: Some(Described::body::<T>()),
        ..Takes::NOTHING
    };

    async fn read(app: &App, head: &Parts, given: Arriving) -> Result<Self, Denial> {
        let structure = RAW_STRUCTURE;
        let fields = body::fields_within(app, head, given, MOST, structure).await?;
        Ok(Self(fields, PhantomData))
    }
}

/// Fields of the query and of the body together; the body wins.
pub(crate) struct QueryOrBody<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send> Input for QueryOrBody<T> {
    const TAKES: Takes = Takes {
        query: Some(Described::query::<T>()),
        body: Some(Described::body::<T>()),
        ..Takes::NOTHING
    };

    async fn read(app: &App, head: &Parts, given: Arriving) -> Result<Self, Denial> {
        let fields = body::query_and_fields(app, head, given).await?;
        Ok(Self(contract_body::read(fields)?))
    }
}

/// The usual envelope around `data`.
pub(crate) struct Data<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Data<T> {
    const GIVES: Gives = Gives::Data(SchemaGenerator::subschema_for::<T>);

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
    const GIVES: Gives = Gives::List(SchemaGenerator::subschema_for::<T>);

    fn is_long(&self) -> bool {
        reply::is_long(&self.rows)
    }

    fn reply(self) -> Reply {
        reply::page(&self.rows, self.total, self.page, self.limit)
    }
}

/// One page of a list that says where it goes on.
pub(crate) struct Continued<T> {
    pub(crate) list: List<T>,
    pub(crate) next: Option<String>,
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for Continued<T> {
    const GIVES: Gives = Gives::Continued(SchemaGenerator::subschema_for::<T>);

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
        reply::continued_page(&rows, (total, page, limit), self.next.as_deref())
    }
}

/// JSON without an envelope.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Json<T> {
    const GIVES: Gives = Gives::Json(SchemaGenerator::subschema_for::<T>);

    fn is_long(&self) -> bool {
        reply::is_long(&self.0)
    }

    fn reply(self) -> Reply {
        reply::json_of(&self.0)
    }
}

/// The usual envelope here, or another page to look at.
pub(crate) enum Led<T> {
    /// Stay.
    Here(Data<T>),
    /// Go there.
    To(&'static str),
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for Led<T> {
    const GIVES: Gives = Data::<T>::GIVES;

    fn reply(self) -> Reply {
        match self {
            Self::Here(data) => data.reply(),
            Self::To(path) => reply::see_other(path),
        }
    }
}

/// Answers that are no JSON to describe, each with what it is.
macro_rules! other_answers {
    ($($(#[$doc:meta])* $name:ident $gives:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Reply);

        impl Output for $name {
            const GIVES: Gives = $gives;

            fn reply(self) -> Reply {
                self.0
            }
        }
    )*};
}

other_answers! {
    /// Server-sent events.
    Events Gives::Events;
    /// Messages of a protocol of their own.
    Messages Gives::Messages;
    /// Counters.
    Counters Gives::Media("text/plain");
    /// A JSON document that describes itself.
    Document Gives::Media("application/json");
    /// A result file of any kind.
    File Gives::Media("*/*");
}

/// A handler and what its types say.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    takes: Takes,
    gives: Gives,
    handler: Handler,
}

/// Takes what a handler's types say; the handler itself comes a second time as the function that runs it.
pub(crate) const fn served<I: Input, O: Output, F: Future<Output = Result<O, Denial>>>(
    _: fn(Arc<App>, Received, I) -> F,
    handler: Handler,
) -> Served {
    Served {
        takes: I::TAKES,
        gives: O::GIVES,
        handler,
    }
}

/// Reads what a handler wants, has it answer and writes that.
pub(crate) async fn run<I: Input, O: Output, F: Future<Output = Result<O, Denial>> + Send>(
    app: Arc<App>,
    received: Received,
    body: Arriving,
    handler: fn(Arc<App>, Received, I) -> F,
) -> Answer {
    let input = I::read(&app, &received.head, body).await?;
    let (answers, pass) = (Arc::clone(&app.long_answers), Arc::clone(&received.pass));
    let output = handler(app, received, input).await?;
    if output.is_long() {
        return apart(&answers, pass.holder(), Box::new(move || output.reply())).await;
    }
    Ok(output.reply())
}

/// Writes a long answer on a thread that gives way to those that answer others, a few of one account at once. Few wait for that:
/// what is to be written is in memory meanwhile.
async fn apart(
    answers: &Arc<Shares>,
    holder: &Arc<str>,
    write: Box<dyn FnOnce() -> Reply + Send>,
) -> Answer {
    let place = match answers.try_take(holder, 1) {
        Ok(place) => place,
        Err(_) if answers.waiting(holder) >= LONG_WAITING => {
            return Err(Denial::later(TOO_LONG, 1));
        }
        Err(_) => answers.take(holder, 1).await,
    };
    let written = heavy::spawn(Whose::Crowd, move || {
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
        $crate::http::page::served($handler, |app, received, body| {
            Box::pin($crate::http::page::run(app, received, body, $handler))
        })
    };
}
pub(crate) use page;

const fn line(
    methods: &'static [Method],
    (name, path): (&'static str, &'static str),
    access: Access,
    summary: &'static str,
    served: Served,
) -> Page<Handler> {
    Page {
        methods,
        path,
        name,
        access,
        summary,
        example: None,
        door: Door::Main,
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
            served: Served,
        ) -> Page<Handler> {
            line(&[Method::$method], (name, path), access, summary, served)
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
