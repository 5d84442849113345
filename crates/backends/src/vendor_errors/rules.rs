//! Vendors' own codes: a table of them says which class of fault each one is, before the status is looked at.

use std::borrow::Cow;

use super::vendor_error::VendorError;
use crate::backend::Class;

/// One line of a vendor's table. All that it names must fit.
#[derive(Clone, Debug)]
pub(crate) struct ErrorRule {
    /// The status it comes with; 0 for any.
    status: u16,
    /// A part of the code, which is the vendor's own, in lower case; empty for any.
    code: Cow<'static, str>,
    /// A part of the words, which may repeat the caller's, in lower case; empty for any.
    words: Cow<'static, str>,
    class: Class,
}

impl ErrorRule {
    /// A status, whatever is said with it.
    pub(crate) const fn status(status: u16, class: Class) -> Self {
        Self::of(status, "", "", class)
    }

    /// A part of the code, in lower case.
    pub(crate) const fn code(code: &'static str, class: Class) -> Self {
        Self::of(0, code, "", class)
    }

    /// A part of the words, in lower case, beside a status.
    pub(crate) const fn words(status: u16, words: &'static str, class: Class) -> Self {
        Self::of(status, "", words, class)
    }

    const fn of(status: u16, code: &'static str, words: &'static str, class: Class) -> Self {
        Self {
            status,
            code: Cow::Borrowed(code),
            words: Cow::Borrowed(words),
            class,
        }
    }

    /// A line that an operator wrote.
    pub(crate) fn written(status: u16, code: &str, words: &str, class: Class) -> Self {
        Self {
            status,
            code: code.to_lowercase().into(),
            words: words.to_lowercase().into(),
            class,
        }
    }

    fn fits(&self, status: u16, code: &str, words: &str) -> bool {
        (self.status == 0 || self.status == status)
            && code.contains(&*self.code)
            && words.contains(&*self.words)
    }
}

/// The class that a table gives to a status, a code and words.
pub(crate) fn match_class(rules: &[ErrorRule], status: u16, said: &VendorError) -> Option<Class> {
    let (code, words) = (said.code.to_lowercase(), said.message.to_lowercase());
    let rule = rules.iter().find(|rule| rule.fits(status, &code, &words));
    rule.map(|rule| rule.class)
}
