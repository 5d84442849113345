-- widens
-- Whether a migration only adds what programs of the release before need not know: they go on working beside it, and may start.
ALTER TABLE schema_version ADD COLUMN widens BIGINT NOT NULL DEFAULT 0;
