-- What callers submitted together: which request became which job, and which was refused for what.
CREATE TABLE bulk (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    items TEXT NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX bulk_by_time ON bulk (created_ms);
CREATE INDEX bulk_of_account ON bulk (account_id);
