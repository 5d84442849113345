-- widens
-- Codes that are worth quota, in batches. Only their digests are kept. A code is redeemed once, by one account; what that gave stays
-- with it, so that the same account is told the same again.
CREATE TABLE voucher_batch (
    id TEXT PRIMARY KEY NOT NULL,
    note TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    codes BIGINT NOT NULL CHECK (codes > 0),
    per_account BIGINT NOT NULL CHECK (per_account > 0),
    expires_ms BIGINT,
    credit_expires_ms BIGINT,
    credit_days BIGINT CHECK (credit_days > 0),
    created_ms BIGINT NOT NULL,
    revoked_ms BIGINT
);
CREATE INDEX voucher_batch_by_time ON voucher_batch (created_ms, id);

CREATE TABLE voucher (
    hash TEXT NOT NULL,
    batch_id TEXT NOT NULL REFERENCES voucher_batch (id),
    account_id TEXT,
    ledger_id TEXT,
    redeemed_ms BIGINT,
    expires_ms BIGINT,
    PRIMARY KEY (hash),
    CHECK ((account_id IS NULL) = (redeemed_ms IS NULL) AND (account_id IS NULL) = (ledger_id IS NULL))
) {clustered};
CREATE INDEX voucher_of_batch ON voucher (batch_id, account_id);

-- only sqlite
CREATE TRIGGER voucher_batch_kept BEFORE UPDATE OF id, amount, codes, per_account, expires_ms, credit_expires_ms, credit_days, created_ms ON voucher_batch
BEGIN SELECT RAISE(ABORT, 'what vouchers are worth never changes'); END;
CREATE TRIGGER voucher_batch_stays BEFORE DELETE ON voucher_batch
BEGIN SELECT RAISE(ABORT, 'a batch of vouchers never goes'); END;
CREATE TRIGGER voucher_once BEFORE UPDATE ON voucher WHEN OLD.account_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a voucher that was redeemed never changes'); END;
CREATE TRIGGER voucher_stays BEFORE DELETE ON voucher
BEGIN SELECT RAISE(ABORT, 'a voucher never goes'); END;
-- only postgres
CREATE TRIGGER voucher_batch_kept BEFORE UPDATE OF id, amount, codes, per_account, expires_ms, credit_expires_ms, credit_days, created_ms ON voucher_batch FOR EACH ROW
EXECUTE FUNCTION refuse_change('what vouchers are worth never changes');
CREATE TRIGGER voucher_batch_stays BEFORE DELETE ON voucher_batch FOR EACH ROW
EXECUTE FUNCTION refuse_change('a batch of vouchers never goes');
CREATE TRIGGER voucher_once BEFORE UPDATE ON voucher FOR EACH ROW WHEN (OLD.account_id IS NOT NULL)
EXECUTE FUNCTION refuse_change('a voucher that was redeemed never changes');
CREATE TRIGGER voucher_stays BEFORE DELETE ON voucher FOR EACH ROW
EXECUTE FUNCTION refuse_change('a voucher never goes');
