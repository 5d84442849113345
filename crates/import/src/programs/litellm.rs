//! LiteLLM's proxy. It counts dollars against budgets: what is left of a budget is a balance here. It keeps the SHA-256 of keys, and
//! seals what it knows of vendors.

use std::collections::BTreeMap;

use atelier_contract::LimitWindow;
use serde_json::{Map, Value};

use super::tables::{self, NeededTable};
use super::{CHANNELS_MOST, PAGE};
use crate::cipher;
use crate::database::{SourceDatabase, TablePage, TableRow};
use crate::error::ImportError;
use crate::money::Units;
use crate::records::{
    ForeignKey, SourceAccount, SourceChannel, SourceCredential, SourceKey, SourceModel,
    SourcePrice, SourceState,
};
use crate::report::{ReportAction, ReportRow};
use crate::vendors::of_litellm;

const USERS: &str = "LiteLLM_UserTable";
const TEAMS: &str = "LiteLLM_TeamTable";
const KEYS: &str = "LiteLLM_VerificationToken";
const BUDGETS: &str = "LiteLLM_BudgetTable";
const MODELS: &str = "LiteLLM_ProxyModelTable";
const CREDENTIALS: &str = "LiteLLM_CredentialsTable";
const MIGRATIONS: &str = "_prisma_migrations";

const NEEDED: &[NeededTable] = &[
    (USERS, &["user_id", "user_email", "max_budget", "spend"]),
    (
        TEAMS,
        &["team_id", "team_alias", "max_budget", "spend", "blocked"],
    ),
    (
        KEYS,
        &[
            "token",
            "key_name",
            "key_alias",
            "spend",
            "max_budget",
            "expires",
            "models",
            "user_id",
            "team_id",
            "blocked",
        ],
    ),
    (
        MODELS,
        &["model_id", "model_name", "litellm_params", "model_info"],
    ),
    (BUDGETS, &["budget_id", "max_budget"]),
];

const KEY_COLUMNS: &[&str] = &[
    "token",
    "key_name",
    "key_alias",
    "spend",
    "max_budget",
    "expires",
    "models",
    "user_id",
    "team_id",
    "blocked",
    "budget_duration",
    "budget_id",
    "created_at",
    "rpm_limit",
    "tpm_limit",
];

/// What is kept besides and not taken over, with what to do.
const OTHERS: &[(&str, &str)] = &[
    (
        "LiteLLM_OrganizationTable",
        "organizations are not taken over; give their teams a group",
    ),
    (
        "LiteLLM_EndUserTable",
        "end users have no budget here; callers name them with `user`, and usage is grouped by it",
    ),
    (
        "LiteLLM_TeamMembership",
        "budgets of members within a team are not taken over; keys have limits",
    ),
    ("LiteLLM_SpendLogs", "logs stay there"),
];

/// Which table is being read for accounts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Users,
    Teams,
    OwnKeys,
    Done,
}

/// An open database of LiteLLM.
pub(super) struct LiteLlm {
    database: SourceDatabase,
    salt_key: Option<String>,
    phase: Phase,
    last: Option<String>,
    last_key: Option<String>,
    prices: Vec<SourcePrice>,
}

/// What is left of a budget.
#[derive(Clone, Copy)]
struct Budget {
    most: Option<Units>,
    spent: Units,
}

impl Budget {
    fn left(self) -> Option<Units> {
        Some(self.most?.less(self.spent))
    }
}

impl LiteLlm {
    pub(super) async fn open(
        mut database: SourceDatabase,
        salt_key: Option<String>,
    ) -> Result<Self, ImportError> {
        tables::check(&mut database, "litellm", NEEDED).await?;
        unfinished(&mut database).await?;
        Ok(Self {
            database,
            salt_key,
            phase: Phase::Users,
            last: None,
            last_key: None,
            prices: Vec::new(),
        })
    }

    pub(super) async fn accounts(&mut self) -> Result<Vec<SourceAccount>, ImportError> {
        loop {
            let (found, next) = match self.phase {
                Phase::Users => (self.users().await?, Phase::Teams),
                Phase::Teams => (self.teams().await?, Phase::OwnKeys),
                Phase::OwnKeys => (self.own_keys().await?, Phase::Done),
                Phase::Done => return Ok(Vec::new()),
            };
            match found {
                Some(accounts) if !accounts.is_empty() => return Ok(accounts),
                Some(_) => {}
                None => {
                    self.phase = next;
                    self.last = None;
                }
            }
        }
    }

