-- widens
-- Plans, each with all its revisions, as groups have them. An account has one at most; each of its periods gives quota once, whoever
-- renews it.
CREATE TABLE plan (
    name_key TEXT NOT NULL,
    revision BIGINT NOT NULL CHECK (revision > 0),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    removed BOOLEAN NOT NULL,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (name_key, revision)
) {clustered};

-- The plan of an account, and the revision that this period goes by. `first_ms` is what its periods are counted from. One that is to
-- begin later has a period that gives nothing.
CREATE TABLE account_plan (
    account_id TEXT PRIMARY KEY NOT NULL REFERENCES account (id),
    plan_key TEXT NOT NULL,
    revision BIGINT NOT NULL,
    next_key TEXT,
    ends BIGINT NOT NULL CHECK (ends IN (0, 1)),
    first_ms BIGINT NOT NULL,
    from_ms BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    begun BIGINT NOT NULL CHECK (begun IN (0, 1)),
    group_key TEXT,
    group_before TEXT,
    CHECK (until_ms >= from_ms)
);
CREATE INDEX account_plan_due ON account_plan (until_ms);
CREATE INDEX account_plan_of ON account_plan (plan_key);
CREATE INDEX account_plan_next ON account_plan (next_key) WHERE next_key IS NOT NULL;

-- What plans gave, once for each beginning.
CREATE TABLE plan_period (
    account_id TEXT NOT NULL,
    from_ms BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    plan_key TEXT NOT NULL,
    revision BIGINT NOT NULL,
    quota BIGINT NOT NULL CHECK (quota >= 0),
    ledger_id TEXT NOT NULL,
    PRIMARY KEY (account_id, from_ms, plan_key)
) {clustered};

-- only sqlite
CREATE TRIGGER plan_kept BEFORE UPDATE ON plan
BEGIN SELECT RAISE(ABORT, 'a revision of a plan never changes'); END;
CREATE TRIGGER plan_stays BEFORE DELETE ON plan
BEGIN SELECT RAISE(ABORT, 'a revision of a plan never goes'); END;
CREATE TRIGGER plan_period_kept BEFORE UPDATE ON plan_period
BEGIN SELECT RAISE(ABORT, 'what a plan gave never changes'); END;
CREATE TRIGGER plan_period_stays BEFORE DELETE ON plan_period
BEGIN SELECT RAISE(ABORT, 'what a plan gave never goes'); END;
-- only postgres
CREATE TRIGGER plan_kept BEFORE UPDATE ON plan FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a plan never changes');
CREATE TRIGGER plan_stays BEFORE DELETE ON plan FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a plan never goes');
CREATE TRIGGER plan_period_kept BEFORE UPDATE ON plan_period FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a plan gave never changes');
CREATE TRIGGER plan_period_stays BEFORE DELETE ON plan_period FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a plan gave never goes');
