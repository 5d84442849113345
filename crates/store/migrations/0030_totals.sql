-- widens
-- How many jobs an account finished in all: the first page of a list tells it without adding up the account's days. It changes
-- with them, in the same commit: it grows when a job ends, and falls where a day falls, whoever lowers it. How often it fell is
-- counted too: while that and a number of jobs stay the same, they are the same jobs.
CREATE TABLE tally_total (
    account_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    state BIGINT NOT NULL CHECK (state IN (2, 3)),
    jobs BIGINT NOT NULL CHECK (jobs >= 0),
    falls BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, operation, state)
) {clustered};

-- only sqlite
CREATE TRIGGER job_totalled AFTER UPDATE OF state ON job WHEN OLD.state < 2 AND NEW.state >= 2
BEGIN
    INSERT INTO tally_total (account_id, operation, state, jobs)
    VALUES (NEW.account_id, NEW.operation, NEW.state, 1)
    ON CONFLICT (account_id, operation, state) DO UPDATE SET jobs = tally_total.jobs + 1;
END;
CREATE TRIGGER tally_lowered AFTER UPDATE OF jobs ON tally WHEN NEW.jobs < OLD.jobs
BEGIN
    UPDATE tally_total SET jobs = jobs - (OLD.jobs - NEW.jobs), falls = falls + 1 WHERE account_id = NEW.account_id
    AND operation = NEW.operation AND state = NEW.state;
END;

-- only postgres
CREATE FUNCTION total_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tally_total (account_id, operation, state, jobs)
    VALUES (NEW.account_id, NEW.operation, NEW.state, 1)
    ON CONFLICT (account_id, operation, state) DO UPDATE SET jobs = tally_total.jobs + 1;
    RETURN NULL;
END $$;
CREATE FUNCTION lower_total() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tally_total SET jobs = jobs - (OLD.jobs - NEW.jobs), falls = falls + 1 WHERE account_id = NEW.account_id
    AND operation = NEW.operation AND state = NEW.state;
    RETURN NULL;
END $$;
-- From here on whoever ends a job waits, so that none is missed by the sum. Jobs come first, as for everybody else.
CREATE TRIGGER job_totalled AFTER UPDATE OF state ON job FOR EACH ROW
WHEN (OLD.state < 2 AND NEW.state >= 2) EXECUTE FUNCTION total_job();
CREATE TRIGGER tally_lowered AFTER UPDATE OF jobs ON tally FOR EACH ROW
WHEN (NEW.jobs < OLD.jobs) EXECUTE FUNCTION lower_total();

-- only both
INSERT INTO tally_total (account_id, operation, state, jobs)
SELECT account_id, operation, state, SUM(jobs) FROM tally GROUP BY 1, 2, 3;
