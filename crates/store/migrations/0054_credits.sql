-- widens
-- Quota that ends. What never ends has no row: it is what an account has besides its credits. A credit has the id of the ledger row
-- that granted it, and goes into what is left, held by unfinished jobs, spent and lapsed. One that has ended takes nothing back: what a
-- job returns to it lapses. One that `stays` is ended by the renewal of its plan and by nothing else; while one is open that is
-- `alone`, nothing but credits of plans can be spent. Programs from before this know of no credits and would spend what has ended:
-- the commit that makes the first one has them refuse to start (the `widens` of this migration becomes 0), and waits until none of
-- them is at work.
CREATE TABLE credit (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    source TEXT NOT NULL CHECK (source IN ('voucher', 'payment', 'plan', 'import', 'grant')),
    amount BIGINT NOT NULL CHECK (amount > 0),
    remaining BIGINT NOT NULL CHECK (remaining >= 0),
    held BIGINT NOT NULL CHECK (held >= 0),
    spent BIGINT NOT NULL CHECK (spent >= 0),
    lapsed BIGINT NOT NULL CHECK (lapsed >= 0),
    expires_ms BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    stays BIGINT NOT NULL CHECK (stays IN (0, 1)),
    alone BIGINT NOT NULL CHECK (alone IN (0, 1)),
    origin TEXT NOT NULL,
    CHECK (amount = remaining + held + spent + lapsed),
    CHECK (ended_ms IS NULL OR remaining = 0)
);
CREATE INDEX credit_of_account ON credit (account_id, expires_ms);
CREATE INDEX credit_open ON credit (account_id) WHERE ended_ms IS NULL OR held > 0;
CREATE INDEX credit_due ON credit (expires_ms) WHERE ended_ms IS NULL AND stays = 0;

-- What the hold of an unfinished job took of each credit; the rest of its price is of what never ends. What was held before the
-- credit's plan was renewed lapses when it comes back, though something of the credit went over.
CREATE TABLE hold_part (
    job_id TEXT NOT NULL,
    credit_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    lapses BIGINT NOT NULL CHECK (lapses IN (0, 1)),
    PRIMARY KEY (job_id, credit_id)
) {clustered};
CREATE INDEX hold_part_of_credit ON hold_part (credit_id);

-- How many open credits an account has: whoever has none is asked about none.
ALTER TABLE account ADD COLUMN credits BIGINT;
-- What an adjustment is, where that is not an operator's correction: `expire`, of a credit that ended.
ALTER TABLE ledger ADD COLUMN cause TEXT;

-- only sqlite
CREATE TRIGGER credit_kept BEFORE UPDATE OF id, account_id, source, amount, created_ms ON credit
BEGIN SELECT RAISE(ABORT, 'what a credit is never changes'); END;
CREATE TRIGGER credit_stays BEFORE DELETE ON credit
BEGIN SELECT RAISE(ABORT, 'a credit never goes'); END;
-- only postgres
CREATE TRIGGER credit_kept BEFORE UPDATE OF id, account_id, source, amount, created_ms ON credit FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a credit is never changes');
CREATE TRIGGER credit_stays BEFORE DELETE ON credit FOR EACH ROW
EXECUTE FUNCTION refuse_change('a credit never goes');
