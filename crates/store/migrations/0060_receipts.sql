-- widens
-- Receipts: what accounts were charged for, chained for each account, each with the hash of the one before it. They are signed when they are
-- asked for. A receipt goes only with its job, into the archive, and the latest one of an account never. Public keys stay for ever, so that
-- every receipt can be checked, whenever it was signed. Older programs write none.
CREATE TABLE receipt (
    job_id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    number BIGINT NOT NULL CHECK (number > 0),
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    previous TEXT,
    time_ms BIGINT NOT NULL,
    UNIQUE (account_id, number),
    CHECK ((number = 1) = (previous IS NULL))
);

CREATE TABLE receipt_key (
    kid TEXT PRIMARY KEY NOT NULL,
    public TEXT NOT NULL,
    created_ms BIGINT NOT NULL
);

-- The hash of a file that a receipt names.
ALTER TABLE asset ADD COLUMN sha256 TEXT;

-- only sqlite
CREATE TRIGGER receipt_kept BEFORE UPDATE ON receipt
BEGIN SELECT RAISE(ABORT, 'a receipt never changes'); END;
CREATE TRIGGER receipt_stays BEFORE DELETE ON receipt
WHEN EXISTS (SELECT 1 FROM job WHERE job.id = OLD.job_id)
    OR NOT EXISTS (SELECT 1 FROM receipt AS later WHERE later.account_id = OLD.account_id AND later.number > OLD.number)
BEGIN SELECT RAISE(ABORT, 'a receipt never goes'); END;
CREATE TRIGGER receipt_key_kept BEFORE UPDATE ON receipt_key
BEGIN SELECT RAISE(ABORT, 'a key of receipts never changes'); END;
CREATE TRIGGER receipt_key_stays BEFORE DELETE ON receipt_key
BEGIN SELECT RAISE(ABORT, 'a key of receipts never goes'); END;
-- only postgres
CREATE TRIGGER receipt_kept BEFORE UPDATE ON receipt FOR EACH ROW
EXECUTE FUNCTION refuse_change('a receipt never changes');
CREATE FUNCTION keep_receipt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM job WHERE job.id = OLD.job_id)
        OR NOT EXISTS (SELECT 1 FROM receipt AS later WHERE later.account_id = OLD.account_id AND later.number > OLD.number) THEN
        RAISE EXCEPTION 'a receipt never goes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER receipt_stays BEFORE DELETE ON receipt FOR EACH ROW EXECUTE FUNCTION keep_receipt();
CREATE TRIGGER receipt_key_kept BEFORE UPDATE ON receipt_key FOR EACH ROW
EXECUTE FUNCTION refuse_change('a key of receipts never changes');
CREATE TRIGGER receipt_key_stays BEFORE DELETE ON receipt_key FOR EACH ROW
EXECUTE FUNCTION refuse_change('a key of receipts never goes');
