//! SIGTERM and SIGINT: the first asks for a stop, the second does not wait for it.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code of a process that was told twice.
const TOLD_TWICE: i32 = 130;

/// The two signals that ask for a stop.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Ends the process at once when another signal comes.
    pub(crate) async fn exit_on_next(mut self) {
        self.next().await;
        tracing::warn!("second signal: exiting at once");
        std::process::exit(TOLD_TWICE);
    }
}
