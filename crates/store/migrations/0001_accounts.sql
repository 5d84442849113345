-- Accounts and their keys. `entries` counts the ledger rows of an account, so that they have an order.
CREATE TABLE account (
    id TEXT PRIMARY KEY NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    email_verified_ms BIGINT,
    balance BIGINT NOT NULL CHECK (balance >= 0),
    frozen BIGINT NOT NULL CHECK (frozen >= 0),
    max_queue BIGINT NOT NULL CHECK (max_queue >= 0),
    entries BIGINT NOT NULL CHECK (entries >= 0),
    disabled BOOLEAN NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX account_by_time ON account (created_ms, id);

CREATE TABLE api_key (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    last_used_ms BIGINT,
    expires_ms BIGINT,
    revoked_ms BIGINT
);
CREATE INDEX api_key_of_account ON api_key (account_id, created_ms);
