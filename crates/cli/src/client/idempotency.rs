//! The name of a call, by which a repetition is known.

/// A name that no other call has.
#[expect(
    clippy::disallowed_methods,
    reason = "a call is named here, before any service has seen it"
)]
pub(crate) fn fresh_key() -> String {
    uuid::Uuid::now_v7().to_string()
}
