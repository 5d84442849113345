//! Watches every connection with one clock: a head that trickles in, a caller that never reads, a connection that only
//! sits there. When all seats are taken, whoever has been idle longest, or has left its answers longest, gives way.

use std::any::Any;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Context;
use std::time::Duration;

use atelier_contract::settings::Limits;
use atelier_engine::CachedCaller;
use futures_util::task::AtomicWaker;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::framing::HeadError;
use super::response_stream::{ByteStream, ResponseStream};
use crate::network;

/// The watch looks around this often; limits are exact to one tick.
const TICK: Duration = Duration::from_millis(250);
const TICKS_PER_SECOND: u32 = 4;
/// How long a connection whose head is late may take to be told so.
const TICKS_TO_TELL: u32 = 2;

/// A connection whose answers have all been left for longer than this gives way when every seat is taken.
const LEFT_TICKS: u32 = 5 * TICKS_PER_SECOND;

/// What a connection is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ConnectionCommand {
    /// Finish what is being answered, then close.
    Finish = 1,
    /// Close at once, whatever is being answered.
    Leave = 2,
}

/// One connection, as the watch sees it. Times are ticks; zero means "not now".
pub(crate) struct Connection {
    number: u64,
    /// The other end of the socket.
    pub(crate) peer: IpAddr,
    /// Its network as the name of a holder of shares.
    pub(crate) holder: Arc<str>,
    network: IpAddr,
    now: Arc<AtomicU32>,
    head_since: AtomicU32,
    idle_since: AtomicU32,
    stuck_since: AtomicU32,
    in_flight: AtomicU32,
    multiplexed: AtomicBool,
    /// How many requests have begun; on HTTP/1 they begin in the order of their heads.
    begun: AtomicU32,
    refused: OnceLock<(u32, HeadError)>,
    late: AtomicBool,
    reader: AtomicWaker,
    streams: Mutex<Vec<Weak<ResponseStream>>>,
    command: AtomicU8,
    word: Notify,
    /// The last key that came this way and whose it is: nearly every connection is one caller's.
    caller: Mutex<Option<(Box<str>, CachedCaller)>>,
}

/// Held while a request is being answered.
pub(crate) struct RequestGuard(Arc<Connection>);

