-- Sessions of the console. A session stands for the key, the operator's token, or both, that it was opened with, and ends
-- with them; only the hash of its word is kept. A link is a session that was not opened yet and opens one once.
CREATE TABLE console_session (
    hash TEXT PRIMARY KEY NOT NULL,
    key_hash TEXT,
    operator_hash TEXT,
    link BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL
);
CREATE INDEX console_session_key ON console_session (key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX console_session_operator ON console_session (operator_hash) WHERE operator_hash IS NOT NULL;
CREATE INDEX console_session_seen ON console_session (seen_ms);
