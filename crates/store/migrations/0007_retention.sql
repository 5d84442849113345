-- What old rows are found by when they are deleted.
CREATE INDEX delivery_log_by_time ON delivery_log (time_ms);
CREATE INDEX attempt_ended ON attempt (ended_ms) WHERE ended_ms IS NOT NULL;
