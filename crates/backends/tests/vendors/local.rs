//! A local server for every vendor: it takes each order in the vendor's format, says once that it is at work, hands over a
//! result, and remembers what it took. A test that goes through the table of vendors finds each of them here.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use atelier_media::{Picture, encode_video};
use serde_json::{Value, json};

use crate::stand::{RecordedRequest, Reply, Stand, bytes, json as document, page, png};

/// What comes of an order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Picture,
    Film,
    Drawing,
    Words,
}

impl Kind {
    /// Where the file is on the server.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Picture | Self::Words => "/made.png",
            Self::Film => "/made.mp4",
            Self::Drawing => "/made.svg",
        }
    }
}

/// An answer that depends on something.
type Says<T> = Box<dyn Fn(T) -> Reply>;
/// The vendor's name of an order, and the one that its caller gave it.
type Names = (String, String);

/// What a request is in a vendor's format.
pub(crate) enum Act {
    /// An order: what comes of it, the name that the caller gave it, and the answer that carries the vendor's own.
    Take(Kind, Option<String>, Box<dyn Fn(&str) -> Reply>),
    /// A question about an order: its name, the answer while it is at work, and the one when it is done.
    Ask(String, Reply, Says<Kind>),
    /// A search by the caller's name: the answer with the vendor's own, or without.
    Find(String, Says<Option<String>>),
    /// What was taken so far: the vendor's names with the callers'.
    List(Says<Vec<Names>>),
    /// Anything else.
    Say(Reply),
}

/// How a vendor speaks, and what a worker account needs there to serve an operation.
pub(crate) struct Format {
    pub(crate) vendor: &'static str,
    /// The dialect, for a vendor that has several.
    pub(crate) dialect: &'static str,
    pub(crate) settings: fn() -> Value,
    /// An operation that it serves.
    pub(crate) operation: &'static str,
    pub(crate) act: fn(&RecordedRequest) -> Act,
}

/// Where a server lets go of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Silent {
    /// Nowhere.
    #[default]
    Never,
    /// It takes an order and never answers.
    Order,
    /// It never says how far it is.
    Question,
    /// It never hands over the file.
    File,
}

#[derive(Default)]
struct Books {
    /// The vendor's name of each order with the caller's.
    taken: Vec<Names>,
    kinds: HashMap<String, Kind>,
    asked: HashSet<String>,
    silent: Silent,
    /// How often it still speaks there.
    spoken: usize,
    /// How often it was silent.
    silences: usize,
    /// Whether orders are shown to nobody who looks for them, as long as they are being entered.
    is_slow: bool,
    /// Whether somebody stands before it who gives up on orders at once.
    is_fronted: bool,
}

impl Books {
    /// What can be found.
    fn entered(&self) -> &[Names] {
        if self.is_slow { &[] } else { &self.taken }
    }
}

/// The server.
pub(crate) struct Local {
    pub(crate) stand: Stand,
    books: Arc<Mutex<Books>>,
}

impl Local {
    /// A server that speaks so.
    pub(crate) fn speaking(format: &'static Format) -> Self {
        let books: Arc<Mutex<Books>> = Arc::default();
        let shared = Arc::clone(&books);
        let stand = Stand::new(move |seen| {
            let mut books = shared.lock().expect("the books");
            answer(seen, (format.act)(seen), &mut books)
        });
        Self { stand, books }
    }

    /// Orders that were taken, each once.
    pub(crate) fn taken(&self) -> usize {
        self.books.lock().expect("the books").taken.len()
    }

    /// From now on it is silent there.
    pub(crate) fn be_silent(&self, at: Silent) {
        self.books.lock().expect("the books").silent = at;
    }

    /// It is silent there after so many times.
    pub(crate) fn be_silent_after(&self, at: Silent, times: usize) {
        let mut books = self.books.lock().expect("the books");
        (books.silent, books.spoken) = (at, times);
    }

    /// From now on orders are taken and being entered, until it catches up.
    pub(crate) fn be_slow(&self) {
        self.books.lock().expect("the books").is_slow = true;
    }

    /// What was taken is entered.
    pub(crate) fn catch_up(&self) {
        self.books.lock().expect("the books").is_slow = false;
    }

    /// From now on somebody stands before it who answers every order with 504, which it takes all the same.
    pub(crate) fn be_fronted(&self) {
        self.books.lock().expect("the books").is_fronted = true;
    }

    /// Nobody stands before it any more.
    pub(crate) fn be_reached(&self) {
        self.books.lock().expect("the books").is_fronted = false;
    }

    /// Whether it was asked about an order.
    pub(crate) fn was_asked(&self) -> bool {
        !self.books.lock().expect("the books").asked.is_empty()
    }

    /// How often it was silent.
    pub(crate) fn silences(&self) -> usize {
        self.books.lock().expect("the books").silences
    }
}

/// No answer for longer than any test looks.
fn silence(books: &mut Books) -> Reply {
    books.silences += 1;
    Reply::After(Duration::from_secs(30), Box::new(Reply::Cut))
}

