//! new-api and one-api, which share most of their tables.

use std::collections::BTreeMap;

use atelier_contract::LimitWindow;
use serde_json::Value;

use super::tables::{self, NeededTable};
use super::{CHANNELS_MOST, PAGE};
use crate::database::{SourceDatabase, TablePage, TableRow};
use crate::error::ImportError;
use crate::money::Units;
use crate::records::{
    ForeignKey, SourceAccount, SourceChannel, SourceCredential, SourceGroup, SourceKey,
    SourceModel, SourcePrice, SourceState,
};
use crate::report::{ReportAction, ReportRow};
use crate::vendors::{VendorTarget, of_new_api, of_one_api};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edition {
    NewApi,
    OneApi,
}

/// Their quota for a dollar, unless their options say otherwise.
const UNITS_PER_DOLLAR: Units = Units::whole(500_000);

const USERS: &[&str] = &["id", "username", "email", "quota", "status", "group"];
const TOKENS: &[&str] = &[
    "id",
    "user_id",
    "key",
    "status",
    "name",
    "expired_time",
    "remain_quota",
    "unlimited_quota",
];
const CHANNELS: &[&str] = &[
    "id", "type", "key", "status", "name", "models", "base_url", "group",
];
const OPTIONS: &[&str] = &["key", "value"];
const NEEDED: &[NeededTable] = &[
    ("users", USERS),
    ("tokens", TOKENS),
    ("channels", CHANNELS),
    ("options", OPTIONS),
];

/// What is kept besides and not taken over, with what to do.
const OTHERS: &[(&str, &str)] = &[
    (
        "redemptions",
        "codes are not taken over; make vouchers for those that nobody redeemed yet",
    ),
    (
        "top_ups",
        "earlier payments stay there; what is left of them is in the balances",
    ),
    (
        "user_subscriptions",
        "subscriptions are not taken over; give the accounts a plan",
    ),
    ("logs", "logs stay there"),
    (
        "midjourneys",
        "earlier tasks stay there, with their pictures",
    ),
    ("tasks", "earlier tasks stay there, with their videos"),
    (
        "passkey_credentials",
        "people sign in anew; passkeys are bound to the host name there",
    ),
];

/// An open database of either.
pub(super) struct OneApi {
    database: SourceDatabase,
    edition: Edition,
    options: BTreeMap<String, String>,
    last_user: Option<String>,
    last_token: Option<String>,
}

impl OneApi {
    pub(super) async fn open(
        mut database: SourceDatabase,
        edition: Edition,
    ) -> Result<Self, ImportError> {
        let name = match edition {
            Edition::NewApi => "new-api",
            Edition::OneApi => "one-api",
        };
        tables::check(&mut database, name, NEEDED).await?;
        let tokens = database.columns("tokens").await?;
        let has = |column: &str| tokens.iter().any(|(name, _)| name == column);
        let is_new = has("model_limits_enabled");
        match edition {
            Edition::OneApi if is_new => {
                let why = "this is a database of new-api; run `atelier local import new-api`";
                return Err(ImportError::Schema(why.to_owned()));
            }
            Edition::NewApi if !is_new && has("subnet") => {
                let why = "this is a database of one-api; run `atelier local import one-api`";
                return Err(ImportError::Schema(why.to_owned()));
            }
            Edition::NewApi if !is_new => {
                let why = "the schema of this database of new-api is not whole, or of a version that is not known: it lacks the column \
                           tokens.model_limits_enabled. Start the newest version of new-api on it once, and run this again. \
                           Nothing was taken over";
                return Err(ImportError::Schema(why.to_owned()));
            }
            _ => {}
        }
        let mut source = Self {
            database,
            edition,
            options: BTreeMap::new(),
            last_user: None,
            last_token: None,
        };
        source.read_options().await?;
        Ok(source)
    }

    async fn read_options(&mut self) -> Result<(), ImportError> {
        let wanted = ["QuotaPerUnit", "GroupRatio", "ModelPrice"].map(str::to_owned);
        let page = TablePage {
            table: "options",
            columns: OPTIONS,
            key: "key",
            numbered: false,
            after: None,
            among: Some(("key", &wanted)),
            limit: wanted.len(),
        };
        let rows = self.database.page(&page).await?;
        let pair = |row: &TableRow| (row.text(0).to_owned(), row.text(1).to_owned());
        self.options = rows.iter().map(pair).collect();
        Ok(())
    }

