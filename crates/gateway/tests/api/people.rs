//! People from outside: browsers that sign in, are invited, are limited and are removed. Without a mail server the letters are in the log,
//! where these tests read them.

pub(crate) mod browser;
mod invitations;
mod links;
mod members;
mod oidc;
mod provider;
mod security;
mod sign_up;
