-- Jobs, the counters of unfinished ones, attempts at back ends, and remembered calls.
CREATE TABLE job (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    operation TEXT NOT NULL,
    queue TEXT NOT NULL,
    state BIGINT NOT NULL CHECK (state BETWEEN 0 AND 3),
    speed BIGINT NOT NULL,
    progress BIGINT NOT NULL CHECK (progress BETWEEN 0 AND 100),
    message TEXT,
    request TEXT NOT NULL,
    output TEXT,
    price BIGINT NOT NULL CHECK (price >= 0),
    quota BIGINT NOT NULL CHECK (quota BETWEEN 0 AND price),
    parent_id TEXT,
    alias TEXT,
    hook_url TEXT,
    created_ms BIGINT NOT NULL,
    started_ms BIGINT,
    finished_ms BIGINT,
    deadline_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    turn_ms BIGINT NOT NULL,
    not_before_ms BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    lease_owner TEXT,
    lease_until_ms BIGINT,
    tries BIGINT NOT NULL,
    attempt_id TEXT,
    worker TEXT,
    CHECK ((state >= 2) = (finished_ms IS NOT NULL)),
    CHECK ((state = 1) = (lease_owner IS NOT NULL)),
    CHECK ((state = 2) = (output IS NOT NULL)),
    CHECK (state = 2 OR quota = 0)
);
CREATE INDEX job_of_account ON job (account_id, created_ms, id);
CREATE INDEX job_waiting ON job (turn_ms, id) WHERE state = 0;
CREATE INDEX job_running ON job (lease_until_ms) WHERE state = 1;
CREATE INDEX job_unfinished ON job (deadline_ms) WHERE state < 2;
CREATE INDEX job_used ON job (account_id, finished_ms) WHERE state = 2;
CREATE INDEX job_durations ON job (operation, speed, finished_ms) WHERE state = 2;
CREATE INDEX job_alias ON job (account_id, alias) WHERE alias IS NOT NULL;

CREATE TABLE in_flight (
    account_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    jobs BIGINT NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (account_id, queue)
) {clustered};

CREATE TABLE attempt (
    id TEXT PRIMARY KEY NOT NULL,
    job_id TEXT NOT NULL REFERENCES job (id),
    worker TEXT NOT NULL,
    state TEXT NOT NULL,
    ticket TEXT,
    why TEXT,
    began_ms BIGINT NOT NULL,
    submitted_ms BIGINT,
    ended_ms BIGINT
);
-- A job has at most one live attempt.
CREATE UNIQUE INDEX attempt_live ON attempt (job_id) WHERE ended_ms IS NULL;

CREATE TABLE idempotency (
    account_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    job_id TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, key)
) {clustered};
CREATE INDEX idempotency_by_time ON idempotency (created_ms);

-- only sqlite
CREATE TRIGGER job_final BEFORE UPDATE ON job WHEN OLD.state >= 2
BEGIN SELECT RAISE(ABORT, 'a final job never changes'); END;
-- only postgres
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$;
CREATE TRIGGER job_final BEFORE UPDATE ON job FOR EACH ROW WHEN (OLD.state >= 2)
EXECUTE FUNCTION refuse_change('a final job never changes');
