//! Vendors' own codes: a table of them says which class of fault each one is, before the status is looked at.

use super::vendor_error::VendorError;
use crate::backend::Class;

/// One line of a vendor's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorRule {
    /// The status it comes with; 0 for any.
    status: u16,
    /// What it is told by, in lower case.
    sign: ErrorPattern,
    class: Class,
}

#[derive(Clone, Copy, Debug)]
enum ErrorPattern {
    None,
    /// A part of the code, which is the vendor's own.
    Code(&'static str),
    /// A part of the words, which may repeat the caller's.
    Words(&'static str),
}

impl ErrorRule {
    /// A status, whatever is said with it.
    pub(crate) const fn status(status: u16, class: Class) -> Self {
        let sign = ErrorPattern::None;
        Self {
            status,
            sign,
            class,
        }
    }

    /// A part of the code, in lower case.
    pub(crate) const fn code(code: &'static str, class: Class) -> Self {
        Self {
            status: 0,
            sign: ErrorPattern::Code(code),
            class,
        }
    }

    /// A part of the words, in lower case, beside a status.
    pub(crate) const fn words(status: u16, words: &'static str, class: Class) -> Self {
        Self {
            status,
            sign: ErrorPattern::Words(words),
            class,
        }
    }

    fn fits(&self, status: u16, code: &str, words: &str) -> bool {
        let told = match self.sign {
            ErrorPattern::None => true,
            ErrorPattern::Code(part) => code.contains(part),
            ErrorPattern::Words(part) => words.contains(part),
        };
        told && (self.status == 0 || self.status == status)
    }
}

/// The class that a table gives to a status, a code and words.
pub(crate) fn match_class(rules: &[ErrorRule], status: u16, said: &VendorError) -> Option<Class> {
    let (code, words) = (said.code.to_lowercase(), said.message.to_lowercase());
    let rule = rules.iter().find(|rule| rule.fits(status, &code, &words));
    rule.map(|rule| rule.class)
}
