//! Nodes whose wall clocks are wrong.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use atelier_store::Store;

use crate::disk::{library, said, told};
use crate::rig::{Folder, Rig, on_postgres, options};

const DATABASE: &str = "ATELIER_FAULT_DATABASE";
const SHIFT: &str = "ATELIER_TEST_CLOCK_SHIFT";
const HOUR_MS: i64 = 3_600_000;

#[expect(
    clippy::disallowed_methods,
    reason = "the wall clock is what this is about"
)]
fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_millis() as i64
}

mod postgres {
    #[test]
    #[ignore = "needs PostgreSQL"]
    fn a_node_with_a_wrong_clock_goes_by_the_database() {
        super::on_postgres(super::a_node_with_a_wrong_clock_goes_by_the_database);
    }
}

/// The promise: what nodes must agree on goes by the database's clock, however wrong a node's own is.
async fn a_node_with_a_wrong_clock_goes_by_the_database(rig: Rig) {
    let folder = Folder::new();
    let library = library(&folder.0, "clock");
    for hours in [1, -1] {
        let (wall, shared) = clocks_of_a_node(&library, &rig.url, hours * 3600);
        let now_ms = wall_ms();
        assert!(
            (wall - now_ms).abs() > HOUR_MS / 2,
            "the wall clock is wrong"
        );
        assert!((shared - now_ms).abs() < 20_000, "{}", shared - now_ms);
    }
    assert!(rig.store.database_now_ms().is_some());
}

/// What a node with a shifted clock takes for the time: by its wall, and by the store.
fn clocks_of_a_node(library: &Path, url: &str, seconds: i64) -> (i64, i64) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args([
            "clock::child::acts_of_a_node_with_a_wrong_clock",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(DATABASE, url)
        .env(SHIFT, seconds.to_string())
        .env("LD_PRELOAD", library);
    let said = said(&command.output().expect("the node runs"));
    let number = |name: &str| {
        let rest = said.split_once(name).unwrap_or_else(|| panic!("{said}")).1;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    };
    (number("wall: "), number("shared: "))
}

mod child {
    #[test]
    #[ignore = "run by another test"]
    fn acts_of_a_node_with_a_wrong_clock() {
        super::acts_of_a_node_with_a_wrong_clock();
    }
}

/// Says what time it is.
fn acts_of_a_node_with_a_wrong_clock() {
    let url = told(DATABASE);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = Store::open(&url, options()).await.expect("a store");
        store.settings().put("a", "1").await.expect("a write");
        let shared = store.database_now_ms().expect("the database's clock");
        eprintln!("wall: {}", wall_ms());
        eprintln!("shared: {shared}");
        store.close().await;
    });
}