fn is_silent(books: &mut Books, at: Silent) -> bool {
    if books.silent != at {
        return false;
    }
    let spoken = books.spoken;
    books.spoken = spoken.saturating_sub(1);
    spoken == 0
}

fn answer(seen: &RecordedRequest, act: Act, books: &mut Books) -> Reply {
    if let Some(file) = file(seen) {
        return if is_silent(books, Silent::File) {
            silence(books)
        } else {
            file
        };
    }
    match act {
        Act::Take(kind, token, reply) => {
            let token = token.unwrap_or_default();
            let known = books
                .taken
                .iter()
                .find(|(_, one)| !token.is_empty() && *one == token);
            let id = if let Some((id, _)) = known {
                id.clone()
            } else {
                let id = format!("t{}", books.taken.len() + 1);
                books.taken.push((id.clone(), token));
                id
            };
            books.kinds.insert(id.clone(), kind);
            if is_silent(books, Silent::Order) {
                silence(books)
            } else if books.is_fronted {
                page(504)
            } else {
                reply(&id)
            }
        }
        Act::Ask(..) if is_silent(books, Silent::Question) => silence(books),
        Act::Ask(id, running, done) => {
            let mut taken = books.entered().iter();
            let known = taken.find(|(own, token)| *own == id || *token == id);
            // Of what was never ordered there is nothing to tell.
            let Some((own, _)) = known else {
                return running;
            };
            let kind = books.kinds.get(own).copied();
            if books.asked.insert(id) {
                running
            } else {
                done(kind.unwrap_or(Kind::Picture))
            }
        }
        Act::Find(token, reply) => {
            let found = books.entered().iter().find(|(_, one)| *one == token);
            reply(found.map(|(id, _)| id.clone()))
        }
        Act::List(reply) => reply(books.entered().to_vec()),
        Act::Say(reply) => reply,
    }
}

fn file(seen: &RecordedRequest) -> Option<Reply> {
    let path = seen.line.strip_prefix("GET ")?;
    Some(match path {
        "/made.png" => bytes("image/png", picture()),
        "/made.mp4" => bytes("video/mp4", film()),
        "/made.svg" => bytes("image/svg+xml", DRAWING),
        path if path.ends_with("/content") => bytes("video/mp4", film()),
        path if path.contains("/view?") => bytes("image/png", picture()),
        _ => return None,
    })
}

const DRAWING: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>"#;

/// The picture that every server makes.
pub(crate) fn picture() -> Vec<u8> {
    static PICTURE: LazyLock<Vec<u8>> = LazyLock::new(|| png(1024, 1024, [9, 99, 9, 255]));
    PICTURE.clone()
}

/// The film that every server makes.
pub(crate) fn film() -> Vec<u8> {
    static FILM: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let frames = (0..24_u8).map(|index| Picture::filled(64, 64, [index * 10, 90, 9, 255]));
        encode_video(&mut { frames }, 6).expect("a clip")
    });
    FILM.clone()
}

/// A small request for an operation, with its pictures at an address.
pub(crate) fn request(operation: &str, picture: &str) -> Value {
    match operation {
        "facegen.swap" => json!({"targetImage": picture, "swapImage": picture}),
        "imgmodel.chat" => json!({"prompt": "draw a fox"}),
        "motion.generations" => json!({"userPrompt": "a kite rises"}),
        "animegen.text_to_image" => {
            json!({"prompt": "a fox", "model": "anime-diffusion-4-5-curated"})
        }
        _ => json!({"prompt": "a fox in the snow"}),
    }
}

/// What there is to say when nothing is.
pub(crate) fn nothing() -> Act {
    Act::Say(document(&json!({})))
}

/// An order that is answered by a document.
pub(crate) fn takes(kind: Kind, reply: impl Fn(&str) -> Value + 'static) -> Act {
    Act::Take(kind, None, Box::new(move |id| document(&reply(id))))
}

/// A question that is answered by documents.
pub(crate) fn asks(id: &str, running: &Value, done: impl Fn(Kind) -> Value + 'static) -> Act {
    Act::Ask(
        id.to_owned(),
        document(running),
        Box::new(move |kind| document(&done(kind))),
    )
}

/// Where the file of a kind is, on the server that was asked.
pub(crate) fn at(seen: &RecordedRequest) -> impl Fn(Kind) -> String + 'static {
    let base = seen.here("");
    move |kind| format!("{base}{}", kind.path())
}

/// What stands behind a part of the path.
pub(crate) fn after<'a>(seen: &'a RecordedRequest, part: &str) -> Option<&'a str> {
    let (_, rest) = seen.line.split_once(part)?;
    Some(rest.split(['/', '?', '&']).next().unwrap_or_default())
}

/// Whether something is posted there.
pub(crate) fn posts(seen: &RecordedRequest, end: &str) -> bool {
    seen.line.starts_with("POST ") && seen.line.ends_with(end)
}

/// A film or a picture.
pub(crate) fn kind(film: bool) -> Kind {
    if film { Kind::Film } else { Kind::Picture }
}
