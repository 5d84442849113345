//! What notices say, in the languages that people read: what happened, since when, and what to do. Names in braces are facts of the notice.

use atelier_contract::pages::notices::NoticeKind;
use atelier_contract::pages::statements::Language;

/// What a notice says.
pub(super) struct NoticeText {
    pub(super) title: &'static str,
    pub(super) text: &'static str,
    pub(super) action: &'static str,
}

const fn says(title: &'static str, text: &'static str, action: &'static str) -> NoticeText {
    NoticeText {
        title,
        text,
        action,
    }
}

/// The text of a kind in a language.
pub(super) fn text_of(kind: NoticeKind, language: Language) -> NoticeText {
    match language {
        Language::En => english(kind),
        Language::De => german(kind),
        Language::Zh => chinese(kind),
    }
}

/// The words for the window of a limit, and for how long it allows no more.
pub(super) fn window_of(window: &str, language: Language) -> &str {
    match (language, window) {
        (Language::En, "day") => "a day",
        (Language::En, "week") => "a week",
        (Language::En, "month") => "a month",
        (Language::En, "total") => "in all",
        (Language::De, "day") => "am Tag",
        (Language::De, "week") => "in der Woche",
        (Language::De, "month") => "im Monat",
        (Language::De, "total") => "insgesamt",
        (Language::Zh, "day") => "每天",
        (Language::Zh, "week") => "每周",
        (Language::Zh, "month") => "每月",
        (Language::Zh, "total") => "总共",
        (_, other) => other,
    }
}

/// For how long a limit allows no more.
pub(super) fn until(resets: &str, language: Language) -> String {
    match (language, resets) {
        (Language::En, "") => "until you raise the limit".to_owned(),
        (Language::De, "") => "bis Sie das Limit erhöhen".to_owned(),
        (Language::Zh, "") => "直到您提高限额".to_owned(),
        (Language::En, resets) => format!("until {resets} UTC"),
        (Language::De, resets) => format!("bis {resets} UTC"),
        (Language::Zh, resets) => format!("直到 {resets} UTC"),
    }
}

/// The page of the console that helps.
pub(super) fn page_of(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::BalanceLow | NoticeKind::PlanRenewed => "account",
        NoticeKind::Limit80 | NoticeKind::Limit100 | NoticeKind::KeyExpiring => "account?part=keys",
        NoticeKind::CallbackExhausted => "account?part=callbacks",
        NoticeKind::JobsFailing => "library",
        NoticeKind::BackendIll => "operator/backends",
        NoticeKind::MarginNegative => "operator/models",
        NoticeKind::DiskLow | NoticeKind::InvariantBroken | NoticeKind::CertificateExpiring => {
            "operator/overview"
        }
    }
}

fn english(kind: NoticeKind) -> NoticeText {
    match kind {
        NoticeKind::BalanceLow => says(
            "Balance below {below}",
            "The balance of your account is {balance} since {since} UTC. You asked to be told below {below}.",
            "Add quota. When it is used up, requests are refused with insufficient_quota.",
        ),
        NoticeKind::Limit80 => says(
            "80 % of a limit is used: key {key}",
            "The key {key} may spend {quota} {window}. Since {since} UTC {spent} of it is spent or reserved.",
            "Raise the limit, or expect refusals: at 100 % requests of this key are refused {until}.",
        ),
        NoticeKind::Limit100 => says(
            "A limit is reached: key {key}",
            "The key {key} may spend {quota} {window}, and {spent} is spent or reserved. Since {since} UTC its requests are refused.",
            "Raise the limit, or use another key. Requests of this key are refused {until}.",
        ),
        NoticeKind::KeyExpiring => says(
            "Key {key} expires soon",
            "The key {key} expires on {expires} UTC. It has been within seven days of that since {since} UTC.",
            "Rotate the key and give the new secret to whoever uses it.",
        ),
        NoticeKind::PlanRenewed => says(
            "Plan {plan} renewed",
            "A new period of your plan {plan} began on {since} UTC and gave {quota} quota. It lasts until {until} UTC.",
            "Nothing. What is left at its end expires, as far as the plan does not carry it over.",
        ),
        NoticeKind::CallbackExhausted => says(
            "A callback to {host} was given up",
            "A callback to {host} failed {tries} times and is not tried again since {since} UTC.",
            "Repair the receiver, then send what was given up again: Callbacks, or POST /account/v1/callbacks/redeliver.",
        ),
        NoticeKind::JobsFailing => says(
            "{jobs} jobs failed in a row",
            "Since {since} UTC your last {jobs} jobs failed. The latest message is: {message}",
            "Look at the failed jobs. If the message names a field, correct the request; otherwise ask the operator.",
        ),
        NoticeKind::BackendIll => says(
            "Back end {backend} takes no work",
            "Since {since} UTC none of the accounts of the back end {backend} can be used: {condition}.",
            "Check its credit and credentials, and probe it. Jobs go to the next back end, if there is one.",
        ),
        NoticeKind::MarginNegative => says(
            "A route of {model} is paused",
            "The stop-loss paused the route of {model} to {backend} on {since} UTC: {why}.",
            "Raise the price, or lower the cost, then remove the pause from the route.",
        ),
        NoticeKind::DiskLow => says(
            "The disk of {machine} is nearly full",
            "Since {since} UTC {free} of {whole} are free on {machine}, where results are kept. No work is taken below {least}.",
            "Free some space, shorten the retention, or keep results in a bucket.",
        ),
        NoticeKind::InvariantBroken => says(
            "An invariant is broken: {invariant}",
            "Noticed on {since} UTC: {what} ({subject}).",
            "Run `atelier audit`, keep a backup of the database as it is, and report what it says.",
        ),
        NoticeKind::CertificateExpiring => says(
            "A certificate expires soon: {certificate}",
            "The certificate {certificate} expires on {expires} UTC; it has had less than two weeks since {since} UTC.",
            "Renew it. The service reads the file again when it changes.",
        ),
    }
}

