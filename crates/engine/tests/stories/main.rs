//! Stories: one promise each, told by calling the house's steps by hand with a hand-turned clock.

mod rig;
mod scripted;

mod callbacks;
mod endings;
mod fairness;
mod money;
mod survival;