impl Connection {
    /// Bytes arrived: outside a request they are the start of a head.
    pub(crate) fn bytes_received(&self) {
        if self.in_flight.load(Ordering::Relaxed) == 0
            && self.head_since.load(Ordering::Relaxed) == 0
            && !self.multiplexed.load(Ordering::Relaxed)
        {
            self.head_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// The caller does not take what is written to it.
    pub(crate) fn write_blocked(&self) {
        if self.stuck_since.load(Ordering::Relaxed) == 0 {
            self.stuck_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// The caller took something.
    pub(crate) fn write_progressed(&self) {
        if self.stuck_since.load(Ordering::Relaxed) != 0 {
            self.stuck_since.store(0, Ordering::Relaxed);
        }
    }

    /// A request's head is complete; why it is refused, if it is.
    pub(crate) fn begin(self: &Arc<Self>, multiplexed: bool) -> (RequestGuard, Option<HeadError>) {
        if multiplexed {
            self.multiplexed.store(true, Ordering::Relaxed);
        }
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.head_since.store(0, Ordering::Relaxed);
        let number = self.begun.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let refused = self.refused.get().filter(|(head, _)| *head == number);
        (RequestGuard(Arc::clone(self)), refused.map(|(_, why)| *why))
    }

    /// The head of this number is not a right one.
    pub(super) fn refuse(&self, number: u32, why: HeadError) {
        let _ = self.refused.set((number, why));
    }

    /// Whether the head that is being read has taken too long.
    pub(super) fn is_late(&self) -> bool {
        self.late.load(Ordering::Acquire)
    }

    /// Has the reader woken as soon as it is too late.
    pub(super) fn wake_when_late(&self, context: &Context<'_>) {
        self.reader.register(context.waker());
    }

    /// Looks after an answer that is sent bit by bit, and what is held for it.
    pub(crate) fn send(&self, flow: ByteStream, held: impl Any + Send) -> Arc<ResponseStream> {
        let sending = ResponseStream::new(Arc::clone(&self.now), flow, held);
        let mut streams = self.streams();
        streams.retain(|one| one.strong_count() > 0);
        streams.push(Arc::downgrade(&sending));
        sending
    }

    /// Remembers whose key it was that came this way.
    pub(crate) fn remember(&self, key: &str, believed: CachedCaller) {
        *self.caller() = Some((key.into(), believed));
    }

    /// Whose key this is, if it was the last one that came this way. The whole key is compared.
    pub(crate) fn recall(&self, key: &str) -> Option<CachedCaller> {
        let caller = self.caller();
        let (known, believed) = caller.as_ref()?;
        (**known == *key).then(|| believed.clone())
    }

    fn caller(&self) -> MutexGuard<'_, Option<(Box<str>, CachedCaller)>> {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self) -> MutexGuard<'_, Vec<Weak<ResponseStream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a command.
    pub(crate) async fn command(&self) -> ConnectionCommand {
        loop {
            self.word.notified().await;
            match self.command.load(Ordering::Acquire) {
                1 => return ConnectionCommand::Finish,
                2 => return ConnectionCommand::Leave,
                _ => {}
            }
        }
    }

    fn tell(&self, command: ConnectionCommand) {
        if self.command.fetch_max(command as u8, Ordering::AcqRel) < command as u8 {
            self.word.notify_one();
        }
    }

    fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    fn leaving(&self) -> bool {
        self.command.load(Ordering::Relaxed) == ConnectionCommand::Leave as u8
    }

    /// Since when all that is in flight are answers that nobody takes, if they have been left for a while.
    fn untaken_since(&self, in_flight: u32) -> Option<u32> {
        let now = self.now();
        let streams = self.streams();
        let untaken = streams.iter().filter_map(Weak::upgrade);
        let untaken = untaken.map(|one| one.untaken_ticks(now));
        let left: Vec<_> = untaken.filter(|ticks| *ticks > LEFT_TICKS).collect();
        let shortest = left.iter().min()?;
        (left.len() >= in_flight as usize).then(|| now.saturating_sub(*shortest))
    }

    /// Since when it has been of no use, if it is.
    fn useless_since(&self) -> Option<u32> {
        if self.leaving() {
            return None;
        }
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        if in_flight > 0 {
            return self.untaken_since(in_flight);
        }
        let head = self.head_since.load(Ordering::Relaxed);
        Some(if head == 0 {
            self.idle_since.load(Ordering::Relaxed)
        } else {
            head
        })
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let conn = &self.0;
        conn.idle_since.store(conn.now(), Ordering::Relaxed);
        conn.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Every open connection, and how many there may be.
pub(crate) struct ConnectionWatch {
    conns: Mutex<ConnectionTable>,
    now: Arc<AtomicU32>,
    most: usize,
    most_per_network: usize,
    head_ticks: u32,
    idle_ticks: u32,
    stuck_ticks: u32,
}

#[derive(Default)]
struct ConnectionTable {
    next: u64,
    taken: HashMap<u64, Arc<Connection>>,
    by_network: HashMap<IpAddr, usize>,
    dismissed: bool,
}

impl ConnectionWatch {
    /// A watch with the configured limits, over at most so many connections.
    pub(crate) fn new(limits: &Limits, most: usize) -> Self {
        let ticks = |seconds: u64| (seconds as u32).saturating_mul(TICKS_PER_SECOND);
        Self {
            conns: Mutex::default(),
            now: Arc::new(AtomicU32::new(1)),
            most,
            most_per_network: limits.connections_per_address.min(most),
            head_ticks: ticks(limits.header_timeout_s),
            idle_ticks: ticks(limits.idle_timeout_s),
            stuck_ticks: ticks(limits.write_timeout_s),
        }
    }

    /// Gives a connection a seat; `None` when every seat is taken by somebody who is being answered.
    /// A known proxy stands for many and may have all of them.
    pub(crate) fn admit(&self, peer: IpAddr, is_proxy: bool) -> Option<Arc<Connection>> {
        let mut conns = self.conns();
        let network = network::of(peer);
        let of_network = conns.by_network.get(&network).copied().unwrap_or(0);
        let crowded = !is_proxy && of_network >= self.most_per_network;
        if crowded || conns.taken.len() >= self.most {
            conns
                .longest_useless(crowded.then_some(network))?
                .tell(ConnectionCommand::Leave);
        }
        let now = self.now.load(Ordering::Relaxed);
        conns.next += 1;
        let conn = Arc::new(Connection {
            number: conns.next,
            peer,
            holder: network::holder(peer),
            network,
            now: Arc::clone(&self.now),
            // A caller that connects and says nothing is as slow as one that stops in the middle of a head.
            head_since: AtomicU32::new(now),
            idle_since: AtomicU32::new(now),
            stuck_since: AtomicU32::new(0),
            in_flight: AtomicU32::new(0),
            multiplexed: AtomicBool::new(false),
            begun: AtomicU32::new(0),
            refused: OnceLock::new(),
            late: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            streams: Mutex::default(),
            command: AtomicU8::new(0),
            word: Notify::new(),
            caller: Mutex::default(),
        });
        if conns.dismissed {
            conn.tell(ConnectionCommand::Finish);
        }
        conns.taken.insert(conn.number, Arc::clone(&conn));
        *conns.by_network.entry(network).or_default() += 1;
        Some(conn)
    }

    /// Takes a seat back.
    pub(crate) fn release(&self, conn: &Connection) {
        let mut conns = self.conns();
        if conns.taken.remove(&conn.number).is_none() {
            return;
        }
        if let Some(count) = conns.by_network.get_mut(&conn.network) {
            *count -= 1;
            if *count == 0 {
                conns.by_network.remove(&conn.network);
            }
        }
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.conns().taken.len()
    }

    /// Asks everybody to finish and go.
    pub(crate) fn dismiss_all(&self) {
        let mut conns = self.conns();
        conns.dismissed = true;
        for conn in conns.taken.values() {
            conn.tell(ConnectionCommand::Finish);
        }
    }

    /// Looks around until the server closes and everybody is gone: a stop must not wait for those who trickle.
    pub(crate) async fn watch(self: Arc<Self>, closing: CancellationToken) {
        let mut ticks = tokio::time::interval(TICK);
        while !closing.is_cancelled() || self.open() > 0 {
            ticks.tick().await;
            self.look();
        }
    }

    fn look(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        let over = |since: u32, ticks: u32| since != 0 && now.saturating_sub(since) > ticks;
        for conn in self.conns().taken.values() {
            let idle = conn.in_flight.load(Ordering::Relaxed) == 0;
            let head = conn.head_since.load(Ordering::Relaxed);
            if idle && over(head, self.head_ticks) && !conn.late.swap(true, Ordering::AcqRel) {
                // Whoever has sent part of a head is told why; whoever has sent nothing is not read from.
                conn.reader.wake();
            }
            let too_long = over(conn.stuck_since.load(Ordering::Relaxed), self.stuck_ticks)
                || (idle && over(head, self.head_ticks + TICKS_TO_TELL))
                || (idle
                    && head == 0
                    && over(conn.idle_since.load(Ordering::Relaxed), self.idle_ticks))
                || self.check_streams(conn, now);
            if too_long {
                conn.tell(ConnectionCommand::Leave);
            }
        }
    }

    /// Cuts answers that nobody takes, so that they hold no file; when even that frees nothing, the connection has to
    /// go.
    fn check_streams(&self, conn: &Connection, now: u32) -> bool {
        let mut streams = conn.streams();
        streams.retain(|one| one.strong_count() > 0);
        let untaken = streams.iter().filter_map(Weak::upgrade);
        let mut hopeless = false;
        for sending in untaken {
            let ticks = sending.untaken_ticks(now);
            if ticks > self.stuck_ticks {
                sending.cut();
            }
            hopeless |= ticks > self.stuck_ticks.saturating_mul(2);
        }
        hopeless
    }

    fn conns(&self) -> MutexGuard<'_, ConnectionTable> {
        self.conns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionTable {
    fn longest_useless(&self, of: Option<IpAddr>) -> Option<&Arc<Connection>> {
        self.taken
            .values()
            .filter(|conn| of.is_none_or(|network| conn.network == network))
            .filter_map(|conn| conn.useless_since().map(|since| (since, conn)))
            .min_by_key(|(since, conn)| (*since, conn.number))
            .map(|(_, conn)| conn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> ConnectionWatch {
        let mut limits = crate::config::Config::defaults().limits;
        limits.connections_per_address = 2;
        (limits.header_timeout_s, limits.idle_timeout_s) = (1, 2);
        ConnectionWatch::new(&limits, 3)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn the_longest_idle_connection_gives_way() {
        let watch = watch();
        let first = watch.admit(address(1), false).expect("a seat");
        watch.look();
        let second = watch.admit(address(1), false).expect("a seat");
        let third = watch.admit(address(1), false).expect("a seat");
        assert!(first.leaving() && !second.leaving() && !third.leaving());
    }

    #[test]
    fn nobody_who_is_being_answered_gives_way() {
        let watch = watch();
        let conns = [1, 2, 3].map(|last| watch.admit(address(last), false).expect("a seat"));
        let _busy = conns.each_ref().map(|conn| conn.begin(false).0);
        assert!(watch.admit(address(4), false).is_none());
    }

    #[test]
    fn nobody_is_kept_out_by_answers_that_are_left() {
        let watch = watch();
        let conns = [1, 2, 3].map(|last| watch.admit(address(last), false).expect("a seat"));
        let flow = || -> ByteStream { Box::pin(futures_util::stream::pending()) };
        let _left = conns
            .each_ref()
            .map(|conn| conn.send(flow(), conn.begin(true).0));
        assert!(watch.admit(address(4), false).is_none());
        for _ in 0..=LEFT_TICKS {
            watch.look();
        }
        // One that is also asked for something else is of use.
        let _busy = conns[0].begin(true);
        assert!(watch.admit(address(4), false).is_some());
        assert!(!conns[0].leaving() && conns[1].leaving());
    }

    #[test]
    fn the_addresses_of_one_network_have_the_seats_of_one() {
        let watch = watch();
        let of = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        let conns = [1, 2, 3].map(|last| watch.admit(of(last), false).expect("a seat"));
        assert!(conns[0].leaving() && !conns[1].leaving() && !conns[2].leaving());
    }

    #[test]
    fn a_head_that_trickles_and_a_connection_that_only_sits_are_closed() {
        let watch = watch();
        let slow = watch.admit(address(1), false).expect("a seat");
        let quiet = watch.admit(address(2), false).expect("a seat");
        drop(quiet.begin(false));
        for _ in 0..=TICKS_PER_SECOND {
            watch.look();
        }
        assert!(slow.is_late() && !slow.leaving());
        for _ in 0..=TICKS_TO_TELL {
            watch.look();
        }
        assert!(slow.leaving() && !quiet.leaving());
        for _ in 0..=TICKS_PER_SECOND {
            watch.look();
        }
        assert!(quiet.leaving());
    }
}
