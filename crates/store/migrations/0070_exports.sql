-- widens
-- Exports that are made each day: a row for each day and kind, by whichever node has it for a while. What was written is noted part by
-- part, with where the next one begins, so that whoever goes on writes nothing twice. A fence grows with every node that takes a row; a
-- node that was away notes nothing any more.
CREATE TABLE export_run (
    day BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('jobs', 'ledger', 'usage')),
    format TEXT NOT NULL,
    place TEXT NOT NULL,
    parts BIGINT NOT NULL CHECK (parts >= 0),
    entries BIGINT NOT NULL CHECK (entries >= 0),
    owner TEXT,
    until_ms BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    error TEXT,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    PRIMARY KEY (day, kind)
) {clustered};

CREATE TABLE export_part (
    day BIGINT NOT NULL,
    kind TEXT NOT NULL,
    part BIGINT NOT NULL CHECK (part > 0),
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    entries BIGINT NOT NULL CHECK (entries >= 0),
    PRIMARY KEY (day, kind, part)
) {clustered};
