//! What has arrived of a request before its body, and who sent it.

use std::net::IpAddr;
use std::sync::Arc;

use atelier_contract::{AccountId, Code, Refusal};
use atelier_engine::{Caller, Operator, SignedInPerson, TraceContext};
use hyper::header::HeaderValue;
use hyper::http::request::Parts;

use super::admission::Admission;
use super::denial::Denial;
use super::reply::Reply;
use crate::config::Role;

/// What a handler gives back.
pub(crate) type HandlerResult = Result<Reply, Denial>;

/// Who can reach a listener.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Processes of this machine (loopback).
    Machine,
    /// Whoever the network lets.
    Network,
}

/// Where a request came from.
#[derive(Clone, Copy)]
pub(crate) struct Sender {
    /// The address of the other end.
    pub(crate) peer: IpAddr,
    /// What the listener serves.
    pub(crate) role: Role,
    /// Who else can reach that listener.
    pub(crate) reach: Reach,
    /// Whether nobody in between could read along.
    pub(crate) secure: bool,
    /// Whether it came through a known proxy, whose word about it counts.
    pub(crate) by_proxy: bool,
    /// Whether the caller spoke TLS, here or with a proxy that said so before HTTP.
    pub(crate) by_tls: bool,
    /// Where in a trace it is.
    pub(crate) trace: Option<TraceContext>,
}

/// A request that is being answered, as far as it is known before its body is read.
pub(super) struct Exchange<'a> {
    pub(super) from: Sender,
    /// What it has been granted.
    pub(super) admission: &'a Arc<Admission>,
    /// The identifier that callers and operators find it by.
    pub(super) id: &'a HeaderValue,
}

/// Who sent a request, as far as its page has to know.
pub(crate) enum Requester {
    /// A page that needs no key.
    Anonymous,
    /// An account, by its key or session.
    Caller(Caller),
    /// An operator, or one who may only look.
    Operator(Operator),
    /// A person who is signed in.
    Person(SignedInPerson),
}

/// A request whose head has arrived.
pub(crate) struct IncomingRequest {
    pub(crate) head: Parts,
    pub(crate) from: Sender,
    /// What stood at the placeholders of the path, in order.
    pub(crate) params: Vec<String>,
    /// Whether it came where strangers cannot: to a listener for collectors on loopback, or to a service that is not public.
    pub(crate) inside: bool,
    pub(crate) requester: Requester,
    /// What it has been granted.
    pub(crate) admission: Arc<Admission>,
}

impl IncomingRequest {
    /// The account that calls; the table says which pages have one.
    pub(crate) fn caller(&self) -> Result<&Caller, Refusal> {
        match &self.requester {
            Requester::Caller(caller) => Ok(caller),
            Requester::Anonymous | Requester::Operator(_) | Requester::Person(_) => Err(
                Refusal::new(Code::Internal, "this page was to have a caller"),
            ),
        }
    }

    /// The name of the operator who looks or acts; the table says which pages have one.
    pub(crate) fn operator(&self) -> Result<&str, Refusal> {
        Ok(&self.acting()?.name)
    }

    /// The operator who looks or acts.
    pub(crate) fn acting(&self) -> Result<&Operator, Refusal> {
        match &self.requester {
            Requester::Operator(operator) => Ok(operator),
            Requester::Anonymous | Requester::Caller(_) | Requester::Person(_) => Err(
                Refusal::new(Code::Internal, "this page was to have an operator"),
            ),
        }
    }

    /// The person who is signed in; the table says which pages have one.
    pub(crate) fn person(&self) -> Result<&SignedInPerson, Refusal> {
        match &self.requester {
            Requester::Person(person) => Ok(person),
            Requester::Anonymous | Requester::Caller(_) | Requester::Operator(_) => Err(
                Refusal::new(Code::Internal, "this page was to have a person"),
            ),
        }
    }

    /// The identifier of the account that calls.
    pub(crate) fn account(&self) -> Result<&AccountId, Refusal> {
        Ok(&self.caller()?.account_id)
    }

    /// The account whose identifier stood at a placeholder of the path.
    pub(crate) fn account_param(&self, place: usize) -> AccountId {
        self.param(place).into()
    }

    /// What stood at a placeholder of the path, with what was percent-encoded put back: names may have a `/` in them.
    pub(crate) fn decoded_param(&self, place: usize) -> String {
        decoded(self.param(place))
    }

    /// What stood at a placeholder of the path.
    pub(crate) fn param(&self, place: usize) -> &str {
        self.params
            .get(place)
            .map(String::as_str)
            .unwrap_or_default()
    }
}

/// A text with what was percent-encoded put back. What is no text then has a mark in it that no name has.
pub(super) fn decoded(text: &str) -> String {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let encoded = match after {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        if let Some((high, low)) = encoded {
            bytes.push((high * 16 + low) as u8);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_percent_encoded_is_put_back_once() {
        for (given, meant) in [
            ("a/b", "a/b"),
            ("a%2Fb", "a/b"),
            ("a%2fb", "a/b"),
            ("a%252Fb", "a%2Fb"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("%ff", "\u{fffd}"),
            ("", ""),
        ] {
            assert_eq!(decoded(given), meant, "{given}");
        }
    }
}
