//! What a statement says, in the languages that people read.

use atelier_contract::month::Month;
use atelier_contract::pages::statements::Language;

/// The words of a page.
pub(super) struct PageWords {
    pub(super) title: &'static str,
    pub(super) number: &'static str,
    pub(super) period: &'static str,
    pub(super) account: &'static str,
    pub(super) issued: &'static str,
    pub(super) to: &'static str,
    pub(super) opening: &'static str,
    pub(super) credits: &'static str,
    pub(super) adjustments: &'static str,
    pub(super) usage: &'static str,
    pub(super) closing: &'static str,
    /// Of a balance, what unfinished jobs hold.
    pub(super) held: &'static str,
    pub(super) date: &'static str,
    pub(super) kind: &'static str,
    pub(super) description: &'static str,
    pub(super) amount: &'static str,
    pub(super) operation: &'static str,
    pub(super) model: &'static str,
    pub(super) key: &'static str,
    pub(super) member: &'static str,
    pub(super) jobs: &'static str,
    pub(super) total: &'static str,
    pub(super) by_operation: &'static str,
    pub(super) by_model: &'static str,
    pub(super) by_key: &'static str,
    pub(super) by_member: &'static str,
    pub(super) in_detail: &'static str,
    pub(super) none: &'static str,
    /// What stands for those that are not told one by one.
    pub(super) others: &'static str,
    /// `{n}` more lines are in the table.
    pub(super) more: &'static str,
    /// What an amount is in.
    pub(super) unit: &'static str,
    /// `{price}` and `{value}`: what quota is worth.
    pub(super) worth: &'static str,
    /// How the page can be checked.
    pub(super) check: &'static str,
    pub(super) no_movement: &'static str,
    kinds: [&'static str; 9],
    months: [&'static str; 12],
}

const KINDS: [&str; 9] = [
    "grant", "voucher", "plan", "payment", "import", "adjust", "expire", "refund", "debt",
];

impl PageWords {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &EN,
            Language::De => &DE,
            Language::Zh => &ZH,
        }
    }

    /// The word for where quota came from or why it went; one that a later program wrote stands for itself.
    pub(super) fn kind<'a>(&'a self, kind: &'a str) -> &'a str {
        let place = KINDS.iter().position(|known| *known == kind);
        place.map_or(kind, |place| self.kinds[place])
    }

    /// The name of a month.
    pub(super) fn month(&self, language: Language, month: Month) -> String {
        let (name, year) = (self.months[month.index()], month.year());
        match language {
            Language::Zh => format!("{year}年{name}"),
            _ => format!("{name} {year}"),
        }
    }
}

static EN: PageWords = PageWords {
    title: "Statement of account",
    number: "Statement no.",
    period: "Period",
    account: "Account",
    issued: "Issued",
    to: "To",
    opening: "Opening balance",
    credits: "Credits",
    adjustments: "Adjustments",
    usage: "Usage",
    closing: "Closing balance",
    held: "of which reserved for unfinished jobs",
    date: "Date (UTC)",
    kind: "Type",
    description: "Description",
    amount: "Amount",
    operation: "Operation",
    model: "Model",
    key: "Key",
    member: "Member",
    jobs: "Jobs",
    total: "Total",
    by_operation: "Usage by operation",
    by_model: "Usage by model",
    by_key: "Usage by key",
    by_member: "Usage by member",
    in_detail: "Usage in detail",
    none: "not specified",
    others: "all others",
    more: "{n} further lines are in the CSV file of this statement.",
    unit: "All amounts are in units of quota.",
    worth: "At {price} USD per unit, the usage of this period is worth {value} USD.",
    check: "The figures of this page are those of its CSV file with the SHA-256",
    no_movement: "No quota was credited or used in this period.",
    kinds: [
        "Grant",
        "Voucher",
        "Plan",
        "Payment",
        "Import",
        "Adjustment",
        "Expired",
        "Refund",
        "Debt",
    ],
    months: [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
};

static DE: PageWords = PageWords {
    title: "Kontoauszug",
    number: "Auszug Nr.",
    period: "Zeitraum",
    account: "Konto",
    issued: "Ausgestellt",
    to: "An",
    opening: "Anfangsbestand",
    credits: "Gutschriften",
    adjustments: "Korrekturen",
    usage: "Verbrauch",
    closing: "Endbestand",
    held: "davon für laufende Aufträge reserviert",
    date: "Datum (UTC)",
    kind: "Art",
    description: "Beschreibung",
    amount: "Betrag",
    operation: "Operation",
    model: "Modell",
    key: "Schlüssel",
    member: "Mitglied",
    jobs: "Aufträge",
    total: "Summe",
    by_operation: "Verbrauch nach Operation",
    by_model: "Verbrauch nach Modell",
    by_key: "Verbrauch nach Schlüssel",
    by_member: "Verbrauch nach Mitglied",
    in_detail: "Verbrauch im Einzelnen",
    none: "ohne Angabe",
    others: "alle übrigen",
    more: "{n} weitere Zeilen stehen in der CSV-Datei dieses Auszugs.",
    unit: "Alle Beträge in Einheiten des Guthabens.",
    worth: "Bei {price} USD je Einheit entspricht der Verbrauch des Zeitraums {value} USD.",
    check: "Die Zahlen dieser Seite sind die ihrer CSV-Datei mit der SHA-256-Prüfsumme",
    no_movement: "In diesem Zeitraum wurde nichts gutgeschrieben und nichts verbraucht.",
    kinds: [
        "Gutschrift",
        "Gutschein",
        "Tarif",
        "Zahlung",
        "Übernahme",
        "Korrektur",
        "Verfallen",
        "Erstattung",
        "Schuld",
    ],
    months: [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
};

static ZH: PageWords = PageWords {
    title: "账户对账单",
    number: "对账单编号",
    period: "账期",
    account: "账户",
    issued: "出具时间",
    to: "致",
    opening: "期初余额",
    credits: "入账",
    adjustments: "调整",
    usage: "消费",
    closing: "期末余额",
    held: "其中为未完成任务冻结",
    date: "日期（UTC）",
    kind: "类型",
    description: "说明",
    amount: "数额",
    operation: "操作",
    model: "模型",
    key: "密钥",
    member: "成员",
    jobs: "任务数",
    total: "合计",
    by_operation: "按操作的消费",
    by_model: "按模型的消费",
    by_key: "按密钥的消费",
    by_member: "按成员的消费",
    in_detail: "消费明细",
    none: "未注明",
    others: "其余全部",
    more: "另有 {n} 行见本对账单的 CSV 文件。",
    unit: "所有数额均以额度为单位。",
    worth: "按每单位 {price} 美元计，本期消费折合 {value} 美元。",
    check: "本页数字与其 CSV 文件一致，该文件的 SHA-256 为",
    no_movement: "本期没有入账，也没有消费。",
    kinds: [
        "赠送",
        "兑换码",
        "套餐",
        "付款",
        "迁入",
        "调整",
        "过期",
        "退款",
        "欠款",
    ],
    months: [
        "1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月",
    ],
};
