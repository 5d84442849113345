//! The words of letters and of the pages behind their links, in the languages of the console.

use atelier_contract::pages::people::{Language, MemberRole};

/// All of them in one language.
pub(super) struct Words {
    pub(super) sign_in: &'static str,
    pub(super) sign_in_text: &'static str,
    pub(super) sign_in_label: &'static str,
    pub(super) once: &'static str,
    pub(super) sign_up: &'static str,
    pub(super) sign_up_text: &'static str,
    pub(super) sign_up_label: &'static str,
    pub(super) invited: &'static str,
    pub(super) invited_text: &'static str,
    pub(super) invited_label: &'static str,
    pub(super) welcome: &'static str,
    pub(super) welcome_text: &'static str,
    pub(super) week: &'static str,
    pub(super) appointed: &'static str,
    pub(super) appointed_text: &'static str,
    pub(super) note: &'static str,
    /// Owner, member and viewer.
    roles: [&'static str; 3],
}

impl Words {
    pub(super) fn role(&self, role: MemberRole) -> &'static str {
        let place = match role {
            MemberRole::Owner => 0,
            MemberRole::Member => 1,
            MemberRole::Viewer => 2,
        };
        self.roles[place]
    }
}

/// The words of a language.
pub(super) fn words(language: Language) -> &'static Words {
    match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
        Language::Chinese => &CHINESE,
    }
}

static ENGLISH: Words = Words {
    sign_in: "Sign in to Atelier",
    sign_in_text: "Somebody, hopefully you, asked for a link to sign in.",
    sign_in_label: "Sign in",
    once: "The link works once, for 15 minutes. Open it in the browser in which you asked for it; in another browser it shows a code \
           to type in the first one.",
    sign_up: "Create your Atelier account",
    sign_up_text: "Somebody, hopefully you, asked to create an account with this address.",
    sign_up_label: "Create the account",
    invited: "Invitation to {account}",
    invited_text: "You are invited to join the account {account} as {role}.",
    invited_label: "Open the invitation",
    welcome: "Invitation to Atelier",
    welcome_text: "You are invited to create an account.",
    week: "The invitation is valid for 7 days. You decide on the next page.",
    appointed: "You operate this Atelier now",
    appointed_text: "You may now sign in to the operator's side of the console with this address.",
    note: "This message was sent to {address}. If you did not expect it, you can ignore it: nothing happens without you.",
    roles: ["an owner", "a member", "a viewer"],
};

static GERMAN: Words = Words {
    sign_in: "Bei Atelier anmelden",
    sign_in_text: "Jemand, hoffentlich Sie, hat einen Link zum Anmelden angefordert.",
    sign_in_label: "Anmelden",
    once: "Der Link gilt einmal, 15 Minuten lang. Öffnen Sie ihn in dem Browser, in dem Sie ihn angefordert haben; in einem anderen \
           Browser zeigt er einen Code, den Sie im ersten eingeben.",
    sign_up: "Ihr Atelier-Konto anlegen",
    sign_up_text: "Jemand, hoffentlich Sie, möchte mit dieser Adresse ein Konto anlegen.",
    sign_up_label: "Konto anlegen",
    invited: "Einladung zu {account}",
    invited_text: "Sie sind eingeladen, dem Konto {account} als {role} beizutreten.",
    invited_label: "Einladung öffnen",
    welcome: "Einladung zu Atelier",
    welcome_text: "Sie sind eingeladen, ein Konto anzulegen.",
    week: "Die Einladung gilt 7 Tage. Sie entscheiden auf der nächsten Seite.",
    appointed: "Sie betreiben jetzt dieses Atelier",
    appointed_text: "Sie können sich nun mit dieser Adresse auf der Betreiberseite der Konsole anmelden.",
    note: "Diese Nachricht ging an {address}. Wenn Sie sie nicht erwartet haben, können Sie sie ignorieren: Ohne Sie geschieht nichts.",
    roles: ["Inhaber", "Mitglied", "Betrachter"],
};

static CHINESE: Words = Words {
    sign_in: "登录 Atelier",
    sign_in_text: "有人（希望是您本人）请求了登录链接。",
    sign_in_label: "登录",
    once: "该链接仅可使用一次，15 分钟内有效。请在请求它的浏览器中打开；在其他浏览器中打开时会显示一个验证码，请在原浏览器中输入。",
    sign_up: "创建您的 Atelier 账户",
    sign_up_text: "有人（希望是您本人）请求用此地址创建账户。",
    sign_up_label: "创建账户",
    invited: "邀请您加入 {account}",
    invited_text: "您受邀以{role}身份加入账户 {account}。",
    invited_label: "打开邀请",
    welcome: "邀请您使用 Atelier",
    welcome_text: "您受邀创建一个账户。",
    week: "邀请 7 天内有效。您可在下一页决定是否接受。",
    appointed: "您现在可以管理此 Atelier",
    appointed_text: "您现在可以用此地址登录控制台的运营端。",
    note: "此邮件发送至 {address}。如果这不是您的操作，请忽略：没有您的确认，不会发生任何事情。",
    roles: ["所有者", "成员", "查看者"],
};