    async fn rows(
        &mut self,
        table: &str,
        columns: &[&str],
        key: &str,
    ) -> Result<Vec<TableRow>, ImportError> {
        let page = TablePage {
            table,
            columns,
            key,
            numbered: false,
            after: self.last.as_deref(),
            among: None,
            limit: PAGE,
        };
        let rows = self.database.page(&page).await?;
        if let Some(last) = rows.last() {
            self.last = Some(last.text(0).to_owned());
        }
        Ok(rows)
    }

    async fn users(&mut self) -> Result<Option<Vec<SourceAccount>>, ImportError> {
        let columns = [
            "user_id",
            "user_alias",
            "user_email",
            "max_budget",
            "spend",
            "budget_duration",
            "created_at",
        ];
        let rows = self.rows(USERS, &columns, "user_id").await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let owners: Vec<String> = rows.iter().map(|row| row.text(0).to_owned()).collect();
        let mut of_keys = self.left_of_keys("user_id", &owners).await?;
        let accounts = rows.iter().map(|row| {
            let origin = row.text(0).to_owned();
            let name = row.maybe(1).unwrap_or(row.text(0)).to_owned();
            let of_keys = of_keys.remove(&origin).unwrap_or(Some(Units::ZERO));
            let mut notes = Vec::new();
            let balance = balance(row, 3, of_keys, &mut notes);
            SourceAccount {
                table: USERS,
                origin: format!("user:{origin}"),
                name,
                email: row.maybe(2).map(str::to_owned),
                balance,
                state: SourceState::Enabled,
                group: None,
                max_queue: None,
                created_ms: row.maybe(6).map(|_| row.int(6)),
                notes,
            }
        });
        Ok(Some(accounts.collect()))
    }

    async fn teams(&mut self) -> Result<Option<Vec<SourceAccount>>, ImportError> {
        let columns = [
            "team_id",
            "team_alias",
            "blocked",
            "max_budget",
            "spend",
            "budget_duration",
            "created_at",
        ];
        let rows = self.rows(TEAMS, &columns, "team_id").await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let owners: Vec<String> = rows.iter().map(|row| row.text(0).to_owned()).collect();
        let mut of_keys = self.left_of_keys("team_id", &owners).await?;
        let accounts = rows.iter().map(|row| {
            let origin = row.text(0).to_owned();
            let of_keys = of_keys.remove(&origin).unwrap_or(Some(Units::ZERO));
            let mut notes = Vec::new();
            let balance = balance(row, 3, of_keys, &mut notes);
            SourceAccount {
                table: TEAMS,
                origin: format!("team:{origin}"),
                name: row.maybe(1).unwrap_or(row.text(0)).to_owned(),
                email: None,
                balance,
                state: if row.flag(2) {
                    SourceState::Disabled
                } else {
                    SourceState::Enabled
                },
                group: None,
                max_queue: None,
                created_ms: row.maybe(6).map(|_| row.int(6)),
                notes,
            }
        });
        Ok(Some(accounts.collect()))
    }

    /// Keys that nobody owns: each is an account of its own.
    async fn own_keys(&mut self) -> Result<Option<Vec<SourceAccount>>, ImportError> {
        let rows = self.rows(KEYS, KEY_COLUMNS, "token").await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let budgets = self.budgets(&rows).await?;
        let alone = rows
            .iter()
            .filter(|row| row.maybe(7).is_none() && row.maybe(8).is_none());
        let accounts = alone.map(|row| {
            let name = row.maybe(2).or(row.maybe(1)).unwrap_or("key").to_owned();
            let left = key_budget(row, &budgets).left();
            let mut notes = Vec::new();
            if left.is_none() {
                notes.push(NO_BUDGET.to_owned());
            }
            SourceAccount {
                table: KEYS,
                origin: format!("key:{}", short(row.text(0))),
                name,
                email: None,
                balance: left,
                state: if row.flag(9) {
                    SourceState::Disabled
                } else {
                    SourceState::Enabled
                },
                group: None,
                max_queue: None,
                created_ms: row.maybe(12).map(|_| row.int(12)),
                notes,
            }
        });
        Ok(Some(accounts.collect()))
    }

