//! Numbers that documents promise, held against the settings that make them so.

use super::root;

/// How a document writes a pause.
fn words(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

#[test]
fn documents_say_for_how_long_callbacks_are_tried() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).expect("a file");
    let defaults: toml::Table = read("config/default.toml").parse().expect("TOML");
    let schedule = defaults["callbacks"]["schedule_s"].as_array();
    let schedule = schedule.expect("a list").iter();
    let pauses: Vec<i64> = schedule.filter_map(toml::Value::as_integer).collect();
    let hours = (pauses.iter().sum::<i64>() + 1_800) / 3_600;
    let about = format!("about {hours} hours");
    let (last, before) = pauses.split_last().expect("pauses");
    let before: Vec<String> = before.iter().map(|seconds| words(*seconds)).collect();
    let listed = format!("{} and {}", before.join(", "), words(*last));
    for file in ["docs/callbacks.md", "docs/design/callbacks.md"] {
        let text = read(file).replace('\n', " ");
        assert!(text.contains(&listed), "{file}: {listed}");
        assert!(text.contains(&about), "{file}: {about}");
    }
    assert!(read("config/default.toml").contains(&about), "{about}");
}
