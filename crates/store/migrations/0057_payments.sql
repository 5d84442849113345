-- widens
-- Products, each with all its revisions. Older programs know no payments: they would renew plans that were not paid for and let accounts
-- spend that owe quota. The commit that makes the first product has them refuse to start.
CREATE TABLE product (
    name_key TEXT NOT NULL,
    revision BIGINT NOT NULL CHECK (revision > 0),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    removed BOOLEAN NOT NULL,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (name_key, revision)
) {clustered};

-- Payments. `refunded` is the money that went back so far, `disputed` the money that the payer's bank holds or has kept; `taken` is the
-- quota that was taken back for both, `taken_credit` the part of it that came out of the payment's own credit. What was bought and for how
-- much never changes. A payment for a plan gives a period of the revision that was sold; `ledger_id` is empty until that period begins.
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
    plan_revision BIGINT,
    state TEXT NOT NULL CHECK (state IN ('pending', 'paid', 'expired', 'failed', 'refunded', 'disputed', 'mismatch')),
    pay_at TEXT,
    renews_id TEXT,
    refunded BIGINT NOT NULL CHECK (refunded >= 0),
    disputed BIGINT NOT NULL CHECK (disputed >= 0),
    taken BIGINT NOT NULL CHECK (taken >= 0 AND taken <= quota),
    taken_credit BIGINT NOT NULL CHECK (taken_credit >= 0 AND taken_credit <= taken),
    ledger_id TEXT UNIQUE,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    paid_ms BIGINT,
    CHECK (ledger_id IS NULL OR paid_ms IS NOT NULL),
    CHECK (paid_ms IS NULL OR ledger_id IS NOT NULL OR plan_revision IS NOT NULL),
    CHECK ((state IN ('paid', 'refunded', 'disputed')) = (paid_ms IS NOT NULL)),
    CHECK (refunded <= money AND disputed <= money)
);
CREATE INDEX payment_by_time ON payment (created_ms, id);
CREATE INDEX payment_of_account ON payment (account_id, created_ms, id);
CREATE INDEX payment_pending ON payment (expires_ms) WHERE state = 'pending';
CREATE INDEX payment_mismatch ON payment (created_ms, id) WHERE state = 'mismatch';
CREATE INDEX payment_ahead ON payment (account_id, paid_ms) WHERE paid_ms IS NOT NULL AND ledger_id IS NULL;

-- What a provider calls a payment, and what belongs to it there: each name is of one payment.
CREATE TABLE payment_reference (
    provider TEXT NOT NULL,
    reference TEXT NOT NULL,
    payment_id TEXT NOT NULL REFERENCES payment (id),
    PRIMARY KEY (provider, reference)
) {clustered};
CREATE INDEX payment_reference_of ON payment_reference (payment_id);

-- Events of providers, each once. One whose payment is not known yet is `unmatched` and waits for it.
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
CREATE INDEX payment_event_waits ON payment_event (provider, reference) WHERE outcome = 'unmatched';

-- Refunds that operators asked for. One is `asked` until the provider's answer is known; it is repeated under its id until then.
CREATE TABLE refund (
    id TEXT PRIMARY KEY NOT NULL,
    payment_id TEXT NOT NULL REFERENCES payment (id),
    money BIGINT NOT NULL CHECK (money > 0),
    idempotency_key TEXT,
    state TEXT NOT NULL CHECK (state IN ('asked', 'done', 'refused')),
    why TEXT,
    created_ms BIGINT NOT NULL,
    tried_ms BIGINT NOT NULL,
    UNIQUE (payment_id, idempotency_key)
);
CREATE INDEX refund_of ON refund (payment_id, created_ms);
CREATE INDEX refund_open ON refund (tried_ms) WHERE state = 'asked';

-- Subscriptions at providers: whose payments for a plan come again by themselves. One that is to end is `cancel` until the provider knows,
-- `ending` until its last period is over there; `at_once` where no further period may be paid for.
CREATE TABLE subscription (
    provider TEXT NOT NULL,
    reference TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    payment_id TEXT NOT NULL REFERENCES payment (id),
    plan_key TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'cancel', 'ending', 'ended')),
    at_once BIGINT NOT NULL CHECK (at_once IN (0, 1)),
    created_ms BIGINT NOT NULL,
    tried_ms BIGINT NOT NULL,
    PRIMARY KEY (provider, reference)
) {clustered};
CREATE INDEX subscription_of ON subscription (account_id);
CREATE INDEX subscription_open ON subscription (tried_ms) WHERE state = 'cancel';

