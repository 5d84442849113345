-- apart
-- widens
-- Failed jobs whose words are still there, by when they failed.
CREATE INDEX {apart} IF NOT EXISTS job_failed_words ON job (finished_ms)
    WHERE state = 3 AND deleted_ms IS NULL AND COALESCE(request_bytes, 1) > 0;
