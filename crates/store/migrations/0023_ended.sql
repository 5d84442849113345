-- apart
-- Jobs of an account by when they ended, however that was: what events look for, and what usage adds up.
CREATE INDEX {apart} IF NOT EXISTS job_ended ON job (account_id, finished_ms) WHERE finished_ms IS NOT NULL;
DROP INDEX {apart} IF EXISTS job_used;
