-- widens
-- Notices: what accounts, or operators where no account is named, are told before it hurts. One has its name by what it is about and the
-- window that it is in, so that it is there once, whichever node notices it. It is spread over whoever subscribed to its kind, and what is
-- owed to each address is sent as callbacks are.
CREATE TABLE notice (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    window_ms BIGINT NOT NULL,
    since_ms BIGINT NOT NULL,
    facts TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    spread_ms BIGINT
);
CREATE INDEX notice_listed ON notice (account_id, created_ms, id);
CREATE INDEX notice_fresh ON notice (created_ms, id) WHERE spread_ms IS NULL;
CREATE INDEX notice_by_time ON notice (created_ms);

CREATE TABLE notice_subscription (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL,
    member_id TEXT,
    kind TEXT,
    channel TEXT NOT NULL,
    shown TEXT NOT NULL,
    host TEXT NOT NULL,
    quiet TEXT,
    language TEXT NOT NULL,
    below BIGINT,
    jobs BIGINT NOT NULL,
    low_ms BIGINT,
    created_ms BIGINT NOT NULL
);
CREATE INDEX notice_subscription_of ON notice_subscription (account_id, created_ms, id);
CREATE INDEX notice_subscription_below ON notice_subscription (id) WHERE below IS NOT NULL;

-- What is owed to addresses. While one is being sent, next_ms says when the try counts as lost.
CREATE TABLE notice_delivery (
    id TEXT PRIMARY KEY NOT NULL,
    notice_id TEXT NOT NULL REFERENCES notice (id),
    subscription_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    shown TEXT NOT NULL,
    host TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('due', 'sending', 'delivered', 'exhausted', 'stopped')),
    attempts BIGINT NOT NULL CHECK (attempts >= 0),
    failures BIGINT NOT NULL,
    next_ms BIGINT NOT NULL,
    last_status BIGINT,
    last_error TEXT,
    created_ms BIGINT NOT NULL,
    delivered_ms BIGINT
);
CREATE UNIQUE INDEX notice_delivery_once ON notice_delivery (notice_id, subscription_id);
CREATE INDEX notice_delivery_owed ON notice_delivery (next_ms) WHERE state IN ('due', 'sending');
CREATE INDEX notice_delivery_lane ON notice_delivery ((account_id || ' ' || host), next_ms, id)
    WHERE state NOT IN ('delivered', 'exhausted', 'stopped');
CREATE INDEX notice_delivery_for ON notice_delivery (subscription_id);

CREATE TABLE notice_log (
    delivery_id TEXT NOT NULL REFERENCES notice_delivery (id),
    attempt BIGINT NOT NULL,
    time_ms BIGINT NOT NULL,
    status BIGINT,
    error TEXT,
    duration_ms BIGINT NOT NULL,
    answer_start TEXT NOT NULL,
    PRIMARY KEY (delivery_id, attempt)
) {clustered};