    /// An option that is an object of numbers.
    fn numbers(&self, option: &str) -> Vec<(String, Units)> {
        let text = self.options.get(option).map_or("", String::as_str);
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return Vec::new();
        };
        let fields = fields.into_iter();
        fields
            .filter_map(|(name, value)| Some((name, Units::parse(&value.to_string())?)))
            .collect()
    }

    pub(super) fn units_per_dollar(&self) -> Units {
        let given = self.options.get("QuotaPerUnit");
        let given = given.and_then(|text| Units::parse(text));
        given
            .filter(|units| *units > Units::ZERO)
            .unwrap_or(UNITS_PER_DOLLAR)
    }

    pub(super) fn groups(&self) -> Vec<SourceGroup> {
        let groups = self.numbers("GroupRatio").into_iter();
        groups
            .map(|(name, factor)| SourceGroup { name, factor })
            .collect()
    }

    pub(super) fn prices(&self) -> Vec<SourcePrice> {
        let dollar = self.units_per_dollar();
        let prices = self.numbers("ModelPrice").into_iter();
        prices
            .map(|(model, price)| SourcePrice {
                model,
                amount: price.times(dollar),
            })
            .collect()
    }

    pub(super) async fn accounts(&mut self) -> Result<Vec<SourceAccount>, ImportError> {
        let page = TablePage {
            table: "users",
            columns: &[
                "id",
                "username",
                "email",
                "quota",
                "status",
                "group",
                "deleted_at",
                "created_at",
                "aff_quota",
            ],
            key: "id",
            numbered: true,
            after: self.last_user.as_deref(),
            among: None,
            limit: PAGE,
        };
        let rows = self.database.page(&page).await?;
        if let Some(last) = rows.last() {
            self.last_user = Some(last.text(0).to_owned());
        }
        Ok(rows.iter().map(|row| self.account(row)).collect())
    }

    fn account(&self, row: &TableRow) -> SourceAccount {
        let balance = Units::parse(row.text(3));
        let deleted =
            row.maybe(6).is_some() || (self.edition == Edition::OneApi && row.int(4) == 3);
        let state = match (deleted, row.int(4), balance) {
            (true, ..) => SourceState::Deleted,
            (_, _, None) => SourceState::Unusable(format!(
                "its quota, `{}`, is no number; correct it there",
                row.text(3)
            )),
            (_, _, Some(units)) if !units.is_plausible() => SourceState::Unusable(format!(
                "its quota of {units} is more than any money; correct it there"
            )),
            (_, 1, _) => SourceState::Enabled,
            _ => SourceState::Disabled,
        };
        let mut notes = Vec::new();
        let invited = Units::parse(row.text(8)).unwrap_or_default();
        if invited > Units::ZERO {
            notes.push(format!(
                "quota of {invited} for invitations is not taken over; have it moved to the balance there, or grant it here"
            ));
        }
        SourceAccount {
            table: "users",
            origin: row.text(0).to_owned(),
            name: row.text(1).to_owned(),
            email: row.maybe(2).map(str::to_owned),
            balance: balance.or(Some(Units::ZERO)),
            state,
            group: row.maybe(5).map(str::to_owned),
            max_queue: None,
            created_ms: Some(row.int(7))
                .filter(|seconds| *seconds > 0)
                .map(|s| s * 1000),
            notes,
        }
    }

    pub(super) async fn keys(&mut self) -> Result<Vec<SourceKey>, ImportError> {
        let page = TablePage {
            table: "tokens",
            columns: &[
                "id",
                "user_id",
                "key",
                "status",
                "name",
                "expired_time",
                "remain_quota",
                "unlimited_quota",
                "deleted_at",
                "created_time",
                "model_limits_enabled",
                "model_limits",
                "allow_ips",
                "group",
                "models",
                "subnet",
            ],
            key: "id",
            numbered: true,
            after: self.last_token.as_deref(),
            among: None,
            limit: PAGE,
        };
        let rows = self.database.page(&page).await?;
        if let Some(last) = rows.last() {
            self.last_token = Some(last.text(0).to_owned());
        }
        Ok(rows.iter().map(|row| self.key(row)).collect())
    }

    fn key(&self, row: &TableRow) -> SourceKey {
        // A column of fixed width is filled up with spaces.
        let key = row.text(2).trim();
        let expires = row.int(5);
        let state = if row.maybe(8).is_some() {
            SourceState::Deleted
        } else if key.is_empty() || key.contains('-') {
            let why = "a key that is empty or has a dash never worked there; issue a new one";
            SourceState::Unusable(why.to_owned())
        } else {
            match row.int(3) {
                1 | 4 => SourceState::Enabled,
                3 => SourceState::Unusable("it has expired".to_owned()),
                _ => SourceState::Disabled,
            }
        };
        let mut notes = Vec::new();
        if let Some(group) = row.maybe(13) {
            notes.push(format!(
                "its own group `{group}` is not taken over: here a group belongs to the account"
            ));
        }
        let split = |text: &str, by: &[char]| -> Vec<String> {
            let parts = text.split(by).map(str::trim);
            parts
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let (models, addresses) = match self.edition {
            Edition::NewApi if row.flag(10) => (
                split(row.text(11), &[',']),
                split(row.text(12), &['\n', ',']),
            ),
            Edition::NewApi => (Vec::new(), split(row.text(12), &['\n', ','])),
            Edition::OneApi => (split(row.text(14), &[',']), split(row.text(15), &[','])),
        };
        let left = Units::parse(row.text(6)).unwrap_or_default();
        let shown: String = key.chars().take(4).collect();
        SourceKey {
            table: "tokens",
            origin: row.text(0).to_owned(),
            owner: row.text(1).to_owned(),
            secret: ForeignKey::Cut(key.to_owned()),
            shown: format!("sk-{shown}"),
            name: row.text(4).to_owned(),
            state,
            expires_ms: (expires > 0).then(|| expires * 1000),
            limits: if row.flag(7) {
                Vec::new()
            } else {
                vec![(LimitWindow::Total, left.at_least_zero())]
            },
            models,
            addresses,
            created_ms: Some(row.int(9))
                .filter(|seconds| *seconds > 0)
                .map(|s| s * 1000),
            notes,
        }
    }

    pub(super) async fn channels(&mut self) -> Result<Vec<SourceChannel>, ImportError> {
        let (mut channels, mut last) = (Vec::new(), None::<String>);
        loop {
            let page = TablePage {
                table: "channels",
                columns: &[
                    "id",
                    "type",
                    "key",
                    "status",
                    "name",
                    "models",
                    "base_url",
                    "weight",
                    "priority",
                    "model_mapping",
                    "channel_info",
                    "param_override",
                    "header_override",
                    "setting",
                ],
                key: "id",
                numbered: true,
                after: last.as_deref(),
                among: None,
                limit: PAGE,
            };
            let rows = self.database.page(&page).await?;
            let Some(end) = rows.last() else {
                return Ok(channels);
            };
            last = Some(end.text(0).to_owned());
            channels.extend(rows.iter().map(|row| self.channel(row)));
            if channels.len() > CHANNELS_MOST {
                let why = format!("there are more than {CHANNELS_MOST} channels");
                return Err(ImportError::Schema(why));
            }
        }
    }

    fn channel(&self, row: &TableRow) -> SourceChannel {
        let mut target = match self.edition {
            Edition::NewApi => of_new_api(row.int(1), row.text(6)),
            Edition::OneApi => of_one_api(row.int(1), row.text(6)),
        };
        let mut credentials = credentials(row.text(2), row.text(10));
        if let Ok(target) = &mut target {
            suit(target, &mut credentials);
        }
        let mut notes = Vec::new();
        for (place, what) in [(11, "parameters"), (12, "headers")] {
            let is_set = row.maybe(place).is_some_and(|text| text.trim() != "{}");
            if is_set {
                notes.push(format!(
                    "its own {what} for every request are not taken over"
                ));
            }
        }
        if row.text(13).contains("\"proxy\":\"") && !row.text(13).contains("\"proxy\":\"\"") {
            notes.push(
                "its proxy is not taken over; set `outbound.proxy`, or run it where it needs none"
                    .to_owned(),
            );
        }
        let mapping: BTreeMap<String, String> =
            serde_json::from_str(row.text(9)).unwrap_or_default();
        let models = row.text(5).split(',').map(str::trim);
        let models = models.filter(|name| !name.is_empty()).map(|name| {
            // Names may lead on to others.
            let mut upstream = name;
            for _ in 0..8 {
                match mapping.get(upstream) {
                    Some(next) if next != upstream => upstream = next,
                    _ => break,
                }
            }
            SourceModel {
                name: name.to_owned(),
                upstream: upstream.to_owned(),
            }
        });
        SourceChannel {
            table: "channels",
            origin: row.text(0).to_owned(),
            name: row.text(4).to_owned(),
            target,
            credentials,
            enabled: row.int(3) == 1,
            priority: row.int(8),
            weight: row.int(7),
            models: models.collect(),
            notes,
        }
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

/// The credentials of a channel: one, or one a line or an item of a list, each with what became of it.
fn credentials(key: &str, info: &str) -> Vec<SourceCredential> {
    let info: Value = serde_json::from_str(info).unwrap_or_default();
    let key = key.trim();
    let keys: Vec<String> = if info["is_multi_key"] == true {
        match serde_json::from_str(key) {
            Ok(Value::Array(items)) => items
                .iter()
                .map(|item| {
                    item.as_str()
                        .map_or_else(|| item.to_string(), str::to_owned)
                })
                .collect(),
            _ => key.lines().map(|line| line.trim().to_owned()).collect(),
        }
    } else {
        vec![key.to_owned()]
    };
    let states = &info["multi_key_status_list"];
    let keys = keys.into_iter().enumerate();
    keys.filter(|(_, secret)| !secret.is_empty())
        .map(|(place, secret)| SourceCredential {
            name: format!("key-{}", place + 1),
            secret,
            paused: states[place.to_string()]
                .as_i64()
                .is_some_and(|state| state != 1),
        })
        .collect()
}

/// What Kling's channels write in ways of their own: pairs of keys, and the path of another gateway.
fn suit(target: &mut VendorTarget, credentials: &mut [SourceCredential]) {
    if target.settings.get("dialect").and_then(Value::as_str) != Some("kling_v1") {
        return;
    }
    let is_gateway = credentials.iter().any(|one| one.secret.starts_with("sk-"));
    if is_gateway && !target.base_url.ends_with("/kling") {
        target.base_url.push_str("/kling");
    }
    for credential in credentials {
        credential.secret = credential.secret.replacen('|', ":", 1);
    }
}