    /// What is left of the budgets of some owners' keys; none where a key of theirs has no budget.
    async fn left_of_keys(
        &mut self,
        owner: &str,
        owners: &[String],
    ) -> Result<BTreeMap<String, Option<Units>>, ImportError> {
        let mut left: BTreeMap<String, Option<Units>> = BTreeMap::new();
        let place = if owner == "user_id" { 7 } else { 8 };
        let mut after: Option<String> = None;
        loop {
            let page = TablePage {
                table: KEYS,
                columns: KEY_COLUMNS,
                key: "token",
                numbered: false,
                after: after.as_deref(),
                among: Some((owner, owners)),
                limit: PAGE,
            };
            let rows = self.database.page(&page).await?;
            let Some(last) = rows.last() else {
                return Ok(left);
            };
            after = Some(last.text(0).to_owned());
            let budgets = self.budgets(&rows).await?;
            for row in &rows {
                // Whose team it is pays for it.
                if owner == "user_id" && row.maybe(8).is_some() {
                    continue;
                }
                let own = key_budget(row, &budgets).left();
                let own = own.map(Units::at_least_zero);
                let sum = left
                    .entry(row.text(place).to_owned())
                    .or_insert(Some(Units::ZERO));
                *sum = sum.zip(own).map(|(sum, own)| sum.plus(own));
            }
        }
    }

    /// The budgets that some keys name.
    async fn budgets(&mut self, keys: &[TableRow]) -> Result<BTreeMap<String, Units>, ImportError> {
        let named = keys.iter().filter_map(|row| row.maybe(11));
        let mut named: Vec<String> = named.map(str::to_owned).collect();
        named.sort();
        named.dedup();
        if named.is_empty() {
            return Ok(BTreeMap::new());
        }
        let page = TablePage {
            table: BUDGETS,
            columns: &["budget_id", "max_budget"],
            key: "budget_id",
            numbered: false,
            after: None,
            among: Some(("budget_id", &named)),
            limit: named.len(),
        };
        let rows = self.database.page(&page).await?;
        let pairs = rows.iter().filter_map(|row| {
            let most = Units::parse(row.maybe(1)?)?;
            Some((row.text(0).to_owned(), most))
        });
        Ok(pairs.collect())
    }

    pub(super) async fn keys(&mut self) -> Result<Vec<SourceKey>, ImportError> {
        let page = TablePage {
            table: KEYS,
            columns: KEY_COLUMNS,
            key: "token",
            numbered: false,
            after: self.last_key.as_deref(),
            among: None,
            limit: PAGE,
        };
        let rows = self.database.page(&page).await?;
        if let Some(last) = rows.last() {
            self.last_key = Some(last.text(0).to_owned());
        }
        let budgets = self.budgets(&rows).await?;
        Ok(rows.iter().map(|row| key(row, &budgets)).collect())
    }

    pub(super) async fn channels(&mut self) -> Result<Vec<SourceChannel>, ImportError> {
        let credentials = self.credentials().await?;
        let (mut channels, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = TablePage {
                table: MODELS,
                columns: &[
                    "model_id",
                    "model_name",
                    "litellm_params",
                    "model_info",
                    "blocked",
                ],
                key: "model_id",
                numbered: false,
                after: after.as_deref(),
                among: None,
                limit: PAGE,
            };
            let rows = self.database.page(&page).await?;
            let Some(last) = rows.last() else {
                return Ok(channels);
            };
            after = Some(last.text(0).to_owned());
            for row in &rows {
                channels.push(self.channel(row, &credentials));
            }
            if channels.len() > CHANNELS_MOST {
                let why = format!("there are more than {CHANNELS_MOST} deployments");
                return Err(ImportError::Schema(why));
            }
        }
    }

    /// Named credentials, as they are kept.
    async fn credentials(&mut self) -> Result<BTreeMap<String, Map<String, Value>>, ImportError> {
        if self.database.columns(CREDENTIALS).await?.is_empty() {
            return Ok(BTreeMap::new());
        }
        let page = TablePage {
            table: CREDENTIALS,
            columns: &["credential_name", "credential_values"],
            key: "credential_name",
            numbered: false,
            after: None,
            among: None,
            limit: CHANNELS_MOST,
        };
        let rows = self.database.page(&page).await?;
        let pairs = rows.iter().filter_map(|row| {
            let values = serde_json::from_str(row.text(1)).ok()?;
            Some((row.text(0).to_owned(), values))
        });
        Ok(pairs.collect())
    }

