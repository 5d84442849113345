-- apart
-- The unfinished jobs of an account, which are counted one by one because they are few.
CREATE INDEX {apart} IF NOT EXISTS job_open ON job (account_id, created_ms) WHERE state < 2;
