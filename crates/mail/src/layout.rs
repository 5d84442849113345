//! The one layout of all letters, as plain text and as HTML. Mail programs know little of HTML: every style stands at its element,
//! nothing is loaded from anywhere, and a reader who shows text alone misses nothing.

use std::fmt::Write as _;

use crate::letter::{Letter, one_line};

/// Characters of a line of the plain text, at most, where it can be broken.
const WIDTH: usize = 72;

impl Letter {
    /// The subject as it is sent.
    pub fn subject_line(&self) -> String {
        one_line(&self.subject)
    }

    /// The letter as plain text.
    pub fn plain(&self) -> String {
        let mut text = format!("{}\n", wrapped(&self.title));
        for paragraph in &self.paragraphs {
            let _ = write!(text, "\n{}\n", wrapped(paragraph));
        }
        if let Some(link) = &self.link {
            // A link is never broken: what is clicked is the whole line.
            let _ = write!(text, "\n{}:\n{}\n", one_line(&link.label), link.url);
        }
        let _ = write!(text, "\n-- \n{}\n", wrapped(&self.note));
        text
    }

    /// The letter as HTML.
    pub fn html(&self) -> String {
        let mut body = format!("<h1 style=\"{H1}\">{}</h1>\n", escaped(&self.title));
        for paragraph in &self.paragraphs {
            let _ = writeln!(body, "<p style=\"{P}\">{}</p>", escaped(paragraph));
        }
        if let Some(link) = &self.link {
            let (label, url) = (escaped(&link.label), escaped(&link.url));
            let _ = writeln!(
                body,
                "<p style=\"{P}\"><a href=\"{url}\" style=\"{BUTTON}\">{label}</a></p>\n<p style=\"{SMALL}\">{url}</p>"
            );
        }
        let _ = writeln!(body, "<p style=\"{NOTE}\">{}</p>", escaped(&self.note));
        let (language, title) = (self.language.word(), escaped(&self.title));
        format!(
            "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n</head>\n<body style=\"{BODY}\">\n<div style=\"{SHEET}\">\n{body}</div>\n</body>\n</html>\n"
        )
    }
}

const BODY: &str = "margin:0;padding:24px 12px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Noto Sans SC',sans-serif";
const SHEET: &str =
    "max-width:560px;margin:0 auto;padding:28px;border:1px solid #8884;border-radius:12px";
const H1: &str = "margin:0 0 16px;font-size:22px;line-height:1.3";
const P: &str = "margin:0 0 16px;font-size:16px;line-height:1.5";
const BUTTON: &str = "display:inline-block;padding:12px 22px;border-radius:8px;background:#2f5fd0;color:#ffffff;\
     text-decoration:none;font-weight:600";
const SMALL: &str =
    "margin:0 0 16px;font-size:13px;line-height:1.5;word-break:break-all;opacity:.7";
const NOTE: &str = "margin:24px 0 0;padding-top:16px;border-top:1px solid #8884;font-size:13px;line-height:1.5;opacity:.7";

/// A text whose words cannot become HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A text in lines that fit a narrow window; what has no spaces, as Chinese has none, stays as it is.
fn wrapped(text: &str) -> String {
    let line = one_line(text);
    let mut out = String::with_capacity(line.len());
    let mut length = 0;
    for word in line.split(' ') {
        let own = word.chars().count();
        if length > 0 && length + 1 + own > WIDTH {
            out.push('\n');
            length = 0;
        } else if length > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += own;
    }
    out
}

#[cfg(test)]
mod tests {
    use atelier_contract::fields::MailAddress;
    use atelier_contract::pages::people::Language;

    use super::*;
    use crate::letter::LetterLink;

    fn letter(name: &str) -> Letter {
        Letter {
            to: MailAddress::parse("ada@example.com").expect("an address"),
            language: Language::German,
            subject: format!("Einladung von {name}"),
            title: format!("{name} lädt Sie ein"),
            paragraphs: vec!["Ein Satz. ".repeat(20), format!("Konto {name}")],
            link: Some(LetterLink {
                label: "Annehmen".into(),
                url: "https://media.example.com/auth/v1/link/se_1?a=1&b=2".into(),
            }),
            note: "Sie müssen nichts tun.".into(),
        }
    }

    /// The promise: whatever somebody is called, it is words and nothing else.
    #[test]
    fn no_name_becomes_html_or_a_line_of_its_own() {
        let name = "<img src=x onerror=alert(1)>\r\nBcc: eve@example.com\" onclick='x'";
        let letter = letter(name);
        let html = letter.html();
        assert!(
            !html.contains("<img") && !html.contains("onclick='"),
            "{html}"
        );
        assert!(html.contains("&lt;img src=x onerror=alert(1)&gt; Bcc: eve@example.com&quot;"));
        assert!(html.contains("a=1&amp;b=2"), "{html}");
        for line in [letter.subject_line(), letter.plain()].join("\n").lines() {
            assert!(!line.starts_with("Bcc:"), "{line}");
        }
        assert!(!letter.subject_line().contains(['\r', '\n']));
    }

    #[test]
    fn both_forms_say_the_same() {
        let letter = letter("Studio");
        let (plain, html) = (letter.plain(), letter.html());
        for said in [
            "Studio lädt Sie ein",
            "Konto Studio",
            "Annehmen",
            "Sie müssen nichts tun.",
        ] {
            assert!(plain.contains(said) && html.contains(said), "{said}");
        }
        assert!(plain.contains("\nhttps://media.example.com/auth/v1/link/se_1?a=1&b=2\n"));
        assert!(html.contains("<html lang=\"de\">"));
        assert!(plain.lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let html = letter("Studio").html();
        for loads in ["<img", "<link", "<script", "url(", "@import", "src="] {
            assert!(!html.contains(loads), "{loads}");
        }
    }
}
