//! What machines do to a store: disks that are slow or fail, connections that go silent, readers that take long. The
//! kit that does it is here too: libraries that stand before the disk and the clock, and a proxy that stands before PostgreSQL.

#[path = "conformance/rig.rs"]
#[macro_use]
#[expect(dead_code, reason = "the cases here need only some of the rig")]
#[expect(unused_macros, reason = "every case here is about one database")]
mod rig;

#[path = "faults/clock.rs"]
mod clock;
#[path = "faults/disk.rs"]
mod disk;
#[path = "faults/network.rs"]
mod network;
#[path = "faults/proxy.rs"]
mod proxy;
#[path = "faults/reader.rs"]
mod reader;
#[path = "../../../tests/shared/stopwatch.rs"]
mod stopwatch;
