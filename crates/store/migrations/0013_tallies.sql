-- How many jobs an account finished, by the day they were created on, and what it used, by the hour they finished in:
-- lists and usage add these up instead of counting jobs. They change in the commit that ends a job, whoever ends it.
CREATE TABLE tally (
    account_id TEXT NOT NULL,
    day BIGINT NOT NULL,
    operation TEXT NOT NULL,
    state BIGINT NOT NULL CHECK (state IN (2, 3)),
    jobs BIGINT NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (account_id, day, operation, state)
) {clustered};
CREATE TABLE spent (
    account_id TEXT NOT NULL,
    hour BIGINT NOT NULL,
    operation TEXT NOT NULL,
    jobs BIGINT NOT NULL CHECK (jobs >= 0),
    quota BIGINT NOT NULL CHECK (quota >= 0),
    PRIMARY KEY (account_id, hour, operation)
) {clustered};

-- only sqlite
CREATE TRIGGER job_counted AFTER UPDATE OF state ON job WHEN OLD.state < 2 AND NEW.state >= 2
BEGIN
    INSERT INTO tally (account_id, day, operation, state, jobs)
    VALUES (NEW.account_id, NEW.created_ms / 86400000, NEW.operation, NEW.state, 1)
    ON CONFLICT (account_id, day, operation, state) DO UPDATE SET jobs = tally.jobs + 1;
    INSERT INTO spent (account_id, hour, operation, jobs, quota)
    SELECT NEW.account_id, NEW.finished_ms / 3600000, NEW.operation, 1, NEW.quota WHERE NEW.state = 2
    ON CONFLICT (account_id, hour, operation)
    DO UPDATE SET jobs = spent.jobs + 1, quota = spent.quota + excluded.quota;
END;

-- only postgres
CREATE FUNCTION count_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tally (account_id, day, operation, state, jobs)
    VALUES (NEW.account_id, NEW.created_ms / 86400000, NEW.operation, NEW.state, 1)
    ON CONFLICT (account_id, day, operation, state) DO UPDATE SET jobs = tally.jobs + 1;
    IF NEW.state = 2 THEN
        INSERT INTO spent (account_id, hour, operation, jobs, quota)
        VALUES (NEW.account_id, NEW.finished_ms / 3600000, NEW.operation, 1, NEW.quota)
        ON CONFLICT (account_id, hour, operation)
        DO UPDATE SET jobs = spent.jobs + 1, quota = spent.quota + excluded.quota;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER job_counted AFTER UPDATE OF state ON job FOR EACH ROW
WHEN (OLD.state < 2 AND NEW.state >= 2) EXECUTE FUNCTION count_job();

-- only both
INSERT INTO tally (account_id, day, operation, state, jobs)
SELECT account_id, created_ms / 86400000, operation, state, COUNT(*) FROM job WHERE state >= 2 GROUP BY 1, 2, 3, 4;
INSERT INTO spent (account_id, hour, operation, jobs, quota)
SELECT account_id, finished_ms / 3600000, operation, COUNT(*), SUM(quota) FROM job WHERE state = 2 GROUP BY 1, 2, 3;
