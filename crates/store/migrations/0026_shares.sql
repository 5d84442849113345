-- What an operator gives one account of what all share, where it is not what the settings say; 0 for what they say.
ALTER TABLE account ADD COLUMN submits_per_second BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN calls_per_second BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN share_percent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN max_storage BIGINT NOT NULL DEFAULT 0;
CREATE INDEX account_allowed ON account (id) WHERE submits_per_second > 0 OR calls_per_second > 0 OR share_percent > 0;

-- Prompts of an account that were refused in a family on the last day on which one was.
CREATE TABLE refused (
    account_id TEXT NOT NULL,
    family TEXT NOT NULL,
    day BIGINT NOT NULL,
    prompts BIGINT NOT NULL,
    PRIMARY KEY (account_id, family)
) {clustered};

-- Bytes of all files that are kept for an account (those for nobody are not counted). They change in the commit that changes a file's row, whoever does it.
CREATE TABLE stored (
    account_id TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (account_id)
) {clustered};

-- only sqlite
CREATE TRIGGER asset_kept AFTER INSERT ON asset WHEN NEW.bytes <> 0 AND NEW.account_id <> ''
BEGIN
    INSERT INTO stored (account_id, bytes) VALUES (NEW.account_id, NEW.bytes)
    ON CONFLICT (account_id) DO UPDATE SET bytes = stored.bytes + excluded.bytes;
END;
CREATE TRIGGER asset_changed AFTER UPDATE OF account_id, bytes ON asset
WHEN OLD.bytes <> NEW.bytes OR OLD.account_id <> NEW.account_id
BEGIN
    UPDATE stored SET bytes = bytes - OLD.bytes WHERE account_id = OLD.account_id;
    INSERT INTO stored (account_id, bytes) VALUES (NEW.account_id, NEW.bytes)
    ON CONFLICT (account_id) DO UPDATE SET bytes = stored.bytes + excluded.bytes;
END;
CREATE TRIGGER asset_gone AFTER DELETE ON asset WHEN OLD.bytes <> 0
BEGIN
    UPDATE stored SET bytes = bytes - OLD.bytes WHERE account_id = OLD.account_id;
END;

-- only postgres
-- A statement at a time and in the order of the accounts, so that two of them never wait for each other.
CREATE FUNCTION count_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored (account_id, bytes)
    SELECT account_id, SUM(bytes)::bigint FROM kept WHERE account_id <> '' GROUP BY account_id HAVING SUM(bytes) <> 0 ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET bytes = stored.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE FUNCTION count_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored (account_id, bytes)
    SELECT account_id, SUM(bytes)::bigint FROM
    (SELECT account_id, bytes FROM kept UNION ALL SELECT account_id, -bytes FROM gone) AS moved
    WHERE account_id <> '' GROUP BY account_id HAVING SUM(bytes) <> 0 ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET bytes = stored.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE FUNCTION count_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored (account_id, bytes)
    SELECT account_id, -SUM(bytes)::bigint FROM gone WHERE account_id <> '' GROUP BY account_id HAVING SUM(bytes) <> 0 ORDER BY account_id
    ON CONFLICT (account_id) DO UPDATE SET bytes = stored.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE TRIGGER asset_kept AFTER INSERT ON asset REFERENCING NEW TABLE AS kept
FOR EACH STATEMENT EXECUTE FUNCTION count_kept();
CREATE TRIGGER asset_changed AFTER UPDATE ON asset REFERENCING NEW TABLE AS kept OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION count_changed();
CREATE TRIGGER asset_gone AFTER DELETE ON asset REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION count_gone();

-- only both
INSERT INTO stored (account_id, bytes) SELECT account_id, SUM(bytes) FROM asset WHERE bytes <> 0 AND account_id <> ''
GROUP BY account_id;
