-- The ledger. Append-only; a job has one hold, and a hold resolves once.
CREATE TABLE ledger (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    number BIGINT NOT NULL,
    job_id TEXT REFERENCES job (id),
    kind TEXT NOT NULL CHECK (kind IN ('grant', 'adjust', 'hold', 'capture', 'release')),
    amount BIGINT NOT NULL,
    balance_delta BIGINT NOT NULL,
    frozen_delta BIGINT NOT NULL,
    balance_after BIGINT NOT NULL CHECK (balance_after >= 0),
    frozen_after BIGINT NOT NULL CHECK (frozen_after >= 0),
    reason TEXT NOT NULL,
    idempotency_key TEXT,
    time_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, number),
    CHECK ((kind IN ('grant', 'adjust')) = (job_id IS NULL)),
    CHECK (kind NOT IN ('grant', 'adjust') OR (balance_delta = amount AND frozen_delta = 0)),
    CHECK (kind <> 'hold' OR (amount >= 0 AND balance_delta = -amount AND frozen_delta = amount)),
    CHECK (kind <> 'capture' OR (amount >= 0 AND balance_delta >= 0 AND frozen_delta = -amount - balance_delta)),
    CHECK (kind <> 'release' OR (amount >= 0 AND balance_delta = amount AND frozen_delta = -amount))
);
CREATE UNIQUE INDEX ledger_hold ON ledger (job_id) WHERE kind = 'hold';
CREATE UNIQUE INDEX ledger_resolved ON ledger (job_id) WHERE kind IN ('capture', 'release');
CREATE UNIQUE INDEX ledger_credit ON ledger (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX ledger_by_time ON ledger (time_ms, id);

-- only sqlite
CREATE TRIGGER ledger_kept BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'a ledger row never changes'); END;
CREATE TRIGGER ledger_stays BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'a ledger row never goes'); END;
-- only postgres
CREATE TRIGGER ledger_kept BEFORE UPDATE ON ledger FOR EACH ROW
EXECUTE FUNCTION refuse_change('a ledger row never changes');
CREATE TRIGGER ledger_stays BEFORE DELETE ON ledger FOR EACH ROW
EXECUTE FUNCTION refuse_change('a ledger row never goes');
CREATE TRIGGER ledger_whole BEFORE TRUNCATE ON ledger FOR EACH STATEMENT
EXECUTE FUNCTION refuse_change('ledger rows never go');
