//! Asks the terminal itself whether it shows sixel graphics: its answer to "what are you" lists the number 4.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// A terminal that has not answered by then does not.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};
/// Asks a terminal for its attributes (DA1).
const QUESTION: &[u8] = b"\x1b[c";

/// Whether it does; a terminal that says nothing does not.
pub(super) fn has_sixel() -> bool {
    query_terminal().is_some_and(|answer| {
        let inside = answer.trim_start_matches("\x1b[?").trim_end_matches('c');
        inside.split(';').skip(1).any(|number| number == "4")
    })
}

fn query_terminal() -> Option<String> {
    let mut terminal = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()?;
    let before = tcgetattr(&terminal).ok()?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &raw).ok()?;
    let mut answer = String::new();
    if terminal.write_all(QUESTION).is_ok() {
        while !answer.ends_with('c') && answer.len() < 64 {
            let mut ready = [PollFd::from_borrowed_fd(terminal.as_fd(), PollFlags::IN)];
            if !matches!(poll(&mut ready, Some(&PATIENCE)), Ok(1..)) {
                break;
            }
            let mut byte = [0];
            if terminal.read_exact(&mut byte).is_err() {
                break;
            }
            answer.push(char::from(byte[0]));
        }
    }
    let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    answer.ends_with('c').then_some(answer)
}
