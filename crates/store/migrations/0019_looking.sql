-- apart
-- What a job came to: the jobs that follow it, and the attempts at it.
CREATE INDEX {apart} IF NOT EXISTS job_parent ON job (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX {apart} IF NOT EXISTS attempt_of_job ON attempt (job_id, began_ms);
