//! Cuts text of any language into the words the lexicon knows.

/// Lower case, without the accents people leave out.
pub(crate) fn folded(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .filter_map(plain)
        .collect()
}

fn plain(c: char) -> Option<char> {
    Some(match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è' | 'é' | 'ê' | 'ë' | 'ę' => 'e',
        'ì' | 'í' | 'î' | 'ï' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'ś' | 'ş' | 'š' => 's',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ğ' => 'g',
        'ё' => 'е',
        'أ' | 'إ' | 'آ' => 'ا',
        // Combining marks that lower-casing or typing leaves behind, and Arabic vowel signs.
        '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{652}' | '\u{fe0f}' => return None,
        _ => c,
    })
}

/// Whether a character belongs to a script that is written without spaces.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | '\u{900}'..='\u{97f}') || is_emoji(c)
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{200d}')
}

/// The words of a text in order; an empty word stands for a break such as a comma.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    for c in folded(text).chars() {
        if is_letter(c) {
            // A change of script ends a word: emoji and dense scripts stand for themselves.
            let switch = word
                .chars()
                .last()
                .is_some_and(|last| is_dense(last) != is_dense(c) || is_emoji(last) != is_emoji(c));
            if switch {
                push(&mut all, &mut word);
            }
            word.push(c);
        } else {
            push(&mut all, &mut word);
            if matches!(
                c,
                ',' | '.' | ';' | ':' | '、' | '。' | '，' | '|' | '(' | ')' | '،'
            ) {
                all.push(String::new());
            }
        }
    }
    push(&mut all, &mut word);
    all
}

fn push(all: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        let bare = word.trim_matches(['\'', '’']);
        // French and Italian articles lean on the next word.
        let bare = bare.split_once(['\'', '’']).map_or(bare, |(head, tail)| {
            if tail.chars().count() <= 1 {
                head
            } else if head.chars().count() <= 4 {
                tail
            } else {
                bare
            }
        });
        all.push(bare.to_owned());
        word.clear();
    }
}

/// Other forms under which a word may be in the lexicon, best first.
pub(crate) fn forms(word: &str) -> Vec<String> {
    let mut all = vec![word.to_owned()];
    let mut add = |form: String| {
        if form.chars().count() >= 2 && !all.contains(&form) {
            all.push(form);
        }
    };
    if word.is_ascii() {
        for (ending, other) in [
            ("ies", "y"),
            ("ves", "f"),
            ("ves", "fe"),
            ("es", ""),
            ("s", ""),
            ("men", "man"),
            ("en", ""),
            ("n", ""),
            ("er", ""),
            ("e", ""),
            ("ar", ""),
            ("or", ""),
            ("eux", "eu"),
            ("aux", "al"),
            ("x", ""),
        ] {
            if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 3) {
                add(format!("{stem}{other}"));
            }
        }
    }
    if let Some(rest) = word.strip_prefix("ال") {
        add(rest.to_owned());
    }
    all
}

/// The part of a word that inflection leaves alone; `None` for words too short to cut.
pub(crate) fn stem(word: &str) -> Option<String> {
    const VOWELS: &str = "aeiouyаеиоуыэюяіїєйьв";
    const ENDS: &str = "snmrtхмгk";
    let mut chars: Vec<char> = word.chars().collect();
    if chars.len() < 4 || chars.iter().any(|c| is_dense(*c) || *c == ' ') {
        return None;
    }
    if chars.last().is_some_and(|c| ENDS.contains(*c))
        && chars.len() > 4
        && chars
            .get(chars.len() - 2)
            .is_some_and(|c| VOWELS.contains(*c))
    {
        chars.pop();
    }
    while chars.len() > 3 && chars.last().is_some_and(|c| VOWELS.contains(*c)) {
        chars.pop();
    }
    Some(chars.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_case_accents_and_leaning_articles() {
        assert_eq!(tokens("Élan  d'hiver"), ["elan", "hiver"]);
        assert_eq!(tokens("l’arbre"), ["arbre"]);
        assert_eq!(tokens("the fox's tail"), ["the", "fox", "tail"]);
        assert_eq!(tokens("'quoted'"), ["quoted"]);
        assert_eq!(
            folded("CAFE\u{301}"),
            "cafe",
            "also when the accent is apart"
        );
    }

    #[test]
    fn a_break_is_an_empty_word_and_a_change_of_script_ends_one() {
        assert_eq!(tokens("fox, tree"), ["fox", "", "tree"]);
        assert_eq!(tokens("狐、森"), ["狐", "", "森"]);
        assert_eq!(tokens("fox狐🦊"), ["fox", "狐", "🦊"]);
        assert!(tokens("  \t ").is_empty());
    }

    #[test]
    fn forms_begin_with_the_word_itself_and_hold_its_singular() {
        for (word, singular) in [
            ("foxes", "fox"),
            ("wolves", "wolf"),
            ("knives", "knife"),
            ("ponies", "pony"),
            ("horsemen", "horseman"),
            ("bateaux", "bateau"),
        ] {
            let all = forms(word);
            assert_eq!(all[0], word);
            assert!(all.iter().any(|form| form == singular), "{word}: {all:?}");
        }
        assert_eq!(forms("as"), ["as"], "short words are left whole");
    }

    #[test]
    fn a_stem_is_what_inflection_leaves_alone() {
        assert_eq!(stem("лисица"), stem("лисицы"));
        assert_eq!(stem("rojo"), stem("rojas"));
        assert_eq!(stem("fox"), None, "too short to cut");
        assert_eq!(stem("狐狐狐狐狐"), None, "scripts without spaces have none");
    }
}
