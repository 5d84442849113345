//! What is said of a file, by whom, and why it may not be said.

/// Why nothing was signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// The program was built without it.
    #[error("this program was built without the feature `credentials`")]
    NotBuilt,
    /// The certificate and the key cannot sign.
    #[error("{0}")]
    Unusable(String),
    /// This file could not be signed.
    #[error("{0}")]
    Unsigned(String),
}

/// A certificate chain and its private key, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Chain {
    /// The certificate that signs, then those that vouch for it.
    pub certificates: String,
    /// The key, as PKCS#8.
    pub key: String,
}

/// What was done to make a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It was generated.
    Created,
    /// A picture or clip that was given was changed.
    Edited,
    /// What a vendor delivered was written anew.
    Transcoded,
    /// What a vendor delivered was passed on.
    Repackaged,
}

/// What an ingredient is to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The file was made of it. There is one at the most.
    Parent,
    /// It is a part of the file.
    Component,
    /// It was looked at to make the file.
    Input,
}

/// Another file that went into one.
#[derive(Clone, Copy, Debug)]
pub struct Ingredient<'a> {
    /// What people read.
    pub title: &'a str,
    /// What it is to the file.
    pub relation: Relation,
    /// The file itself with the manifest it carries; without, it is only named.
    pub file: Option<&'a [u8]>,
}

/// What is said of a file.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The program that says so, and its version.
    pub program: (&'a str, &'a str),
    /// The model that made it; empty when nobody named one.
    pub model: &'a str,
    /// When, as RFC 3339.
    pub when: &'a str,
    /// What was done.
    pub act: Act,
    /// Whether something that nobody generated is a part of it.
    pub composite: bool,
}
