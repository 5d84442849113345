-- Back ends and the worker accounts at them, and what a job says about where it may run.
CREATE TABLE backend (
    id TEXT PRIMARY KEY NOT NULL,
    owner TEXT REFERENCES account (id),
    name TEXT NOT NULL,
    vendor TEXT NOT NULL,
    base_url TEXT NOT NULL,
    settings TEXT NOT NULL,
    operations TEXT NOT NULL,
    rank BIGINT NOT NULL,
    enabled BOOLEAN NOT NULL,
    declared BOOLEAN NOT NULL,
    created_ms BIGINT NOT NULL,
    revision BIGINT NOT NULL
);
-- Operators tell their back ends apart by name; callers' own are told apart by identifier.
CREATE UNIQUE INDEX backend_name ON backend (name) WHERE owner IS NULL;

CREATE TABLE worker (
    id TEXT PRIMARY KEY NOT NULL,
    backend_id TEXT NOT NULL REFERENCES backend (id),
    owner TEXT REFERENCES account (id),
    name TEXT NOT NULL,
    credential TEXT NOT NULL,
    concurrency BIGINT NOT NULL CHECK (concurrency >= 0),
    per_minute BIGINT NOT NULL CHECK (per_minute >= 0),
    per_hour BIGINT NOT NULL CHECK (per_hour >= 0),
    polls_per_minute BIGINT NOT NULL CHECK (polls_per_minute >= 0),
    weight BIGINT NOT NULL CHECK (weight >= 1),
    models TEXT NOT NULL,
    modes TEXT NOT NULL,
    hours TEXT NOT NULL,
    spend_cap BIGINT CHECK (spend_cap >= 0),
    spent BIGINT NOT NULL CHECK (spent >= 0),
    state TEXT NOT NULL CHECK (state IN ('active', 'draining', 'paused')),
    health TEXT NOT NULL,
    health_ms BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    revision BIGINT NOT NULL
);
CREATE INDEX worker_of_backend ON worker (backend_id, created_ms);
CREATE INDEX worker_of_account ON worker (owner, created_ms) WHERE owner IS NOT NULL;

-- The starts of the last hour pace a worker account, also after a restart and across nodes.
CREATE INDEX attempt_begun ON attempt (began_ms);

-- Where a job may run: empty for any back end of the operator's.
ALTER TABLE job ADD COLUMN lane TEXT NOT NULL DEFAULT '';
-- The worker account that made the job it follows.
ALTER TABLE job ADD COLUMN follows TEXT;
-- Leases that were given back without a try, or that took up an earlier try.
ALTER TABLE job ADD COLUMN handed_back BIGINT NOT NULL DEFAULT 0;