    fn channel(
        &mut self,
        row: &TableRow,
        credentials: &BTreeMap<String, Map<String, Value>>,
    ) -> SourceChannel {
        let params: Map<String, Value> = serde_json::from_str(row.text(2)).unwrap_or_default();
        let info: Value = serde_json::from_str(row.text(3)).unwrap_or_default();
        let salt_key = self.salt_key.as_deref();
        let named = plain(&params, "litellm_credential_name", salt_key)
            .ok()
            .flatten();
        let named = named.and_then(|name| credentials.get(&name));
        let value = |name: &str| -> Result<Option<String>, String> {
            match plain(&params, name, salt_key)? {
                Some(text) => Ok(Some(text)),
                None => named.map_or(Ok(None), |values| plain(values, name, salt_key)),
            }
        };
        let mut channel = SourceChannel {
            table: MODELS,
            origin: row.text(0).to_owned(),
            name: row.text(1).to_owned(),
            target: Err(String::new()),
            credentials: Vec::new(),
            enabled: !row.flag(4) && info["blocked"] != true,
            priority: -params
                .get("order")
                .and_then(Value::as_i64)
                .unwrap_or_default(),
            weight: params.get("weight").and_then(Value::as_i64).unwrap_or(1),
            models: Vec::new(),
            notes: Vec::new(),
        };
        let read = value("model").and_then(|model| {
            let model = model.ok_or_else(|| "its parameters name no model".to_owned())?;
            let provider = value("custom_llm_provider")?;
            let base = value("api_base")?.unwrap_or_default();
            Ok((model, provider, base, value("api_key")?))
        });
        let (model, provider, base, api_key) = match read {
            Ok(read) => read,
            Err(why) => {
                channel.target = Err(why);
                return channel;
            }
        };
        let (prefix, upstream) = match model.split_once('/') {
            Some((prefix, rest)) => (prefix.to_owned(), rest.to_owned()),
            None => ("openai".to_owned(), model.clone()),
        };
        let provider = provider.unwrap_or(prefix);
        channel.target = of_litellm(&provider, &base);
        add_key(&mut channel, api_key);
        let cost = info.get("output_cost_per_image");
        if let Some(amount) = cost.and_then(|cost| Units::parse(&cost.to_string())) {
            self.prices.push(SourcePrice {
                model: channel.name.clone(),
                amount,
            });
        }
        channel.models.push(SourceModel {
            name: channel.name.clone(),
            upstream,
        });
        channel
    }

    pub(super) fn prices(&self) -> Vec<SourcePrice> {
        self.prices.clone()
    }

    pub(super) async fn left_out(&mut self) -> Result<Vec<ReportRow>, ImportError> {
        let mut rows = Vec::new();
        for (table, why) in OTHERS {
            let count = self.database.count(table).await?;
            if count > 0 {
                let row = format!("{count} rows");
                rows.push(ReportRow::new(table, row, ReportAction::Skip, *why));
            }
        }
        Ok(rows)
    }
}

const NO_BUDGET: &str =
    "has no budget there, so nothing was granted; grant quota here (atelier local account credit)";

/// Refuses a database on which a migration began and did not end.
async fn unfinished(database: &mut SourceDatabase) -> Result<(), ImportError> {
    if database.columns(MIGRATIONS).await?.is_empty() {
        return Ok(());
    }
    let mut after: Option<String> = None;
    loop {
        let page = TablePage {
            table: MIGRATIONS,
            columns: &["id", "migration_name", "finished_at", "rolled_back_at"],
            key: "id",
            numbered: false,
            after: after.as_deref(),
            among: None,
            limit: PAGE,
        };
        let rows = database.page(&page).await?;
        let Some(last) = rows.last() else {
            return Ok(());
        };
        let open = rows
            .iter()
            .find(|row| row.maybe(2).is_none() && row.maybe(3).is_none());
        if let Some(open) = open {
            return Err(ImportError::Schema(format!(
                "the migration {} of this database did not end; start LiteLLM on it once so that it does, and run this again. Nothing \
                 was taken over",
                open.text(1)
            )));
        }
        after = Some(last.text(0).to_owned());
    }
}

/// Gives a channel the key of its vendor, or says where that is.
fn add_key(channel: &mut SourceChannel, api_key: Option<String>) {
    match api_key {
        Some(key) if key.starts_with("os.environ/") => channel.notes.push(format!(
            "its key is in the environment variable {}; give the worker account that credential here",
            key.trim_start_matches("os.environ/")
        )),
        Some(secret) => channel.credentials.push(SourceCredential {
            name: "key-1".to_owned(),
            secret,
            paused: false,
        }),
        None => channel.notes.push(
            "its key is not in the database; give the worker account a credential here".to_owned(),
        ),
    }
}

