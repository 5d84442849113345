//! Rows of comma-separated values, as RFC 4180 has them, for spreadsheets: a text that one of those would take for a formula gets an
//! apostrophe in front, which spreadsheets show as text and do not compute.

use crate::quota::Quota;

/// What a cell begins with that a spreadsheet computes.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Lines that are being written.
#[derive(Clone, Debug, Default)]
pub struct CsvLines {
    text: String,
    /// Whether a line has begun.
    begun: bool,
}

impl CsvLines {
    /// The names of the columns.
    pub fn header(&mut self, columns: impl IntoIterator<Item = &'static str>) {
        for column in columns {
            self.text(column);
        }
        self.end();
    }

    /// A cell of text.
    pub fn text(&mut self, cell: &str) {
        self.separate();
        let is_formula = cell.starts_with(FORMULA);
        if !is_formula && !cell.contains(['"', ',', '\n', '\r']) {
            self.text.push_str(cell);
            return;
        }
        self.text.push('"');
        if is_formula {
            self.text.push('\'');
        }
        for (place, part) in cell.split('"').enumerate() {
            if place > 0 {
                self.text.push_str("\"\"");
            }
            self.text.push_str(part);
        }
        self.text.push('"');
    }

    /// A cell of text, or an empty one.
    pub fn maybe(&mut self, cell: Option<&str>) {
        self.text(cell.unwrap_or_default());
    }

    /// A cell with a whole number.
    pub fn number(&mut self, cell: i64) {
        self.separate();
        self.text.push_str(&cell.to_string());
    }

    /// A cell with an amount of quota, which may be negative: a number is no formula.
    pub fn quota(&mut self, cell: Quota) {
        self.separate();
        self.text.push_str(&cell.to_string());
    }

    /// Ends a line.
    pub fn end(&mut self) {
        self.text.push_str("\r\n");
        self.begun = false;
    }

    /// What was written.
    pub fn finish(self) -> String {
        self.text
    }

    fn separate(&mut self) {
        if self.begun {
            self.text.push(',');
        }
        self.begun = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        let mut lines = CsvLines::default();
        lines.text(text);
        lines.finish()
    }

    #[test]
    fn what_a_spreadsheet_would_compute_is_text() {
        for begin in ["=", "+", "-", "@", "\t", "\r"] {
            let formula = format!("{begin}HYPERLINK(\"http://a\")");
            let shown = format!("\"'{begin}HYPERLINK(\"\"http://a\"\")\"");
            assert_eq!(cell(&formula), shown);
        }
        assert_eq!(cell("a=b"), "a=b", "only at the beginning");
    }

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        assert_eq!(cell("plain"), "plain");
        assert_eq!(cell(""), "");
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("two\nlines"), "\"two\nlines\"");
        assert_eq!(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
    }

    #[test]
    fn lines_end_as_the_standard_says_and_numbers_stay_numbers() {
        let mut lines = CsvLines::default();
        lines.header(["a", "b", "c"]);
        lines.maybe(None);
        lines.number(-3);
        lines.quota(Quota::from_thousandths(-1_500));
        lines.end();
        assert_eq!(lines.finish(), "a,b,c\r\n,-3,-1.5\r\n");
    }
}
