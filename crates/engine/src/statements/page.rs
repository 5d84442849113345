//! A statement as a page to be printed, on A4 or Letter: one document without scripts, with everything in it.

use std::fmt::{self, Display, Write as _};

use atelier_contract::Quota;
use atelier_contract::pages::statements::{
    Language, StatementMovement, StatementRecord, StatementSum,
};
use atelier_contract::time::timestamp;

use super::words::PageWords;

/// What the page looks like.
const STYLE: &str = include_str!("page.css");
/// Where the logo goes, which is kept once for all statements.
pub(super) const LOGO: &str = "<img src=\"{{logo}}\"";
/// Where the style sheet says what stands at the bottom of every page.
const FOOT: &str = "{{foot}}";
/// Lines that a table of the page has at most.
const LINES_MOST: usize = 60;
/// What stands for all that are not told by name.
const OTHERS: &str = "…";
const DAY_MS: i64 = 86_400_000;

/// A statement, the words for it, and how its amounts are written.
struct StatementPaper<'a> {
    record: &'a StatementRecord,
    hash: &'a str,
    words: &'static PageWords,
    language: Language,
    places: usize,
}

/// The page of a statement in a language; the logo is yet to be put in.
pub(super) fn render(record: &StatementRecord, hash: &str, language: Language) -> String {
    let paper = StatementPaper {
        record,
        hash,
        words: PageWords::of(language),
        language,
        places: places(record),
    };
    let mut page = String::new();
    paper.write(&mut page).expect("a text takes everything");
    page
}

/// How many decimals the amounts of a statement have: two, or three where one needs them.
fn places(record: &StatementRecord) -> usize {
    let amounts = [
        record.opening,
        record.credited,
        record.adjusted,
        record.charged,
    ];
    let movements = record.credits.iter().chain(&record.adjustments);
    let amounts = amounts.into_iter().chain(movements.map(|one| one.amount));
    let mut amounts = amounts.chain(record.charges.iter().map(|one| one.quota));
    if amounts.any(|amount| amount.thousandths() % 10 != 0) {
        3
    } else {
        2
    }
}

/// Text with what HTML would read as its own put differently.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

