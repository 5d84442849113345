-- apart
-- widens
-- Jobs of an account that have ended, by how and by when they came, with what a list asks of each: a page in the middle of a
-- long day is found without reading the jobs before it.
CREATE INDEX {apart} IF NOT EXISTS job_listed ON job (account_id, state, created_ms, id, operation, deleted_ms)
    WHERE state >= 2 AND deleted_ms IS NULL;
