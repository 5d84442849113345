//! What a letter says: a title, some paragraphs, one link. How that looks is the layout's business.

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::people::Language;

/// A letter to one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub to: MailAddress,
    pub language: Language,
    /// What it is about, in a line.
    pub subject: String,
    /// The same above the text.
    pub title: String,
    pub paragraphs: Vec<String>,
    pub link: Option<LetterLink>,
    /// Why it was sent, below the rest.
    pub note: String,
}

/// The link of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterLink {
    /// What following it does.
    pub label: String,
    pub url: String,
}

/// A text as one line: whatever a name has in it begins no header and hides nothing.
pub(crate) fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let invisible = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let line: String = text.chars().filter(|c| !invisible(*c)).map(plain).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_whatever_it_has_in_it() {
        for (given, line) in [
            ("Ada", "Ada"),
            ("Ada\r\nBcc: eve@example.com", "Ada Bcc: eve@example.com"),
            ("a\u{0}b\u{85}c", "a b c"),
            ("\u{202e}moc.elpmaxe\u{202c}", "moc.elpmaxe"),
            ("  zwei   Wörter ", "zwei Wörter"),
        ] {
            assert_eq!(one_line(given), line, "{given:?}");
        }
    }
}
