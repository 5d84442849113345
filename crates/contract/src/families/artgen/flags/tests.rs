//! Flags: what is read, what is refused and with which words.

use super::*;

fn read(prompt: &str) -> Flags {
    Flags::read(prompt).expect(prompt)
}

fn refused(prompt: &str) -> String {
    let refusal = Flags::read(prompt).expect_err(prompt);
    assert_eq!(refusal.field.as_deref(), Some("prompt"), "{prompt}");
    refusal.message
}

#[test]
fn words_and_flags_come_apart() {
    let flags = read("a red fox --ar 16:9 --v 6.1 --seed 42 --no hands, text --tile --s 250");
    assert_eq!(flags.words, "a red fox");
    assert_eq!(flags.ratio(), (16, 9));
    assert_eq!(
        flags.version().map(|version| version.to_string()),
        Some("6.1".into())
    );
    assert_eq!(flags.seed(), Some(42));
    assert_eq!(flags.negative(), "hands, text");
    assert_eq!(flags.to_json()["tile"], true);
    assert_eq!(flags.to_json()["stylize"], "250");
}

#[test]
fn long_and_short_spellings_are_the_same_flag() {
    for (long, short) in [
        ("--aspect 2:3", "--ar 2:3"),
        ("--version 5", "--v 5"),
        ("--stylize 1", "--s 1"),
        ("--chaos 1", "--c 1"),
        ("--quality 2", "--q 2"),
        ("--weird 9", "--w 9"),
    ] {
        assert_eq!(read(&format!("x {long}")), read(&format!("x {short}")));
    }
    assert_eq!(read("x —AR 3:2").ratio(), (3, 2));
}

#[test]
fn dashes_that_are_no_flag_stay_words() {
    let flags = read("a well--known fox -- at --- night -5");
    assert_eq!(flags.words, "a well--known fox -- at --- night -5");
}

#[test]
fn image_addresses_in_front_are_references() {
    let flags = read("https://example.com/a.png https://example.com/b.png a fox --iw 1.5");
    assert_eq!(flags.images.len(), 2);
    assert_eq!(flags.words, "a fox");
}

#[test]
fn references_lend_style_or_looks_unless_they_weigh_nothing() {
    let flags = read(
        "a fox --sref 123 https://example.com/s.png::2 random --cref https://example.com/c.png",
    );
    let hints = flags.hints();
    let named: Vec<_> = hints
        .iter()
        .map(|(lends, url)| (*lends, url.as_str()))
        .collect();
    assert_eq!(
        named,
        [
            (HintKind::Style, "https://example.com/s.png"),
            (HintKind::Looks, "https://example.com/c.png"),
        ]
    );
    assert!(flags.images.is_empty());
    assert!(
        read("a fox --sref https://example.com/s.png --sw 0")
            .hints()
            .is_empty()
    );
    assert!(read("a fox").hints().is_empty());
}

#[test]
fn a_bad_value_is_refused_by_flag_with_what_is_allowed() {
    for (prompt, wanted) in [
        ("x --ar 16", "flag --ar must be width:height"),
        ("x --ar 0:1", "flag --ar"),
        ("x --ar 15:1", "from 1:14 to 14:1"),
        ("x --ar", "flag --ar"),
        ("x --ar --tile", "flag --ar"),
        ("x --v 8", "flag --v must be one of 1, 2, 3, 4, 5"),
        ("x --niji 3", "flag --niji must be one of 4, 5, 6, 7"),
        ("x --niji", "flag --niji"),
        ("x --seed 4294967296", "a whole number from 0 to 4294967295"),
        ("x --seed -1", "flag --seed"),
        (
            "x --s 1001",
            "flag --stylize must be a whole number from 0 to 1000",
        ),
        (
            "x --c 101",
            "flag --chaos must be a whole number from 0 to 100",
        ),
        ("x --q 3", "flag --quality must be one of"),
        ("x --iw 3.1", "flag --iw must be a number from 0 to 3"),
        ("x --iw nan", "flag --iw"),
        ("x --sref nothing", "flag --sref must be image addresses"),
        ("x --cref", "flag --cref"),
        ("x --style oil", "flag --style must be one of raw"),
        ("x --no", "flag --no"),
    ] {
        let message = refused(prompt);
        assert!(message.contains(wanted), "{prompt}: {message}");
    }
}

#[test]
fn flags_at_their_bounds_are_accepted() {
    for flags in [
        "--ar 14:1",
        "--ar 1:14",
        "--v 7",
        "--v 5.2",
        "--niji 6",
        "--seed 0",
        "--seed 4294967295",
        "--s 0",
        "--s 1000",
        "--c 0",
        "--c 100",
        "--q .25",
        "--iw 0",
        "--iw 3",
        "--raw",
        "--style raw",
        "--sref random",
        "--sref 123 https://example.com/a.png::2",
        "--cref https://example.com/a.png",
    ] {
        read(&format!("x {flags}"));
    }
}

#[test]
fn an_unknown_flag_is_refused_with_the_known_ones() {
    let message = refused("x --aspekt 1:1");
    assert!(message.contains("unknown flag --aspekt"), "{message}");
    assert!(message.contains("--ar, --aspect, --v"), "{message}");
}

#[test]
fn contradictions_are_refused() {
    assert!(refused("x --v 6 --niji 6").contains("--niji cannot stand beside --v"));
    assert!(refused("x --ar 1:1 --ar 2:3").contains("must not be given twice"));
    assert_eq!(read("x --no a --no b").negative(), "a, b");
}

#[test]
fn a_prompt_of_flags_alone_is_missing() {
    let refusal = Flags::read("--ar 16:9").expect_err("no words");
    assert_eq!(refusal.code, Code::MissingParameter);
}
