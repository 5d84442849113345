-- What every writer last committed: its mark tells whether a commit stands whose answer did not arrive.
CREATE TABLE written (
    writer TEXT PRIMARY KEY NOT NULL,
    batch BIGINT NOT NULL,
    time_ms BIGINT NOT NULL
) {clustered};

-- only sqlite
-- A commit that was given up and yet finished was repeated, and a row of the ledger with it. Identifiers become unique
-- now; the second row of two keeps its place and amount and gets a mark by which the auditor names it.
DROP TRIGGER ledger_kept;
UPDATE ledger SET id = id || '~' || number WHERE (account_id, number) IN (
    SELECT account_id, number FROM (SELECT account_id, number,
        ROW_NUMBER() OVER (PARTITION BY id ORDER BY account_id, number) AS turn FROM ledger) AS t
    WHERE turn > 1);
CREATE TRIGGER ledger_kept BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'a ledger row never changes'); END;
