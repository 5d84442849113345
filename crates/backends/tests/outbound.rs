//! The guarded client against a hostile world, all of it on loopback.

#[path = "outbound/fuzzed.rs"]
mod fuzzed;
#[path = "outbound/hostile.rs"]
mod hostile;
#[path = "../../../fuzz/inputs.rs"]
mod inputs;
#[path = "outbound/limits.rs"]
mod limits;
#[path = "outbound/memory.rs"]
mod memory;
#[path = "outbound/receivers.rs"]
mod receivers;
#[path = "outbound/servers.rs"]
mod servers;
#[path = "../../../tests/shared/still_time.rs"]
mod still_time;
#[path = "../../../tests/shared/stopwatch.rs"]
mod stopwatch;
#[path = "outbound/tls.rs"]
mod tls;
#[path = "outbound/vendors.rs"]
mod vendors;
