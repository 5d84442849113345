-- widens
-- Automatic purchases. A customer is what a provider calls someone whose way to pay it has saved; that way itself is never here. A top-up
-- buys a product when the balance of its account falls below a threshold, for so much money a month at most. Older programs buy nothing.
CREATE TABLE payment_customer (
    account_id TEXT NOT NULL REFERENCES account (id),
    provider TEXT NOT NULL,
    reference TEXT NOT NULL,
    saved_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, provider)
) {clustered};

CREATE TABLE topup (
    account_id TEXT PRIMARY KEY NOT NULL REFERENCES account (id),
    provider TEXT NOT NULL,
    product TEXT NOT NULL,
    threshold BIGINT NOT NULL CHECK (threshold > 0),
    monthly_cap BIGINT NOT NULL CHECK (monthly_cap > 0),
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    failures BIGINT NOT NULL CHECK (failures >= 0),
    why TEXT,
    next_ms BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL
);
CREATE INDEX topup_due ON topup (next_ms) WHERE active = 1;

-- Whether a payment saves its customer, and whether a top-up began it.
ALTER TABLE payment ADD COLUMN saves BIGINT;
ALTER TABLE payment ADD COLUMN topup BIGINT;
CREATE INDEX payment_topup ON payment (account_id, created_ms) WHERE topup = 1;
