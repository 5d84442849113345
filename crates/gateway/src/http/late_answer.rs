//! An answer that begins before its result is there, so that nobody between the caller and the service takes the silence for
//! the end: something that means nothing every so often, then the result. What is waited for is given up with the answer.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use tokio::time::timeout;

use super::payload::ByteStream;

/// An answer whose result is being made.
struct LateAnswer {
    /// The result; none once it was sent.
    made: Option<BoxFuture<'static, Bytes>>,
    filler: Bytes,
    every: Duration,
    /// Whether it has been silent for long enough already.
    due: bool,
}

/// What fills the time until a result is there.
pub(super) struct Filler {
    /// What is sent.
    pub(super) bytes: Bytes,
    /// How often.
    pub(super) every: Duration,
    /// Whether it is sent at once, too.
    pub(super) at_once: bool,
}

/// The bytes of an answer: fillers until its result is made, and the result.
pub(super) fn flow(filler: Filler, made: BoxFuture<'static, Bytes>) -> ByteStream {
    let answer = LateAnswer {
        made: Some(made),
        filler: filler.bytes,
        every: filler.every,
        due: filler.at_once,
    };
    Box::pin(stream::unfold(answer, next))
}

/// The next piece, or the end.
async fn next(mut answer: LateAnswer) -> Option<(io::Result<Bytes>, LateAnswer)> {
    if answer.due && answer.made.is_some() {
        answer.due = false;
        return Some((Ok(answer.filler.clone()), answer));
    }
    let made = answer.made.as_mut()?;
    let result = timeout(answer.every, made).await;
    match result {
        Err(_) => Some((Ok(answer.filler.clone()), answer)),
        Ok(result) => {
            answer.made = None;
            Some((Ok(result), answer))
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;

    async fn read(seconds: u64, at_once: bool) -> Vec<Bytes> {
        let made = Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Bytes::from_static(b"{}")
        });
        let filler = Filler {
            bytes: Bytes::from_static(b" "),
            every: Duration::from_secs(10),
            at_once,
        };
        let pieces = flow(filler, made);
        pieces.map(|piece| piece.expect("a piece")).collect().await
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_until_a_result_is_filled() {
        assert_eq!(read(25, false).await, [" ", " ", "{}"]);
        assert_eq!(read(25, true).await, [" ", " ", " ", "{}"]);
        assert_eq!(read(5, false).await, ["{}"]);
    }
}