fn german(kind: NoticeKind) -> NoticeText {
    match kind {
        NoticeKind::BalanceLow => says(
            "Guthaben unter {below}",
            "Das Guthaben Ihres Kontos beträgt seit {since} UTC {balance}. Sie wollten unter {below} benachrichtigt werden.",
            "Laden Sie Guthaben auf. Ist es verbraucht, werden Anfragen mit insufficient_quota abgelehnt.",
        ),
        NoticeKind::Limit80 => says(
            "80 % eines Limits sind verbraucht: Schlüssel {key}",
            "Der Schlüssel {key} darf {window} {quota} ausgeben. Seit {since} UTC sind davon {spent} ausgegeben oder reserviert.",
            "Erhöhen Sie das Limit, oder rechnen Sie mit Ablehnungen: Bei 100 % werden Anfragen dieses Schlüssels abgelehnt, {until}.",
        ),
        NoticeKind::Limit100 => says(
            "Ein Limit ist erreicht: Schlüssel {key}",
            "Der Schlüssel {key} darf {window} {quota} ausgeben, und {spent} sind ausgegeben oder reserviert. Seit {since} UTC werden seine Anfragen abgelehnt.",
            "Erhöhen Sie das Limit, oder verwenden Sie einen anderen Schlüssel. Anfragen dieses Schlüssels werden abgelehnt, {until}.",
        ),
        NoticeKind::KeyExpiring => says(
            "Der Schlüssel {key} läuft bald ab",
            "Der Schlüssel {key} läuft am {expires} UTC ab. Seit {since} UTC sind es weniger als sieben Tage bis dahin.",
            "Erneuern Sie den Schlüssel, und geben Sie das neue Geheimnis an alle, die ihn verwenden.",
        ),
        NoticeKind::PlanRenewed => says(
            "Tarif {plan} erneuert",
            "Am {since} UTC hat ein neuer Zeitraum Ihres Tarifs {plan} begonnen und {quota} Guthaben gebracht. Er dauert bis {until} UTC.",
            "Nichts. Was am Ende übrig ist, verfällt, soweit der Tarif es nicht überträgt.",
        ),
        NoticeKind::CallbackExhausted => says(
            "Ein Callback an {host} wurde aufgegeben",
            "Ein Callback an {host} ist {tries} Mal gescheitert und wird seit {since} UTC nicht mehr versucht.",
            "Bringen Sie den Empfänger in Ordnung, und senden Sie das Aufgegebene erneut: Callbacks oder POST /account/v1/callbacks/redeliver.",
        ),
        NoticeKind::JobsFailing => says(
            "{jobs} Aufträge sind nacheinander gescheitert",
            "Seit {since} UTC sind Ihre letzten {jobs} Aufträge gescheitert. Die letzte Meldung lautet: {message}",
            "Sehen Sie sich die gescheiterten Aufträge an. Nennt die Meldung ein Feld, berichtigen Sie die Anfrage; sonst fragen Sie den Betreiber.",
        ),
        NoticeKind::BackendIll => says(
            "Backend {backend} nimmt keine Arbeit an",
            "Seit {since} UTC ist kein Konto des Backends {backend} verwendbar: {condition}.",
            "Prüfen Sie Guthaben und Zugangsdaten, und testen Sie es. Aufträge gehen an das nächste Backend, wenn es eines gibt.",
        ),
        NoticeKind::MarginNegative => says(
            "Eine Route von {model} ist pausiert",
            "Der Stop-Loss hat die Route von {model} zu {backend} am {since} UTC pausiert: {why}.",
            "Erhöhen Sie den Preis, oder senken Sie die Kosten, und heben Sie dann die Pause der Route auf.",
        ),
        NoticeKind::DiskLow => says(
            "Die Festplatte von {machine} ist fast voll",
            "Seit {since} UTC sind auf {machine}, wo Ergebnisse liegen, {free} von {whole} frei. Unter {least} wird keine Arbeit angenommen.",
            "Schaffen Sie Platz, verkürzen Sie die Aufbewahrung, oder legen Sie Ergebnisse in einen Bucket.",
        ),
        NoticeKind::InvariantBroken => says(
            "Eine Invariante ist verletzt: {invariant}",
            "Bemerkt am {since} UTC: {what} ({subject}).",
            "Führen Sie `atelier audit` aus, sichern Sie die Datenbank, wie sie ist, und melden Sie das Ergebnis.",
        ),
        NoticeKind::CertificateExpiring => says(
            "Ein Zertifikat läuft bald ab: {certificate}",
            "Das Zertifikat {certificate} läuft am {expires} UTC ab; seit {since} UTC sind es weniger als zwei Wochen.",
            "Erneuern Sie es. Der Dienst liest die Datei neu, wenn sie sich ändert.",
        ),
    }
}

