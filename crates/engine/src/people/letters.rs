//! The letters that people get, each in three languages.

use atelier_contract::fields::MailAddress;
use atelier_contract::pages::people::{Language, MemberRole};
use atelier_mail::{Letter, LetterLink};

use super::words::{Words, words};

/// Who a letter is to, and where its link leads.
pub(super) struct LetterContext<'a> {
    pub(super) to: MailAddress,
    pub(super) language: Language,
    pub(super) base_url: &'a str,
}

impl LetterContext<'_> {
    fn words(&self) -> &'static Words {
        words(self.language)
    }

    /// The link of a word that was made for this letter.
    fn url(&self, word: &str) -> String {
        format!("{}/auth/v1/link/{word}", self.base_url)
    }

    fn letter(&self, title: String, paragraphs: Vec<String>, link: (&str, String)) -> Letter {
        let (label, url) = link;
        Letter {
            to: self.to.clone(),
            language: self.language,
            subject: title.clone(),
            title,
            paragraphs,
            link: Some(LetterLink {
                label: label.to_owned(),
                url,
            }),
            note: self.words().note.replace("{address}", self.to.as_str()),
        }
    }
}

/// A link that signs in whoever asked for it.
pub(super) fn sign_in(context: &LetterContext<'_>, word: &str) -> Letter {
    let words = context.words();
    context.letter(
        words.sign_in.to_owned(),
        vec![words.sign_in_text.to_owned(), words.once.to_owned()],
        (words.sign_in_label, context.url(word)),
    )
}

/// The same for whoever has no account yet.
pub(super) fn sign_up(context: &LetterContext<'_>, word: &str) -> Letter {
    let words = context.words();
    context.letter(
        words.sign_up.to_owned(),
        vec![words.sign_up_text.to_owned(), words.once.to_owned()],
        (words.sign_up_label, context.url(word)),
    )
}

/// An invitation into an account, or to open one.
pub(super) fn invitation(
    context: &LetterContext<'_>,
    account: Option<&str>,
    role: MemberRole,
    word: &str,
) -> Letter {
    let words = context.words();
    let (title, text) = match account {
        Some(account) => (
            words.invited.replace("{account}", account),
            words
                .invited_text
                .replace("{account}", account)
                .replace("{role}", words.role(role)),
        ),
        None => (words.welcome.to_owned(), words.welcome_text.to_owned()),
    };
    context.letter(
        title,
        vec![text, words.week.to_owned()],
        (words.invited_label, context.url(word)),
    )
}

/// Tells somebody that they are an operator now.
pub(super) fn appointed(context: &LetterContext<'_>) -> Letter {
    let words = context.words();
    let url = format!("{}/console/", context.base_url);
    context.letter(
        words.appointed.to_owned(),
        vec![words.appointed_text.to_owned()],
        (words.sign_in_label, url),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(language: Language) -> Vec<Letter> {
        let context = LetterContext {
            to: MailAddress::parse("ada@example.com").expect("an address"),
            language,
            base_url: "https://media.example.com",
        };
        let mut letters = vec![
            sign_in(&context, "se_1"),
            sign_up(&context, "se_1"),
            invitation(&context, None, MemberRole::Owner, "se_1"),
            appointed(&context),
        ];
        for role in [MemberRole::Owner, MemberRole::Member, MemberRole::Viewer] {
            let account = Some("studio@example.com");
            letters.push(invitation(&context, account, role, "se_1"));
        }
        letters
    }

    #[test]
    fn every_letter_is_whole_in_every_language() {
        for language in [Language::English, Language::German, Language::Chinese] {
            for letter in letters(language) {
                let text = letter.plain();
                assert!(!text.contains(['{', '}']), "{text}");
                assert!(text.contains("https://media.example.com/"), "{text}");
                assert!(text.contains("ada@example.com"), "whom it is for: {text}");
            }
        }
        let subjects = |language| -> Vec<String> {
            let letters = letters(language).into_iter();
            letters.map(|letter| letter.subject).collect()
        };
        let english = subjects(Language::English);
        for other in [Language::German, Language::Chinese] {
            let pairs = english.iter().zip(subjects(other));
            for (one, other) in pairs {
                assert_ne!(*one, other);
            }
        }
    }
}
