-- apart
-- A ledger row is written once.
CREATE UNIQUE INDEX {apart} IF NOT EXISTS ledger_once ON ledger (id);
-- Waiting jobs by where they may run, and by turn: what cannot be served now is not even looked at. The condition is
-- written otherwise than that of the index without lanes, so that none but this one fits the statements made for it.
CREATE INDEX {apart} IF NOT EXISTS job_lane ON job ((operation || ' ' || CAST(speed AS TEXT) || ' ' || lane), turn_ms, id)
    WHERE state < 1;
-- Owed deliveries by account and receiver.
CREATE INDEX {apart} IF NOT EXISTS delivery_lane ON delivery ((account_id || ' ' || host), next_ms, id)
    WHERE state NOT IN ('delivered', 'exhausted', 'stopped');
