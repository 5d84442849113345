-- widens
-- What callers do to their own account (keys, hosted accounts, secrets, sessions) is a list of the account. Operators' acts stay
-- in theirs, with the callers' acts from before this.
CREATE TABLE account_act (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL,
    time_ms BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX account_act_listed ON account_act (account_id, time_ms, id);
CREATE INDEX account_act_by_time ON account_act (time_ms);
