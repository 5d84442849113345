//! Statements over what is owed to addresses: the same for callbacks and for notices, each in a table of their own.

/// The statements over one table.
pub(crate) struct DeliveryTexts {
    /// Which routes (an account's deliveries to one host) owe any: from one to the next by the index, however many each owes. The state is
    /// asked for in the words of that index, which is the only one of any use.
    pub(crate) owing: &'static str,
    /// The first ones that are due of each route.
    pub(crate) due_sqlite: &'static str,
    pub(crate) due_postgres: &'static str,
    /// Of those, the ones that nobody else has taken meanwhile. Sums fit no index of what is owed: these few are found by their names, and
    /// all others are left alone.
    pub(crate) take: &'static str,
    /// Has deliveries go where a try has brought them. By their names: the state is compared together with what is told of each, so that
    /// the server starts from those.
    pub(crate) move_on: &'static str,
    /// Writes tries down.
    pub(crate) log: &'static str,
    /// Frees tries that nobody will speak of again.
    pub(crate) free: &'static str,
    /// When the next one is due.
    pub(crate) next_due: &'static str,
}

macro_rules! delivery_texts {
    ($table:literal, $log:literal, $columns:literal) => {
        DeliveryTexts {
            owing: concat!(
                "WITH RECURSIVE owing (found) AS ( \
                   SELECT first.key FROM (SELECT account_id || ' ' || host AS key FROM ", $table, " \
                     WHERE state NOT IN ('delivered', 'exhausted', 'stopped') ORDER BY account_id || ' ' || host LIMIT 1) AS first \
                 UNION ALL \
                   SELECT (SELECT account_id || ' ' || host FROM ", $table, " WHERE state NOT IN ('delivered', 'exhausted', 'stopped') \
                     AND account_id || ' ' || host > owing.found ORDER BY account_id || ' ' || host LIMIT 1) \
                   FROM owing WHERE owing.found IS NOT NULL) \
                 SELECT found FROM owing WHERE found IS NOT NULL"
            ),
            due_sqlite: concat!(
                "SELECT v.value, d.next_ms, d.id FROM json_each($1) AS v, json_each((SELECT \
                   json_group_array(id) FROM (SELECT id FROM ", $table, " WHERE state NOT IN ('delivered', 'exhausted', 'stopped') \
                     AND account_id || ' ' || host = v.value AND next_ms <= $2 ORDER BY next_ms, id LIMIT $3))) AS j \
                 JOIN ", $table, " AS d ON d.id = j.value"
            ),
            due_postgres: concat!(
                "SELECT v.route, d.next_ms, d.id \
                 FROM (SELECT json_array_elements_text($1::json) AS route) AS v \
                 CROSS JOIN LATERAL (SELECT id, next_ms FROM ", $table, " WHERE state NOT IN ('delivered', 'exhausted', 'stopped') \
                   AND account_id || ' ' || host = v.route AND next_ms <= $2 ORDER BY next_ms, id LIMIT $3) AS d"
            ),
            take: concat!(
                "UPDATE ", $table, " SET state = 'sending', attempts = attempts + 1, next_ms = $2 \
                 WHERE id IN (SELECT id FROM ", $table, " WHERE id IN ({list:$3}) \
                   AND state || '' IN ('due', 'sending') AND next_ms + 0 <= $1 {lock free}) \
                 RETURNING ", $columns
            ),
            move_on: concat!(
                "UPDATE ", $table, " SET state = v.state, failures = v.failures, next_ms = v.next_ms, \
                 delivered_ms = v.delivered_ms, last_status = v.status, last_error = v.error \
                 FROM {lines:id text, attempts bigint, state text, failures bigint, next_ms bigint, delivered_ms bigint, \
                 status bigint, error text, duration_ms bigint, answer_start text, now_ms bigint} \
                 WHERE ", $table, ".id = v.id AND CASE WHEN ", $table, ".state = 'sending' THEN ", $table, ".attempts END = v.attempts \
                 RETURNING ", $table, ".id || ' ' || ", $table, ".attempts"
            ),
            log: concat!(
                "INSERT INTO ", $log, " (delivery_id, attempt, time_ms, status, error, duration_ms, answer_start) \
                 SELECT v.id, v.attempts, v.now_ms, v.status, v.error, v.duration_ms, v.answer_start \
                 FROM {lines:id text, attempts bigint, state text, failures bigint, next_ms bigint, delivered_ms bigint, \
                 status bigint, error text, duration_ms bigint, answer_start text, now_ms bigint}"
            ),
            free: concat!(
                "UPDATE ", $table, " SET next_ms = $1 WHERE state = 'sending' AND next_ms > $1"
            ),
            next_due: concat!(
                "SELECT MIN(next_ms) FROM ", $table, " WHERE state IN ('due', 'sending')"
            ),
        }
    };
}

/// Results owed to callers' addresses.
pub(crate) static CALLBACKS: DeliveryTexts = delivery_texts!(
    "delivery",
    "delivery_log",
    "id, job_id, account_id, url, host, state, attempts, failures, next_ms, last_status, last_error, created_ms, delivered_ms"
);

/// Notices owed to whoever subscribed to them.
pub(crate) static NOTICES: DeliveryTexts = delivery_texts!(
    "notice_delivery",
    "notice_log",
    "id, notice_id, subscription_id, account_id, channel, shown, host, state, attempts, failures, next_ms, last_status, last_error, \
     created_ms, delivered_ms"
);
