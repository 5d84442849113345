-- Old ledger rows may be moved to files. What an account had after the last row that was moved is kept here, so that its
-- balance is this and the sum of what is left; the hash is that of the file which holds that row. All rows that were moved
-- are from before a time.
CREATE TABLE ledger_checkpoint (
    account_id TEXT PRIMARY KEY NOT NULL REFERENCES account (id),
    number BIGINT NOT NULL CHECK (number > 0),
    balance BIGINT NOT NULL CHECK (balance >= 0),
    frozen BIGINT NOT NULL CHECK (frozen >= 0),
    before_ms BIGINT NOT NULL,
    hash TEXT NOT NULL,
    time_ms BIGINT NOT NULL
);

-- The files, and the time before which jobs had to have ended to be moved.
CREATE TABLE archive_file (
    name TEXT PRIMARY KEY NOT NULL,
    hash TEXT NOT NULL,
    before_ms BIGINT NOT NULL,
    jobs BIGINT NOT NULL,
    entries BIGINT NOT NULL,
    time_ms BIGINT NOT NULL
);
CREATE INDEX archive_file_before ON archive_file (before_ms);

-- Keys of credits outlive their ledger rows, so that none is ever given twice.
CREATE TABLE archived_credit (
    account_id TEXT NOT NULL REFERENCES account (id),
    key TEXT NOT NULL,
    amount BIGINT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (account_id, key)
) {clustered};

-- A ledger row goes only when a checkpoint stands for it.
-- only sqlite
DROP TRIGGER ledger_stays;
CREATE TRIGGER ledger_stays BEFORE DELETE ON ledger
WHEN OLD.number > COALESCE((SELECT number FROM ledger_checkpoint WHERE account_id = OLD.account_id), 0)
BEGIN SELECT RAISE(ABORT, 'a ledger row never goes'); END;
-- only postgres
CREATE FUNCTION keep_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.number > COALESCE((SELECT number FROM ledger_checkpoint WHERE account_id = OLD.account_id), 0) THEN
        RAISE EXCEPTION 'a ledger row never goes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;
DROP TRIGGER ledger_stays ON ledger;
CREATE TRIGGER ledger_stays BEFORE DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION keep_entry();
-- What is archived is taken together with its job. That nothing else refers to a job which is gone is the auditor's to
-- ask: the constraint would read whole tables for every job that goes.
ALTER TABLE ledger DROP CONSTRAINT IF EXISTS ledger_job_id_fkey;
ALTER TABLE attempt DROP CONSTRAINT IF EXISTS attempt_job_id_fkey;
