-- widens
-- Who spends on what: a job and its ledger rows name the key that it came by, the model that it names and, of a job, the tags and the
-- end user that its caller gave it. A key that another one made names those above it, the first one first. Jobs from before this,
-- and those that programs of the release before accept beside newer ones, say nothing of it.
ALTER TABLE job ADD COLUMN key_id TEXT;
ALTER TABLE job ADD COLUMN key_above TEXT;
ALTER TABLE job ADD COLUMN member_id TEXT;
ALTER TABLE job ADD COLUMN used_model TEXT;
ALTER TABLE job ADD COLUMN tags TEXT;
ALTER TABLE job ADD COLUMN end_user TEXT;
-- The moment at which it counts in the windows of its keys, where that is not when it was created: a window that has ended stays so.
ALTER TABLE job ADD COLUMN counted_ms BIGINT;
ALTER TABLE ledger ADD COLUMN key_id TEXT;
ALTER TABLE ledger ADD COLUMN member_id TEXT;
ALTER TABLE ledger ADD COLUMN used_model TEXT;

-- What keys consumed, by the hour in which the jobs ended, and by the day on which they count in windows.
CREATE TABLE used (
    account_id TEXT NOT NULL,
    hour BIGINT NOT NULL,
    key_id TEXT NOT NULL,
    member_id TEXT NOT NULL,
    model TEXT NOT NULL,
    operation TEXT NOT NULL,
    day BIGINT NOT NULL,
    key_above TEXT NOT NULL,
    jobs BIGINT NOT NULL CHECK (jobs >= 0),
    quota BIGINT NOT NULL CHECK (quota >= 0),
    PRIMARY KEY (account_id, hour, key_id, member_id, model, operation, day)
) {clustered};

-- What a key may spend and do; the keys above it, the first one first, and the last of them. A key that was replaced by a new secret
-- is a row of its own that ends soon and stands for the key whose secret it was.
ALTER TABLE api_key ADD COLUMN parent_id TEXT;
ALTER TABLE api_key ADD COLUMN above TEXT;
ALTER TABLE api_key ADD COLUMN stands_for TEXT;
ALTER TABLE api_key ADD COLUMN limits TEXT;
ALTER TABLE api_key ADD COLUMN max_queue BIGINT;
ALTER TABLE api_key ADD COLUMN rules TEXT;
ALTER TABLE api_key ADD COLUMN note TEXT;
-- Those that work, however many have ended.
CREATE INDEX api_key_ends ON api_key (account_id, expires_ms) WHERE revoked_ms IS NULL;
-- How many keys of an account count in windows. Programs from before this count nothing there: the commit that makes it more than
-- none has them refuse to start (the `widens` of this migration becomes 0), and waits until none of them is at work.
ALTER TABLE account ADD COLUMN counting_keys BIGINT;

-- What a key and those below it hold and have spent in a window: of a limit, or of the unfinished jobs of a queue.
CREATE TABLE key_window (
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    span TEXT NOT NULL,
    from_ms BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    held BIGINT NOT NULL CHECK (held >= 0),
    spent BIGINT NOT NULL CHECK (spent >= 0),
    open BIGINT NOT NULL CHECK (open >= 0),
    PRIMARY KEY (account_id, key_id, span, from_ms)
) {clustered};
CREATE INDEX key_window_ended ON key_window (until_ms);

-- only sqlite
CREATE TRIGGER job_used AFTER UPDATE OF state ON job
WHEN NEW.state = 2 AND OLD.state < 2 AND (NEW.key_id IS NOT NULL OR NEW.member_id IS NOT NULL)
BEGIN
    INSERT INTO used (account_id, hour, key_id, member_id, model, operation, day, key_above, jobs, quota)
    VALUES (NEW.account_id, NEW.finished_ms / 3600000, COALESCE(NEW.key_id, ''), COALESCE(NEW.member_id, ''),
        COALESCE(NEW.used_model, ''), NEW.operation, COALESCE(NEW.counted_ms, NEW.created_ms) / 86400000,
        COALESCE(NEW.key_above, ''), 1, NEW.quota)
    ON CONFLICT (account_id, hour, key_id, member_id, model, operation, day)
    DO UPDATE SET jobs = used.jobs + 1, quota = used.quota + excluded.quota;
END;

-- only postgres
CREATE FUNCTION use_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO used (account_id, hour, key_id, member_id, model, operation, day, key_above, jobs, quota)
    VALUES (NEW.account_id, NEW.finished_ms / 3600000, COALESCE(NEW.key_id, ''), COALESCE(NEW.member_id, ''),
        COALESCE(NEW.used_model, ''), NEW.operation, COALESCE(NEW.counted_ms, NEW.created_ms) / 86400000,
        COALESCE(NEW.key_above, ''), 1, NEW.quota)
    ON CONFLICT (account_id, hour, key_id, member_id, model, operation, day)
    DO UPDATE SET jobs = used.jobs + 1, quota = used.quota + excluded.quota;
    RETURN NULL;
END $$;
CREATE TRIGGER job_used AFTER UPDATE OF state ON job FOR EACH ROW
WHEN (NEW.state = 2 AND OLD.state < 2 AND (NEW.key_id IS NOT NULL OR NEW.member_id IS NOT NULL)) EXECUTE FUNCTION use_job();
