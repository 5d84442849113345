-- A final job never changes, but its words may be removed, once: what it was, when and what it cost stays.
ALTER TABLE job ADD COLUMN deleted_ms BIGINT;

-- only sqlite
DROP TRIGGER job_final;
CREATE TRIGGER job_final BEFORE UPDATE ON job WHEN OLD.state >= 2 AND (NEW.deleted_ms IS NULL
    OR OLD.deleted_ms IS NOT NULL OR NEW.id <> OLD.id OR NEW.account_id <> OLD.account_id OR NEW.state <> OLD.state
    OR NEW.operation <> OLD.operation OR NEW.price <> OLD.price OR NEW.quota <> OLD.quota
    OR NEW.created_ms <> OLD.created_ms OR NEW.finished_ms <> OLD.finished_ms)
BEGIN SELECT RAISE(ABORT, 'a final job never changes'); END;
CREATE TRIGGER job_uncounted AFTER UPDATE OF deleted_ms ON job
WHEN OLD.deleted_ms IS NULL AND NEW.deleted_ms IS NOT NULL
BEGIN
    UPDATE tally SET jobs = jobs - 1 WHERE account_id = NEW.account_id AND day = NEW.created_ms / 86400000
    AND operation = NEW.operation AND state = NEW.state;
END;

-- only postgres
DROP TRIGGER job_final ON job;
CREATE TRIGGER job_final BEFORE UPDATE ON job FOR EACH ROW WHEN (OLD.state >= 2 AND (NEW.deleted_ms IS NULL
    OR OLD.deleted_ms IS NOT NULL OR NEW.id <> OLD.id OR NEW.account_id <> OLD.account_id OR NEW.state <> OLD.state
    OR NEW.operation <> OLD.operation OR NEW.price <> OLD.price OR NEW.quota <> OLD.quota
    OR NEW.created_ms <> OLD.created_ms OR NEW.finished_ms <> OLD.finished_ms))
EXECUTE FUNCTION refuse_change('a final job never changes');
CREATE FUNCTION uncount_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tally SET jobs = jobs - 1 WHERE account_id = NEW.account_id AND day = NEW.created_ms / 86400000
    AND operation = NEW.operation AND state = NEW.state;
    RETURN NULL;
END $$;
CREATE TRIGGER job_uncounted AFTER UPDATE OF deleted_ms ON job FOR EACH ROW
WHEN (OLD.deleted_ms IS NULL AND NEW.deleted_ms IS NOT NULL) EXECUTE FUNCTION uncount_job();
