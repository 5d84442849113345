-- Files, acts of operators, shared settings and living nodes.
CREATE TABLE asset (
    key TEXT PRIMARY KEY NOT NULL,
    job_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    expires_ms BIGINT NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX asset_by_expiry ON asset (expires_ms);

CREATE TABLE audit (
    id TEXT PRIMARY KEY NOT NULL,
    time_ms BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (time_ms, id);

CREATE TABLE setting (
    name TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) {clustered};

CREATE TABLE node (
    id TEXT PRIMARY KEY NOT NULL,
    started_ms BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL,
    detail TEXT NOT NULL
) {clustered};
