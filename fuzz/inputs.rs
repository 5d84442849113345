//! Hostile input by the thousand, for tests of every crate: entries of a corpus that is kept in the tree, changed at
//! random and mixed with words that matter to the reader. Without settings a class takes a second or so;
//! `ATELIER_TEST_FUZZ_SECONDS` says for how long, and from a seed of its own each time. What makes a test fail is written to
//! `fuzz/corpus/CLASS`, where it is the first to be tried from then on.

#![expect(
    clippy::disallowed_methods,
    reason = "tests have neither a clock nor a configuration"
)]

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// No input grows beyond this.
const MOST_BYTES: usize = 64 * 1024;
/// Numbers at which readers break.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "255",
    "256",
    "32767",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e309",
    "-0.0",
    "0x7f",
    "1e-400",
    "NaN",
];

/// The inputs of a class, one after the other.
pub(crate) struct Inputs {
    class: &'static str,
    kept: Vec<Vec<u8>>,
    first: VecDeque<Vec<u8>>,
    words: Vec<Vec<u8>>,
    state: u64,
    began: Instant,
    until: Option<Duration>,
    few: u64,
    made: u64,
    current: Vec<u8>,
}

impl Inputs {
    /// From the kept corpus of a class and more seeds, with words that its reader knows; so many without settings.
    pub(crate) fn new(class: &'static str, few: u64, seeds: Vec<Vec<u8>>, words: &[&str]) -> Self {
        let mut kept: Vec<Vec<u8>> = seeds;
        if let Ok(folder) = fs::read_dir(corpus(class)) {
            let mut paths: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            kept.extend(paths.iter().filter_map(|path| fs::read(path).ok()));
        }
        if kept.is_empty() {
            kept.push(Vec::new());
        }
        let words = words
            .iter()
            .chain(NUMBERS)
            .map(|word| word.as_bytes().to_vec());
        let seconds = setting("ATELIER_TEST_FUZZ_SECONDS").and_then(|text| text.parse().ok());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seed = match seconds {
            Some(_) => now.map_or(1, |since| since.as_nanos() as u64),
            None => 0x9e37_79b9_7f4a_7c15,
        };
        Self {
            class,
            first: kept.iter().cloned().collect(),
            kept,
            words: words.collect(),
            state: seed | 1,
            began: Instant::now(),
            until: seconds.map(Duration::from_secs),
            few,
            made: 0,
            current: Vec::new(),
        }
    }

    /// A number below another.
    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % most.max(1)
    }

    fn changed(&mut self) -> Vec<u8> {
        let pick = self.below(self.kept.len());
        let mut bytes = self.kept[pick].clone();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes);
        }
        bytes.truncate(MOST_BYTES);
        bytes
    }

    /// Changes one thing.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        let place = self.below(bytes.len() + 1);
        let length = (self.below(16) + 1).min(bytes.len() - place);
        match self.below(10) {
            0 | 1 if place < bytes.len() => bytes[place] ^= 1 << self.below(8),
            2 if place < bytes.len() => {
                let ends = [0, 1, 0x7f, 0x80, 0xff, b'"', b'\\', b'\r', b'\n', b' '];
                bytes[place] = ends[self.below(ends.len())];
            }
            3 => drop(bytes.drain(place..place + length)),
            4 => {
                let again = bytes[place..place + length].to_vec();
                let times = [1, 2, 50][self.below(3)];
                bytes.splice(place..place, again.repeat(times));
            }
            5 => bytes.truncate(place),
            6 => {
                let other = self.below(self.kept.len());
                let from = self.below(self.kept[other].len() + 1);
                bytes.truncate(place);
                bytes.extend_from_slice(&self.kept[other][from..]);
            }
            7 => {
                let random: Vec<u8> = (0..length).map(|_| self.below(256) as u8).collect();
                bytes.splice(place..place, random);
            }
            8 => {
                // A number in the text becomes another one.
                let is_digit = |byte: &u8| byte.is_ascii_digit();
                let from = bytes[place..]
                    .iter()
                    .position(is_digit)
                    .map(|at| place + at);
                if let Some(from) = from {
                    let digits = bytes[from..]
                        .iter()
                        .take_while(|byte| is_digit(byte))
                        .count();
                    let number = NUMBERS[self.below(NUMBERS.len())];
                    bytes.splice(from..from + digits, number.bytes());
                }
            }
            _ => {
                let word = self.below(self.words.len());
                bytes.splice(place..place, self.words[word].clone());
            }
        }
    }
}

impl Iterator for Inputs {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let over = match self.until {
            Some(until) => self.began.elapsed() >= until,
            None => self.made >= self.few,
        };
        if over {
            return None;
        }
        self.made += 1;
        let next = self.first.pop_front();
        self.current = next.unwrap_or_else(|| self.changed());
        Some(self.current.clone())
    }
}

impl Drop for Inputs {
    #[expect(clippy::print_stderr, reason = "what a long run reports")]
    fn drop(&mut self) {
        let (class, made, seconds) = (self.class, self.made, self.began.elapsed().as_secs());
        if !std::thread::panicking() {
            eprintln!("fuzz {class}: {made} inputs in {seconds} s");
            return;
        }
        let sum = self
            .current
            .iter()
            .fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(*byte));
        let path = corpus(class).join(format!("found-{sum:08x}"));
        let _ = fs::create_dir_all(corpus(class));
        let _ = fs::write(&path, &self.current);
        let shown = self.current.escape_ascii();
        eprintln!(
            "fuzz {class}: input {made} broke it; kept as {}: {shown}",
            path.display()
        );
    }
}

fn corpus(class: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(class)
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