/// What is left for an owner: of its own budget, or of those of its keys; none where neither is bounded.
fn balance(
    row: &TableRow,
    place: usize,
    of_keys: Option<Units>,
    notes: &mut Vec<String>,
) -> Option<Units> {
    let own = Budget {
        most: row.maybe(place).and_then(Units::parse),
        spent: Units::parse(row.text(place + 1)).unwrap_or_default(),
    };
    if let Some(duration) = row.maybe(place + 2).filter(|_| own.most.is_some()) {
        notes.push(format!(
            "its budget is renewed every {duration} there; what is left of this period was granted, give it a plan for the next ones"
        ));
    }
    let left = own.left().or(of_keys);
    if left.is_none() {
        notes.push(NO_BUDGET.to_owned());
    }
    left
}

fn key_budget(row: &TableRow, budgets: &BTreeMap<String, Units>) -> Budget {
    let own = row.maybe(4).and_then(Units::parse);
    let shared = || budgets.get(row.maybe(11)?).copied();
    Budget {
        most: own.or_else(shared),
        spent: Units::parse(row.text(3)).unwrap_or_default(),
    }
}

/// So much of a hash as tells keys apart and is no key.
fn short(token: &str) -> String {
    if token.starts_with("sk-") {
        // A key that was never hashed: nothing of it is shown.
        return cipher::name_of(token);
    }
    token.chars().take(16).collect()
}

fn key(row: &TableRow, budgets: &BTreeMap<String, Units>) -> SourceKey {
    let token = row.text(0);
    let is_hash = token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    let owner = match (row.maybe(8), row.maybe(7)) {
        (Some(team), _) => format!("team:{team}"),
        (None, Some(user)) => format!("user:{user}"),
        (None, None) => format!("key:{}", short(token)),
    };
    let budget = key_budget(row, budgets);
    let mut notes = Vec::new();
    let mut limits = Vec::new();
    if let Some(most) = budget.most {
        let duration = row.maybe(10);
        let window = duration.and_then(window);
        let left = most.less(budget.spent).at_least_zero();
        limits.push(window.map_or((LimitWindow::Total, left), |window| (window, most)));
        if let (Some(duration), None) = (duration, window) {
            notes.push(format!(
                "its budget is renewed every {duration} there, which no window here is; it is a limit for good"
            ));
        }
    }
    if row.maybe(13).is_some() || row.maybe(14).is_some() {
        notes.push("its limits of requests and tokens a minute are not taken over".to_owned());
    }
    let models: Vec<String> = serde_json::from_str(row.text(6)).unwrap_or_default();
    let all = ["all-team-models", "all-proxy-models"];
    let models = if models.iter().any(|name| all.contains(&name.as_str())) {
        Vec::new()
    } else {
        models
    };
    let shown = row.maybe(1).filter(|_| is_hash).unwrap_or("sk-…");
    SourceKey {
        table: KEYS,
        origin: short(token),
        owner,
        secret: if is_hash {
            ForeignKey::Hash(token.to_lowercase())
        } else {
            ForeignKey::Whole(token.to_owned())
        },
        shown: shown.to_owned(),
        name: row.maybe(2).or(row.maybe(1)).unwrap_or("key").to_owned(),
        state: if row.flag(9) {
            SourceState::Disabled
        } else {
            SourceState::Enabled
        },
        expires_ms: row.maybe(5).map(|_| row.int(5)),
        limits,
        models,
        addresses: Vec::new(),
        created_ms: row.maybe(12).map(|_| row.int(12)),
        notes,
    }
}

/// The window that is as long as LiteLLM's duration.
fn window(duration: &str) -> Option<LimitWindow> {
    Some(match duration {
        "24h" | "1d" => LimitWindow::Day,
        "7d" | "1w" => LimitWindow::Week,
        "30d" | "31d" | "1mo" => LimitWindow::Month,
        _ => return None,
    })
}

/// A parameter as text; those that are sealed are opened.
fn plain(
    params: &Map<String, Value>,
    name: &str,
    salt_key: Option<&str>,
) -> Result<Option<String>, String> {
    let Some(Value::String(text)) = params.get(name) else {
        return Ok(None);
    };
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(salt_key) = salt_key
        && let Some(open) = cipher::open(text, salt_key)
    {
        return Ok(Some(open));
    }
    if cipher::is_sealed(text) {
        return Err(match salt_key {
            None => "its parameters are sealed; give --salt-key-file with a file that has the text of LITELLM_SALT_KEY, or of the \
                     master key where that was never set"
                .to_owned(),
            Some(_) => "its parameters are sealed with another key than that of --salt-key-file".to_owned(),
        });
    }
    Ok(Some(text.clone()))
}
