// Every text of the console, by language. A key that a language lacks is shown in English.
const en = {
  create: "Create", library: "Library", account: "Account", operator: "Operator", overview: "Overview", jobs: "Jobs",
  accounts: "Accounts", backends: "Back ends", prices: "Prices", callbacks: "Callbacks", audit: "Audit", docs: "Docs",
  keys: "Keys", ledger: "Ledger", usage: "Usage", operators: "Operators", node: "Node", nodes: "Nodes", custody: "Your own accounts",
  search: "Search jobs, pages, settings", quota: "quota", held: "held", signOut: "Sign out", signIn: "Sign in",
  signInTitle: "Welcome", signInText: "Sign in with an API key, or with an operator's token to run the service.",
  signInField: "API key or operator token", signInHelp: "It is sent once and not kept in this page.",
  makeIt: "Make it", priceUnknown: "price after the rules are met", cancel: "Cancel", retry: "Try again", copyAs: "Copy as",
  download: "Download", running: "running", waiting: "waiting", failed: "failed", done: "done", filterRunning: "Running", filterFailed: "Failed", Held: "Held", Quota: "Quota", Job: "Job", more: "More settings",
  fewer: "Fewer settings", emptyMade: "What you make appears here. Write a few words and press Make it.",
  emptyLibrary: "Nothing yet. Everything you make is kept here.", cameBack: "Your quota came back.",
  accepted: "accepted", started: "at work", stored: "stored", settled: "settled", delivered: "delivered",
  dropPicture: "Drop, paste or choose a picture", dropPictures: "Drop, paste or choose up to {0} pictures",
  addressOnly: "This field takes an address. Paste one, or choose from your library.", useInput: "Use as input", repaint: "Repaint a region", all: "All", pictures: "Pictures", videos: "Videos", results: "results",
  today: "Today", yesterday: "Yesterday", loadMore: "Show more", close: "Close", request: "Request", timeline: "Timeline",
  money: "Quota", files: "Files", tree: "Came from", what: "What", when: "When", amount: "Amount", balance: "Balance",
  reason: "Reason", name: "Name", scopes: "May", expires: "Expires", never: "never", lastUsed: "Last used", revoke: "Revoke",
  newKey: "New key", newKeyOnce: "This key is shown once. Keep it now.", copy: "Copy", copied: "Copied", status: "Status",
  wellTitle: "Everything is well", notWellTitle: "{0} to look at", brush: "Brush", undo: "Undo", invert: "Invert", clear: "Clear",
  lost: "The connection is lost. Trying again.", credit: "Grant quota", newAccount: "New account", email: "E-mail",
  disable: "Suspend", enable: "Let in again", drain: "Drain", pause: "Pause", resume: "Resume", probe: "Test", address: "Address",
  save: "Save", change: "Change", redeliver: "Send again", tries: "Tries", noneYet: "None yet.", compare: "Compare",
  keyboard: "Keyboard", byDay: "By day", byFamily: "By family", free: "free", actor: "Who", target: "On what", detail: "Detail",
  jobsRunning: "Running", jobsWaiting: "Waiting", callbacksDue: "Callbacks due", up: "Up for", busy: "Busy", condition: "Condition",
  nothingFound: "Nothing found for these filters.", seen: "Last seen", vendor: "Vendor", newBackend: "New back end",
  credential: "Credential", addWorker: "Add a worker account", remove: "Remove", serves: "Serves", theme: "Light or dark",
};
const de = {
  create: "Erstellen", library: "Bibliothek", account: "Konto", operator: "Betrieb", overview: "Überblick", jobs: "Aufträge",
  accounts: "Konten", backends: "Dienste", prices: "Preise", callbacks: "Rückrufe", audit: "Protokoll", docs: "Handbuch",
  keys: "Schlüssel", ledger: "Buchungen", usage: "Verbrauch", search: "Aufträge, Seiten, Einstellungen suchen",
  quota: "Guthaben", held: "reserviert", signOut: "Abmelden", signIn: "Anmelden", signInTitle: "Willkommen",
  signInText: "Mit einem API-Schlüssel anmelden, oder mit dem Zugang eines Betreibers.", makeIt: "Los",
  cancel: "Abbrechen", download: "Herunterladen", running: "läuft", waiting: "wartet", failed: "fehlgeschlagen", done: "fertig",
  more: "Weitere Einstellungen", fewer: "Weniger Einstellungen", all: "Alle", pictures: "Bilder", videos: "Videos",
  today: "Heute", yesterday: "Gestern", loadMore: "Mehr zeigen", close: "Schließen", wellTitle: "Alles in Ordnung",
  emptyMade: "Hier erscheint, was entsteht. Einige Worte schreiben und auf Los drücken.",
};
const zh = {
  create: "创作", library: "作品库", account: "账户", operator: "运营", overview: "总览", jobs: "任务", accounts: "账户管理",
  backends: "后端", prices: "价格", callbacks: "回调", audit: "审计", docs: "文档", keys: "密钥", ledger: "账本", usage: "用量",
  search: "搜索任务、页面、设置", quota: "额度", held: "冻结", signOut: "退出", signIn: "登录", signInTitle: "欢迎", makeIt: "生成",
  cancel: "取消", download: "下载", running: "进行中", waiting: "等待中", failed: "失败", done: "完成", more: "更多设置", fewer: "收起",
  all: "全部", pictures: "图片", videos: "视频", today: "今天", yesterday: "昨天", loadMore: "更多", close: "关闭", wellTitle: "一切正常",
};
const languages = { en, de, zh };
const chosen = languages[(navigator.language || "en").slice(0, 2)] || en;
document.documentElement.lang = chosen === de ? "de" : chosen === zh ? "zh" : "en";

/** The text of a key, with its places filled in. */
export function t(key, ...values) {
  const text = chosen[key] || en[key] || key;
  return text.replace(/\{(\d)\}/g, (_, place) => String(values[place] ?? ""));
}
