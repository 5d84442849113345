-- Acts are chained: each has a number and the hash of the one before it. Acts from before this stand outside the chain.
ALTER TABLE audit ADD COLUMN number BIGINT;
ALTER TABLE audit ADD COLUMN previous TEXT;
CREATE UNIQUE INDEX audit_by_number ON audit (number);

-- Where the chain begins and ends: the oldest act that is kept, and the number and hash of the newest one.
CREATE TABLE audit_chain (
    id BIGINT PRIMARY KEY NOT NULL CHECK (id = 1),
    oldest BIGINT NOT NULL,
    newest BIGINT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO audit_chain (id, oldest, newest, hash) VALUES (1, 1, 0, '');
