-- widens
-- Whether a job was submitted together with others: such work leaves room to an account's other calls.
ALTER TABLE job ADD COLUMN batched BIGINT;