-- Quota that was taken back after it was spent. Incoming quota pays it first.
ALTER TABLE account ADD COLUMN debt BIGINT;
ALTER TABLE ledger_checkpoint ADD COLUMN debt BIGINT;
-- Whether payments renew a plan, and until when it waits for the next one once its period is over.
ALTER TABLE account_plan ADD COLUMN by_payment BIGINT;
ALTER TABLE account_plan ADD COLUMN waits_ms BIGINT;

-- only sqlite
CREATE TRIGGER product_kept BEFORE UPDATE ON product
BEGIN SELECT RAISE(ABORT, 'a revision of a product never changes'); END;
CREATE TRIGGER product_stays BEFORE DELETE ON product
BEGIN SELECT RAISE(ABORT, 'a revision of a product never goes'); END;
CREATE TRIGGER payment_kept BEFORE UPDATE OF id, account_id, product, product_revision, provider, money, currency, created_ms ON payment
BEGIN SELECT RAISE(ABORT, 'what a payment is for never changes'); END;
CREATE TRIGGER payment_once BEFORE UPDATE OF paid_ms ON payment WHEN OLD.paid_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a payment is paid once'); END;
CREATE TRIGGER payment_gives_once BEFORE UPDATE OF ledger_id ON payment WHEN OLD.ledger_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a payment gives once'); END;
CREATE TRIGGER payment_stays BEFORE DELETE ON payment
BEGIN SELECT RAISE(ABORT, 'a payment never goes'); END;
CREATE TRIGGER payment_event_kept BEFORE UPDATE OF provider, event_id, kind, subject, money, currency, received_ms ON payment_event
BEGIN SELECT RAISE(ABORT, 'an event of a provider never changes'); END;
CREATE TRIGGER payment_event_stays BEFORE DELETE ON payment_event WHEN OLD.outcome <> 'unmatched'
BEGIN SELECT RAISE(ABORT, 'an event of a provider never goes'); END;
CREATE TRIGGER refund_kept BEFORE UPDATE OF id, payment_id, money, idempotency_key, created_ms ON refund
BEGIN SELECT RAISE(ABORT, 'a refund never changes'); END;
CREATE TRIGGER refund_stays BEFORE DELETE ON refund
BEGIN SELECT RAISE(ABORT, 'a refund never goes'); END;
-- only postgres
CREATE TRIGGER product_kept BEFORE UPDATE ON product FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a product never changes');
CREATE TRIGGER product_stays BEFORE DELETE ON product FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a product never goes');
CREATE TRIGGER payment_kept BEFORE UPDATE OF id, account_id, product, product_revision, provider, money, currency, created_ms ON payment FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a payment is for never changes');
CREATE TRIGGER payment_once BEFORE UPDATE OF paid_ms ON payment FOR EACH ROW WHEN (OLD.paid_ms IS NOT NULL)
EXECUTE FUNCTION refuse_change('a payment is paid once');
CREATE TRIGGER payment_gives_once BEFORE UPDATE OF ledger_id ON payment FOR EACH ROW WHEN (OLD.ledger_id IS NOT NULL)
EXECUTE FUNCTION refuse_change('a payment gives once');
CREATE TRIGGER payment_stays BEFORE DELETE ON payment FOR EACH ROW
EXECUTE FUNCTION refuse_change('a payment never goes');
CREATE TRIGGER payment_event_kept BEFORE UPDATE OF provider, event_id, kind, subject, money, currency, received_ms ON payment_event FOR EACH ROW
EXECUTE FUNCTION refuse_change('an event of a provider never changes');
CREATE TRIGGER payment_event_stays BEFORE DELETE ON payment_event FOR EACH ROW WHEN (OLD.outcome <> 'unmatched')
EXECUTE FUNCTION refuse_change('an event of a provider never goes');
CREATE TRIGGER refund_kept BEFORE UPDATE OF id, payment_id, money, idempotency_key, created_ms ON refund FOR EACH ROW
EXECUTE FUNCTION refuse_change('a refund never changes');
CREATE TRIGGER refund_stays BEFORE DELETE ON refund FOR EACH ROW
EXECUTE FUNCTION refuse_change('a refund never goes');
