-- Results owed to callers' addresses. While one is being sent, next_ms says when the try counts as lost.
CREATE TABLE delivery (
    id TEXT PRIMARY KEY NOT NULL,
    job_id TEXT NOT NULL UNIQUE REFERENCES job (id),
    account_id TEXT NOT NULL REFERENCES account (id),
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('due', 'sending', 'delivered', 'exhausted', 'stopped')),
    attempts BIGINT NOT NULL CHECK (attempts >= 0),
    next_ms BIGINT NOT NULL,
    last_status BIGINT,
    last_error TEXT,
    created_ms BIGINT NOT NULL,
    delivered_ms BIGINT
);
CREATE INDEX delivery_owed ON delivery (next_ms) WHERE state IN ('due', 'sending');
CREATE INDEX delivery_of_account ON delivery (account_id, created_ms, id);

CREATE TABLE delivery_log (
    delivery_id TEXT NOT NULL REFERENCES delivery (id),
    attempt BIGINT NOT NULL,
    time_ms BIGINT NOT NULL,
    status BIGINT,
    error TEXT,
    duration_ms BIGINT NOT NULL,
    answer_start TEXT NOT NULL,
    PRIMARY KEY (delivery_id, attempt)
) {clustered};