impl StatementPaper<'_> {
    fn write(&self, page: &mut String) -> fmt::Result {
        let (words, record) = (self.words, self.record);
        let tag = match self.language {
            Language::Zh => "zh-Hans",
            other => other.word(),
        };
        write!(
            page,
            "<!doctype html>\n<html lang=\"{tag}\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} {} · {}</title>\n\
             <style>{}</style>\n<body>\n",
            words.title,
            record.month,
            Escaped(&record.email),
            STYLE.replace(FOOT, &self.foot())
        )?;
        self.head(page)?;
        self.summary(page)?;
        if record.credits.is_empty() && record.adjustments.is_empty() && record.jobs == 0 {
            writeln!(page, "<p class=\"note\">{}</p>", words.no_movement)?;
        }
        self.movements(page, words.credits, &record.credits, record.credited)?;
        self.movements(
            page,
            words.adjustments,
            &record.adjustments,
            record.adjusted,
        )?;
        let parts = [
            (words.by_operation, words.operation, &record.by_operation),
            (words.by_model, words.model, &record.by_model),
            (words.by_key, words.key, &record.by_key),
            (words.by_member, words.member, &record.by_member),
        ];
        for (title, column, sums) in parts {
            // Where nothing is told apart there is nothing to tell.
            let says_nothing = sums.iter().all(|sum| sum.id.is_empty());
            if !says_nothing {
                self.sums(page, title, column, sums)?;
            }
        }
        self.charges(page)?;
        self.ending(page)?;
        page.push_str("</body>\n</html>\n");
        Ok(())
    }

    /// What stands at the bottom of every page.
    fn foot(&self) -> String {
        let name = if self.record.issuer.name.is_empty() {
            self.words.title
        } else {
            &self.record.issuer.name
        };
        // It is a text of a style sheet.
        let plain = |c: &char| !c.is_control() && !matches!(c, '"' | '\\' | '<');
        let name: String = name.chars().filter(plain).collect();
        format!("{name} · {} {}", self.words.number, self.number())
    }

    /// The number of the statement: its month, and the end of the account's identifier.
    fn number(&self) -> String {
        let id: String = self.record.account_id.chars().rev().take(8).collect();
        let id: String = id.chars().rev().collect();
        format!("{}-{id}", self.record.month)
    }

    fn head(&self, page: &mut String) -> fmt::Result {
        let (words, record) = (self.words, self.record);
        page.push_str("<header class=\"head\"><div class=\"from\">");
        if record.issuer.logo.is_some() {
            write!(page, "{LOGO} alt=\"\">")?;
        }
        if !record.issuer.name.is_empty() {
            write!(page, "<strong>{}</strong>", Escaped(&record.issuer.name))?;
        }
        let tax = Some(&record.issuer.tax_line).filter(|line| !line.is_empty());
        let lines: Vec<String> = record
            .issuer
            .address
            .iter()
            .chain(tax)
            .map(|line| Escaped(line).to_string())
            .collect();
        page.push_str(&lines.join("<br>"));
        let last = timestamp(record.month.until_ms() - DAY_MS);
        write!(
            page,
            "</div><div class=\"meta\"><h1>{}</h1><dl>\
             <dt>{}</dt><dd>{}</dd><dt>{}</dt><dd>{} – {} (UTC)</dd><dt>{}</dt><dd>{}</dd><dt>{}</dt><dd>{}</dd></dl></div></header>\n\
             <div class=\"to\"><span>{}</span><strong>{}</strong></div>\n",
            words.title,
            words.number,
            Escaped(&self.number()),
            words.period,
            &timestamp(record.month.from_ms())[..10],
            &last[..10],
            words.account,
            Escaped(&record.account_id),
            words.issued,
            &record.made_at[..10],
            words.to,
            Escaped(&record.email)
        )
    }

    fn summary(&self, page: &mut String) -> fmt::Result {
        let (words, record) = (self.words, self.record);
        let held = |held: Quota| {
            if held == Quota::ZERO {
                String::new()
            } else {
                format!("<small>{} {}</small>", words.held, self.amount(held))
            }
        };
        page.push_str("<table class=\"sum\">");
        for (name, amount, held) in [
            (
                words.opening,
                self.amount(record.opening),
                held(record.opening_held),
            ),
            (words.credits, self.signed(record.credited), String::new()),
            (
                words.adjustments,
                self.signed(record.adjusted),
                String::new(),
            ),
            (words.usage, self.signed(-record.charged), String::new()),
        ] {
            write!(page, "<tr><td>{name}</td><td>{amount}{held}</td></tr>")?;
        }
        let month = words.month(self.language, record.month);
        write!(
            page,
            "<tr class=\"end\"><td>{} · {month}</td><td>{}{}</td></tr></table>\n<p class=\"note\">{}",
            words.closing,
            self.amount(record.closing),
            held(record.closing_held),
            words.unit
        )?;
        if record.quota_usd > 0.0 && record.charged > Quota::ZERO {
            let value = record.charged.thousandths() as f64 / 1000.0 * record.quota_usd;
            let value = format!("{value:.2}");
            let price = record.quota_usd.to_string();
            let (value, price) = (self.decimal(&value), self.decimal(&price));
            let worth = words
                .worth
                .replace("{price}", &price)
                .replace("{value}", &value);
            write!(page, " {worth}")?;
        }
        page.push_str("</p>\n");
        Ok(())
    }

    fn movements(
        &self,
        page: &mut String,
        title: &str,
        movements: &[StatementMovement],
        total: Quota,
    ) -> fmt::Result {
        if movements.is_empty() {
            return Ok(());
        }
        let words = self.words;
        write!(
            page,
            "<h2>{title}</h2>\n<div class=\"scroll\"><table class=\"rows\"><thead><tr><th>{}</th><th>{}</th><th>{}</th><th class=\"n\">{}</th></tr></thead><tbody>\n",
            words.date, words.kind, words.description, words.amount
        )?;
        for one in movements.iter().take(LINES_MOST) {
            writeln!(
                page,
                "<tr><td class=\"d\">{}</td><td class=\"d\">{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
                &one.time[..10],
                Escaped(words.kind(&one.kind)),
                self.told(&one.description),
                self.signed(one.amount)
            )?;
        }
        self.table_end(page, 3, None, &self.signed(total))?;
        self.more(page, movements.len())
    }

    fn sums(
        &self,
        page: &mut String,
        title: &str,
        column: &str,
        sums: &[StatementSum],
    ) -> fmt::Result {
        let words = self.words;
        write!(
            page,
            "<h2>{title}</h2>\n<div class=\"scroll\"><table class=\"rows\"><thead><tr><th>{column}</th><th class=\"n\">{}</th><th class=\"n\">{}</th></tr></thead><tbody>\n",
            words.jobs, words.amount
        )?;
        for sum in sums.iter().take(LINES_MOST) {
            writeln!(
                page,
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                self.told(&sum.name),
                self.whole(sum.jobs),
                self.amount(sum.quota)
            )?;
        }
        let jobs = self.whole(self.record.jobs);
        self.table_end(page, 1, Some(&jobs), &self.amount(self.record.charged))?;
        self.more(page, sums.len())
    }

    fn charges(&self, page: &mut String) -> fmt::Result {
        let (words, charges) = (self.words, &self.record.charges);
        let told = |what: fn(&atelier_contract::pages::statements::StatementCharge) -> &String| {
            charges.iter().any(|one| !what(one).is_empty())
        };
        let (models, keys, members) = (
            told(|one| &one.model),
            told(|one| &one.key_id),
            told(|one| &one.member_id),
        );
        // One line would say what stands above.
        if charges.len() < 2 || !(models || keys || members) {
            return Ok(());
        }
        let columns = [
            (true, words.operation),
            (models, words.model),
            (keys, words.key),
            (members, words.member),
        ];
        write!(
            page,
            "<h2>{}</h2>\n<div class=\"scroll\"><table class=\"rows\"><thead><tr>",
            words.in_detail
        )?;
        for (_, column) in columns.iter().filter(|(is_told, _)| *is_told) {
            write!(page, "<th>{column}</th>")?;
        }
        writeln!(
            page,
            "<th class=\"n\">{}</th><th class=\"n\">{}</th></tr></thead><tbody>",
            words.jobs, words.amount
        )?;
        let mut lines: Vec<_> = charges.iter().collect();
        lines.sort_by_key(|one| std::cmp::Reverse(one.quota));
        for one in lines.into_iter().take(LINES_MOST) {
            let name = |name: &str, id: &str| {
                let name = if name.is_empty() { id } else { name };
                self.told(name).to_string()
            };
            let cells = [
                (true, self.told(&one.operation).to_string()),
                (models, self.told(&one.model).to_string()),
                (keys, name(&one.key, &one.key_id)),
                (members, name(&one.member, &one.member_id)),
            ];
            page.push_str("<tr>");
            for (_, cell) in cells.iter().filter(|(is_told, _)| *is_told) {
                write!(page, "<td>{cell}</td>")?;
            }
            writeln!(
                page,
                "<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                self.whole(one.jobs),
                self.amount(one.quota)
            )?;
        }
        let width = columns.iter().filter(|(is_told, _)| *is_told).count();
        let jobs = self.whole(self.record.jobs);
        self.table_end(page, width, Some(&jobs), &self.amount(self.record.charged))?;
        self.more(page, charges.len())
    }

    fn table_end(
        &self,
        page: &mut String,
        width: usize,
        jobs: Option<&str>,
        total: &str,
    ) -> fmt::Result {
        write!(
            page,
            "</tbody><tfoot><tr><td colspan=\"{width}\">{}</td>",
            self.words.total
        )?;
        if let Some(jobs) = jobs {
            write!(page, "<td class=\"n\">{jobs}</td>")?;
        }
        writeln!(
            page,
            "<td class=\"n\">{total}</td></tr></tfoot></table></div>"
        )
    }

    /// Says how many lines are not here.
    fn more(&self, page: &mut String, lines: usize) -> fmt::Result {
        match lines.saturating_sub(LINES_MOST) {
            0 => Ok(()),
            rest => {
                let rest = self.whole(rest as i64);
                let more = self.words.more.replace("{n}", &rest);
                writeln!(page, "<p class=\"note\">{more}</p>")
            }
        }
    }

    fn ending(&self, page: &mut String) -> fmt::Result {
        writeln!(
            page,
            "<footer class=\"end-note\">{} <code>{}</code></footer>",
            self.words.check,
            Escaped(self.hash)
        )
    }

    /// A name, or the word for none and for all others.
    fn told<'b>(&'b self, name: &'b str) -> Escaped<'b> {
        match name {
            "" => Escaped(self.words.none),
            OTHERS => Escaped(self.words.others),
            name => Escaped(name),
        }
    }

    fn signed(&self, amount: Quota) -> String {
        if amount > Quota::ZERO {
            format!("+{}", self.amount(amount))
        } else {
            self.amount(amount)
        }
    }

    /// An amount as the language writes it, with as many decimals as all others.
    fn amount(&self, amount: Quota) -> String {
        let thousandths = amount.thousandths();
        let places = format!("{:03}", thousandths.abs() % 1000);
        let sign = if thousandths < 0 { "\u{2212}" } else { "" };
        let whole = self.whole(thousandths.abs() / 1000);
        format!("{sign}{whole}{}{}", self.point(), &places[..self.places])
    }

    fn whole(&self, number: i64) -> String {
        let digits = number.to_string();
        let separator = match self.language {
            Language::De => '.',
            _ => ',',
        };
        let mut text = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                text.push(separator);
            }
            text.push(digit);
        }
        text
    }

    fn point(&self) -> char {
        match self.language {
            Language::De => ',',
            _ => '.',
        }
    }

    /// A plain decimal as the language writes it.
    fn decimal(&self, text: &str) -> String {
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let whole = whole
            .parse()
            .map_or_else(|_| whole.to_owned(), |whole| self.whole(whole));
        if places.is_empty() {
            whole
        } else {
            format!("{whole}{}{places}", self.point())
        }
    }
}
