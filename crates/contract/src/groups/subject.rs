//! What a rule is asked about: a request, when it is accepted, and where its price comes from.

/// What is paid for, and when.
#[derive(Clone, Copy, Debug)]
pub struct BillSubject<'a> {
    /// The operation, `family.operation`.
    pub operation: &'a str,
    /// Its family.
    pub family: &'a str,
    /// The model of the request, of the catalogue or built in.
    pub model: Option<&'a str>,
    /// Whether it runs on a worker account of the caller's own.
    pub custody: bool,
    /// The moment it is accepted, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Where the price of a request comes from, which decides what a rule may do to it.
#[derive(Clone, Copy)]
pub(super) enum PriceSource<'a> {
    /// From the model's own price.
    Catalogue,
    /// From a key of the tariff.
    Tariff(&'a str),
}
