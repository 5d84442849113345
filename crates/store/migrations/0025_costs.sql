-- What vendors say that they took: with each attempt, in all for each worker account, and against what callers paid for
-- it, by day. All of it changes in the commit that settles the job.
ALTER TABLE attempt ADD COLUMN cost BIGINT CHECK (cost >= 0);
ALTER TABLE attempt ADD COLUMN currency TEXT;
-- The most that a vendor may say it took, in millionths of what it counts in.
ALTER TABLE worker ADD COLUMN cost_cap BIGINT CHECK (cost_cap >= 0);

CREATE TABLE worker_cost (
    worker_id TEXT NOT NULL,
    currency TEXT NOT NULL,
    cost BIGINT NOT NULL CHECK (cost >= 0),
    PRIMARY KEY (worker_id, currency)
) {clustered};

-- An empty currency is what was made without a word about its cost.
CREATE TABLE margin (
    day BIGINT NOT NULL,
    vendor TEXT NOT NULL,
    operation TEXT NOT NULL,
    currency TEXT NOT NULL,
    jobs BIGINT NOT NULL CHECK (jobs >= 0),
    quota BIGINT NOT NULL CHECK (quota >= 0),
    cost BIGINT NOT NULL CHECK (cost >= 0),
    PRIMARY KEY (day, vendor, operation, currency)
) {clustered};
