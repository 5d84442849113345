-- widens
-- What accounts can buy, each with all its revisions; programs from before the first product know of no payments, would renew plans
-- that were not paid for and let accounts spend that owe quota: the commit that makes the first product has them refuse to start.
CREATE TABLE product (
    name_key TEXT NOT NULL,
    revision BIGINT NOT NULL CHECK (revision > 0),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    removed BOOLEAN NOT NULL,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (name_key, revision)
) {clustered};

-- Payments. `refunded` is all that went back so far, `disputed` what the payer's bank holds or has kept, both of the money; `taken` is
-- the quota that was taken back for them. What was bought and for how much never changes.
CREATE TABLE payment (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    product TEXT NOT NULL,
    product_revision BIGINT NOT NULL,
    provider TEXT NOT NULL,
    money BIGINT NOT NULL CHECK (money > 0),
    currency TEXT NOT NULL,
    quota BIGINT NOT NULL CHECK (quota >= 0),
    credit_days BIGINT CHECK (credit_days > 0),
    plan_key TEXT,
    state TEXT NOT NULL CHECK (state IN ('pending', 'paid', 'expired', 'failed', 'refunded', 'disputed', 'mismatch')),
    pay_at TEXT,
    renews_id TEXT,
    refunded BIGINT NOT NULL CHECK (refunded >= 0),
    disputed BIGINT NOT NULL CHECK (disputed >= 0),
    taken BIGINT NOT NULL CHECK (taken >= 0 AND taken <= quota),
    ledger_id TEXT,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    paid_ms BIGINT,
    CHECK ((paid_ms IS NULL) = (ledger_id IS NULL)),
    CHECK ((state IN ('paid', 'refunded', 'disputed')) = (paid_ms IS NOT NULL)),
    CHECK (refunded <= money AND disputed <= money)
);
CREATE INDEX payment_by_time ON payment (created_ms, id);
CREATE INDEX payment_of_account ON payment (account_id, created_ms, id);
CREATE INDEX payment_pending ON payment (expires_ms) WHERE state = 'pending';
CREATE INDEX payment_mismatch ON payment (created_ms, id) WHERE state = 'mismatch';

-- What a provider calls a payment, and what belongs to it there: each name is of one payment.
CREATE TABLE payment_reference (
    provider TEXT NOT NULL,
    reference TEXT NOT NULL,
    payment_id TEXT NOT NULL REFERENCES payment (id),
    PRIMARY KEY (provider, reference)
) {clustered};
CREATE INDEX payment_reference_of ON payment_reference (payment_id);

-- What providers told, once for each event. One that no payment is known for yet is `unmatched` and waits for it.
CREATE TABLE payment_event (
    provider TEXT NOT NULL,
    event_id TEXT NOT NULL,
    payment_id TEXT,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('applied', 'known', 'mismatch', 'unmatched')),
    why TEXT,
    subject TEXT,
    reference TEXT,
    money BIGINT,
    currency TEXT,
    raw TEXT NOT NULL,
    received_ms BIGINT NOT NULL,
    PRIMARY KEY (provider, event_id),
    CHECK (outcome <> 'applied' OR payment_id IS NOT NULL)
);
CREATE INDEX payment_event_of ON payment_event (payment_id, received_ms);
CREATE INDEX payment_event_open ON payment_event (outcome, received_ms) WHERE outcome IN ('mismatch', 'unmatched');

-- What was taken back and was not there any more. What comes in pays it first.
ALTER TABLE account ADD COLUMN debt BIGINT;
ALTER TABLE ledger_checkpoint ADD COLUMN debt BIGINT;
-- Until when a plan is paid for that payments renew, and until when the next payment is waited for.
ALTER TABLE account_plan ADD COLUMN paid_until_ms BIGINT;
ALTER TABLE account_plan ADD COLUMN waits_ms BIGINT;

-- only sqlite
CREATE TRIGGER product_kept BEFORE UPDATE ON product
BEGIN SELECT RAISE(ABORT, 'a revision of a product never changes'); END;
CREATE TRIGGER product_stays BEFORE DELETE ON product
BEGIN SELECT RAISE(ABORT, 'a revision of a product never goes'); END;
CREATE TRIGGER payment_kept BEFORE UPDATE OF id, account_id, product, product_revision, provider, money, currency, created_ms ON payment
BEGIN SELECT RAISE(ABORT, 'what a payment is for never changes'); END;
CREATE TRIGGER payment_once BEFORE UPDATE OF ledger_id, paid_ms ON payment WHEN OLD.ledger_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a payment is paid once'); END;
CREATE TRIGGER payment_stays BEFORE DELETE ON payment
BEGIN SELECT RAISE(ABORT, 'a payment never goes'); END;
CREATE TRIGGER payment_event_kept BEFORE UPDATE OF provider, event_id, kind, subject, money, currency, received_ms ON payment_event
BEGIN SELECT RAISE(ABORT, 'what a provider told never changes'); END;
CREATE TRIGGER payment_event_stays BEFORE DELETE ON payment_event WHEN OLD.outcome <> 'unmatched'
BEGIN SELECT RAISE(ABORT, 'what a provider told never goes'); END;
-- only postgres
CREATE TRIGGER product_kept BEFORE UPDATE ON product FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a product never changes');
CREATE TRIGGER product_stays BEFORE DELETE ON product FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a product never goes');
CREATE TRIGGER payment_kept BEFORE UPDATE OF id, account_id, product, product_revision, provider, money, currency, created_ms ON payment FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a payment is for never changes');
CREATE TRIGGER payment_once BEFORE UPDATE OF ledger_id, paid_ms ON payment FOR EACH ROW WHEN (OLD.ledger_id IS NOT NULL)
EXECUTE FUNCTION refuse_change('a payment is paid once');
CREATE TRIGGER payment_stays BEFORE DELETE ON payment FOR EACH ROW
EXECUTE FUNCTION refuse_change('a payment never goes');
CREATE TRIGGER payment_event_kept BEFORE UPDATE OF provider, event_id, kind, subject, money, currency, received_ms ON payment_event FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a provider told never changes');
CREATE TRIGGER payment_event_stays BEFORE DELETE ON payment_event FOR EACH ROW WHEN (OLD.outcome <> 'unmatched')
EXECUTE FUNCTION refuse_change('what a provider told never goes');
