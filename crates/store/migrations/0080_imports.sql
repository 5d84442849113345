-- widens
-- What was taken over from other programs: for each user, team or key there the account or key here. A later run finds by it what there
-- is already, and by the name whether it reads the same database. Keys in the spellings of other programs are looked up only once there
-- is a row. What an account brought along is a ledger row of its own, whose idempotency key is made of the source and the origin.
CREATE TABLE imported (
    source TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('account', 'key')),
    origin TEXT NOT NULL,
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    amount BIGINT NOT NULL,
    imported_ms BIGINT NOT NULL,
    PRIMARY KEY (source, kind, origin)
) {clustered};
CREATE INDEX imported_target ON imported (target);