fn chinese(kind: NoticeKind) -> NoticeText {
    match kind {
        NoticeKind::BalanceLow => says(
            "余额低于 {below}",
            "自 {since} UTC 起，您的账户余额为 {balance}。您要求在低于 {below} 时收到通知。",
            "请充值。余额用完后，请求会以 insufficient_quota 被拒绝。",
        ),
        NoticeKind::Limit80 => says(
            "限额已使用 80 %：密钥 {key}",
            "密钥 {key} {window}可使用 {quota}。自 {since} UTC 起，其中 {spent} 已使用或冻结。",
            "请提高限额，否则达到 100 % 时该密钥的请求会被拒绝，{until}。",
        ),
        NoticeKind::Limit100 => says(
            "限额已用完：密钥 {key}",
            "密钥 {key} {window}可使用 {quota}，其中 {spent} 已使用或冻结。自 {since} UTC 起，它的请求会被拒绝。",
            "请提高限额或换用其他密钥。该密钥的请求会被拒绝，{until}。",
        ),
        NoticeKind::KeyExpiring => says(
            "密钥 {key} 即将过期",
            "密钥 {key} 将于 {expires} UTC 过期。自 {since} UTC 起，剩余时间不足七天。",
            "请轮换该密钥，并把新的密钥交给使用它的人。",
        ),
        NoticeKind::PlanRenewed => says(
            "套餐 {plan} 已续期",
            "您的套餐 {plan} 于 {since} UTC 开始新的周期，赠送 {quota} 额度，有效期至 {until} UTC。",
            "无需操作。周期结束时，套餐不结转的剩余额度会过期。",
        ),
        NoticeKind::CallbackExhausted => says(
            "已放弃发往 {host} 的回调",
            "发往 {host} 的回调失败了 {tries} 次，自 {since} UTC 起不再重试。",
            "请修复接收端，然后重新发送：在“回调”页面，或使用 POST /account/v1/callbacks/redeliver。",
        ),
        NoticeKind::JobsFailing => says(
            "连续 {jobs} 个任务失败",
            "自 {since} UTC 起，您最近的 {jobs} 个任务都失败了。最后的消息是：{message}",
            "请查看失败的任务。如果消息指出了字段，请更正请求；否则请联系运营方。",
        ),
        NoticeKind::BackendIll => says(
            "后端 {backend} 不接受任务",
            "自 {since} UTC 起，后端 {backend} 没有可用的账户：{condition}。",
            "请检查其余额和凭据并进行探测。如有其他后端，任务会转给下一个。",
        ),
        NoticeKind::MarginNegative => says(
            "{model} 的一条路由已暂停",
            "止损于 {since} UTC 暂停了 {model} 到 {backend} 的路由：{why}。",
            "请提高价格或降低成本，然后取消该路由的暂停。",
        ),
        NoticeKind::DiskLow => says(
            "{machine} 的磁盘快满了",
            "自 {since} UTC 起，{machine} 存放结果的磁盘 {whole} 中剩余 {free}。低于 {least} 时不再接受任务。",
            "请清理空间、缩短保留期，或将结果存放到存储桶。",
        ),
        NoticeKind::InvariantBroken => says(
            "不变量被破坏：{invariant}",
            "发现于 {since} UTC：{what}（{subject}）。",
            "请运行 `atelier audit`，按现状备份数据库，并报告其结果。",
        ),
        NoticeKind::CertificateExpiring => says(
            "证书即将过期：{certificate}",
            "证书 {certificate} 将于 {expires} UTC 过期；自 {since} UTC 起，剩余时间不足两周。",
            "请更新证书。文件变化后，服务会重新读取。",
        ),
    }
}
