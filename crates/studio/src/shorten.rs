//! Shorter prompts that ask for the same: words that name something stay longest, in the order in which they were said.

use crate::words::importance;

/// How many of the words that matter each prompt keeps, in hundredths.
const SHARES: [usize; 5] = [100, 75, 50, 34, 20];

/// Up to five prompts, each shorter than the one before; at least one.
pub fn shorten(prompt: &str) -> Vec<String> {
    let said: Vec<&str> = prompt.split_whitespace().collect();
    let mut seen = Vec::new();
    let mut weights = Vec::with_capacity(said.len());
    for word in &said {
        let (bare, weight) = importance(word);
        let again = seen.contains(&bare);
        weights.push(if again { 0 } else { weight });
        seen.push(bare);
    }
    let mut order: Vec<usize> = (0..said.len()).filter(|at| weights[*at] > 0).collect();
    order.sort_by_key(|at| std::cmp::Reverse(weights[*at]));
    if order.is_empty() {
        return vec![said.join(" ")];
    }
    let mut all: Vec<String> = Vec::new();
    for share in SHARES {
        let mut kept = order[..(order.len() * share).div_ceil(100)].to_vec();
        kept.sort_unstable();
        let words: Vec<&str> = kept.iter().map(|at| said[*at]).collect();
        let text = words.join(" ");
        let text = text.trim_end_matches([',', ';', ':', '.']).to_owned();
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_something_stays_longest() {
        let all = shorten(
            "a very beautiful lighthouse on the cliff, a lighthouse at dawn, highly detailed",
        );
        assert!((2..=5).contains(&all.len()), "{all:?}");
        assert!(
            all.windows(2).all(|two| two[1].len() < two[0].len()),
            "{all:?}"
        );
        let last = all.last().expect("a prompt");
        assert!(last.contains("lighthouse"), "{all:?}");
        assert!(!all[0].contains(" the "), "{all:?}");
        assert_eq!(all[0].matches("lighthouse").count(), 1, "{all:?}");
    }

    #[test]
    fn what_cannot_be_shorter_stays() {
        assert_eq!(shorten("fox"), ["fox"]);
        assert_eq!(shorten("the of a"), ["the of a"]);
        assert_eq!(shorten("一只猫在弹钢琴").len(), 1);
        assert_eq!(shorten(""), [""]);
    }
}
