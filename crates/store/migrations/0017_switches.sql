-- What an operator switched stays so over restarts, whatever the configuration declares.
ALTER TABLE backend ADD COLUMN switched_off BOOLEAN NOT NULL DEFAULT FALSE;
-- A worker account that the configuration no longer names, while it has jobs in hand.
ALTER TABLE worker ADD COLUMN retired BOOLEAN NOT NULL DEFAULT FALSE;
