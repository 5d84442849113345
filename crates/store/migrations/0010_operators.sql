-- Operators besides the one of the configuration. A name is used once, so that the audit list stays true.
CREATE TABLE operator_token (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('operator', 'viewer')),
    hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    last_used_ms BIGINT,
    revoked_ms BIGINT
);

-- Keys that are over are found by when that was, to be deleted after a while.
CREATE INDEX api_key_revoked ON api_key (revoked_ms) WHERE revoked_ms IS NOT NULL;
CREATE INDEX api_key_expired ON api_key (expires_ms) WHERE expires_ms IS NOT NULL;
