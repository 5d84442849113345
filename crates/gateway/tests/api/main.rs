//! The service from outside: the real binary on a free port, spoken to over HTTP.

#[test]
fn the_binary_is_built() {
    assert!(std::path::Path::new(env!("CARGO_BIN_EXE_atelier")).exists());
}
