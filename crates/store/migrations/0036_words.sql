-- widens
-- Words and parameters of jobs are stored bytes as well, and so is what batches were told. What is kept of them for an account is
-- counted with the account, in the commit that keeps or removes them; of rows from before this it is not known, and not counted.
ALTER TABLE account ADD COLUMN words BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN request_bytes BIGINT;
ALTER TABLE bulk ADD COLUMN bytes BIGINT;

-- A final job never changes, but its words may be removed: with the job, or of a failed job after a while. What it was, when, why
-- it failed and what it cost stays.
-- only sqlite
DROP TRIGGER job_final;
CREATE TRIGGER job_final BEFORE UPDATE ON job WHEN OLD.state >= 2 AND (OLD.deleted_ms IS NOT NULL
    OR NEW.id <> OLD.id OR NEW.account_id <> OLD.account_id OR NEW.state <> OLD.state
    OR NEW.operation <> OLD.operation OR NEW.price <> OLD.price OR NEW.quota <> OLD.quota
    OR NEW.created_ms <> OLD.created_ms OR NEW.finished_ms <> OLD.finished_ms
    OR (NEW.deleted_ms IS NULL AND (OLD.state <> 3 OR COALESCE(OLD.request_bytes, 1) = 0
        OR NEW.request_bytes IS NOT 0 OR LENGTH(NEW.request) > 16 OR NEW.message IS NOT OLD.message
        OR NEW.parent_id IS NOT OLD.parent_id OR NEW.hook_url IS NOT OLD.hook_url OR NEW.revision <> OLD.revision)))
BEGIN SELECT RAISE(ABORT, 'a final job never changes'); END;

-- only postgres
DROP TRIGGER job_final ON job;
CREATE TRIGGER job_final BEFORE UPDATE ON job FOR EACH ROW WHEN (OLD.state >= 2 AND (OLD.deleted_ms IS NOT NULL
    OR NEW.id <> OLD.id OR NEW.account_id <> OLD.account_id OR NEW.state <> OLD.state
    OR NEW.operation <> OLD.operation OR NEW.price <> OLD.price OR NEW.quota <> OLD.quota
    OR NEW.created_ms <> OLD.created_ms OR NEW.finished_ms <> OLD.finished_ms
    OR (NEW.deleted_ms IS NULL AND (OLD.state <> 3 OR COALESCE(OLD.request_bytes, 1) = 0
        OR NEW.request_bytes IS DISTINCT FROM 0 OR LENGTH(NEW.request) > 16 OR NEW.message IS DISTINCT FROM OLD.message
        OR NEW.parent_id IS DISTINCT FROM OLD.parent_id OR NEW.hook_url IS DISTINCT FROM OLD.hook_url
        OR NEW.revision <> OLD.revision))))
EXECUTE FUNCTION refuse_change('a final job never changes');
