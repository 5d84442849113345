//! Waiting for a step in place: the caller's thread does nothing else until it is done. A simulation needs this: nothing
//! else happens meanwhile, and its virtual time stands still.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::Thread;

/// Wakes a thread that waits.
struct Waiting(Thread);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a step in place.
pub(crate) fn in_place<F: Future>(step: F) -> F::Output {
    let waker = Arc::new(Waiting(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut step = pin!(step);
    loop {
        match step.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}
