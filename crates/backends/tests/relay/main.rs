//! The relay against a server that speaks the interface: what the server was asked, and what the relay concluded.

mod endings;
mod faults;
mod requests;
mod server;
mod work;
