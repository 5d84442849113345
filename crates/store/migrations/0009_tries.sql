-- Back ends that said they cannot do a job are not asked for it again; workers that failed twice come last.
CREATE INDEX attempt_failed ON attempt (job_id) WHERE state IN ('unable', 'rejected');

-- What a worker has in hand and when it was last given work is counted when it is given more, over all nodes.
CREATE INDEX attempt_in_hand ON attempt (worker) WHERE ended_ms IS NULL;
CREATE INDEX attempt_of_worker ON attempt (worker, began_ms);

-- The schedule of a callback goes by the tries that are known to have failed since it was owed, or asked for again.
ALTER TABLE delivery ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
UPDATE delivery SET failures = attempts WHERE state = 'due';
