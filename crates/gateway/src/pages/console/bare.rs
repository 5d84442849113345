//! A module as a browser needs it: without what stands in it for people and for the checker of types, which is a sixth
//! of a packed module.

/// What the stripper is in the middle of.
#[derive(Clone, Copy, Default, PartialEq)]
enum LexState {
    #[default]
    Code,
    /// A text between two of these.
    Text(char),
    Template,
    /// An expression, with whether a set of characters is open.
    Expression(bool),
}

/// The text without its comments, and without the lines that only they stood in.
pub(super) fn bare(text: &str) -> String {
    let mut stripper = CommentStripper {
        out: String::with_capacity(text.len()),
        ..CommentStripper::default()
    };
    for line in text.lines() {
        stripper.line(line);
    }
    stripper.out
}

#[derive(Default)]
struct CommentStripper {
    inside: LexState,
    /// For each template around: how many braces are open in what is filled in.
    braces: Vec<usize>,
    comment: bool,
    /// What is kept, and where the line in hand begins in it.
    out: String,
    begin: usize,
}

impl CommentStripper {
    fn line(&mut self, line: &str) {
        self.begin = self.out.len();
        let mut cut = self.comment;
        let mut rest = line.chars().peekable();
        while let Some(one) = rest.next() {
            let next = rest.peek().copied();
            if self.comment {
                self.comment = one != '*' || next != Some('/');
                if !self.comment {
                    rest.next();
                    // What followed it stands where it stood.
                    if self.out[self.begin..].ends_with([' ', '(', '[', '{']) {
                        rest.next_if_eq(&' ');
                    }
                }
                continue;
            }
            if self.inside == LexState::Code && one == '/' {
                cut |= matches!(next, Some('/' | '*'));
                match next {
                    Some('/') => break,
                    Some('*') => {
                        rest.next();
                        self.comment = true;
                        continue;
                    }
                    _ => {}
                }
            }
            self.out.push(one);
            let pair = self.inside != LexState::Code && one == '\\';
            let filled = self.inside == LexState::Template && one == '$' && next == Some('{');
            if pair || filled {
                self.out.extend(rest.next());
            }
            if filled {
                self.braces.push(0);
                self.inside = LexState::Code;
            } else if !pair {
                self.inside = self.then(one);
            }
        }
        if cut && self.inside == LexState::Code {
            let kept = self.out[self.begin..].trim_end().len();
            self.out.truncate(self.begin + kept);
        }
        if !cut || self.out.len() > self.begin {
            self.out.push('\n');
        }
    }

    /// What the stripper is in behind a character that it has kept.
    fn then(&mut self, one: char) -> LexState {
        match self.inside {
            LexState::Code => match one {
                '/' if begins_expression(&self.out[..self.out.len() - 1]) => {
                    return LexState::Expression(false);
                }
                '"' | '\'' => return LexState::Text(one),
                '`' => return LexState::Template,
                '{' => {
                    if let Some(open) = self.braces.last_mut() {
                        *open += 1;
                    }
                }
                '}' => match self.braces.last_mut() {
                    Some(0) => {
                        self.braces.pop();
                        return LexState::Template;
                    }
                    Some(open) => *open -= 1,
                    None => {}
                },
                _ => {}
            },
            LexState::Text(end) if one == end => return LexState::Code,
            LexState::Template if one == '`' => return LexState::Code,
            LexState::Expression(false) if one == '/' => return LexState::Code,
            LexState::Expression(_) if one == '[' => return LexState::Expression(true),
            LexState::Expression(_) if one == ']' => return LexState::Expression(false),
            _ => {}
        }
        self.inside
    }
}

/// Whether a stroke begins an expression and divides nothing: what stands before it is no value.
fn begins_expression(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit(|one: char| !one.is_alphanumeric()).next();
    before.is_empty()
        || word == Some("return")
        || before.ends_with(|one: char| "(,=:[!&|?{};+-*%<>~^".contains(one))
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn comments_are_left_out_and_nothing_else_is() {
        let cases = [
            ("// alone\nlet a = 1; // behind\n", "let a = 1;\n"),
            (
                "/** @param {A} a */\nconst f = (/** @type {A} */ a) => a;\n",
                "const f = (a) => a;\n",
            ),
            (
                "/**\n * Several.\n */\nexport const b = 2;\n",
                "export const b = 2;\n",
            ),
            ("x(/** @type {A} */ (a.b).c);\n", "x((a.b).c);\n"),
            (
                "const u = \"https://a\"; const v = '/* no */';\n",
                "const u = \"https://a\"; const v = '/* no */';\n",
            ),
            (
                "html`<a href=\"//b\">${t(\"c\")} // d ${/* e */ f}</a>`;\n",
                "html`<a href=\"//b\">${t(\"c\")} // d ${f}</a>`;\n",
            ),
            (
                "a.replace(/[/*]\\/\\//g, \"\");\n",
                "a.replace(/[/*]\\/\\//g, \"\");\n",
            ),
            ("const half = a / b; // c / d\n", "const half = a / b;\n"),
            ("`${{ a: `${1}` }} // b`;\n", "`${{ a: `${1}` }} // b`;\n"),
            ("`a\n  // b\n  c`;\n", "`a\n  // b\n  c`;\n"),
        ];
        for (text, wanted) in cases {
            assert_eq!(bare(text), wanted, "of {text}");
        }
    }
}
