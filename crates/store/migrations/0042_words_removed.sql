-- widens
-- What is kept of an account's words is counted with the account (0036). Programs from before that, at work beside newer ones, remove
-- jobs and batches and count nothing, so that what goes with them is taken off here. A newer program that deletes a job leaves no
-- bytes with it and counts itself; batches are taken off here whoever removes them. The bytes of deleted jobs count nowhere.

-- only sqlite
CREATE TRIGGER job_words_removed AFTER UPDATE OF deleted_ms ON job
WHEN OLD.deleted_ms IS NULL AND NEW.deleted_ms IS NOT NULL AND NEW.request_bytes > 0
BEGIN
    UPDATE account SET words = words - NEW.request_bytes WHERE id = NEW.account_id;
END;
CREATE TRIGGER bulk_words_removed AFTER DELETE ON bulk WHEN OLD.bytes > 0
BEGIN
    UPDATE account SET words = words - OLD.bytes WHERE id = OLD.account_id;
END;

-- only postgres
CREATE FUNCTION remove_job_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE account SET words = words - NEW.request_bytes WHERE id = NEW.account_id;
    RETURN NULL;
END $$;
CREATE FUNCTION remove_bulk_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE account SET words = words - OLD.bytes WHERE id = OLD.account_id;
    RETURN NULL;
END $$;
CREATE TRIGGER job_words_removed AFTER UPDATE OF deleted_ms ON job FOR EACH ROW
WHEN (OLD.deleted_ms IS NULL AND NEW.deleted_ms IS NOT NULL AND NEW.request_bytes > 0) EXECUTE FUNCTION remove_job_words();
CREATE TRIGGER bulk_words_removed AFTER DELETE ON bulk FOR EACH ROW
WHEN (OLD.bytes > 0) EXECUTE FUNCTION remove_bulk_words();
