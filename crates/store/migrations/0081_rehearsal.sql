-- widens
-- Rehearsals: a back end with a shadow gets copies of requests after they were answered, and no jobs. Programs from before this would
-- give it jobs: the commit that makes the first one has them refuse to start (the `widens` of this migration becomes 0), and waits until
-- none of them is at work.
ALTER TABLE backend ADD COLUMN shadow TEXT;
-- What copies have cost, in millionths of a dollar, with those under way; until when a slow vendor is left alone.
CREATE TABLE rehearsal (
    backend_id TEXT PRIMARY KEY NOT NULL,
    since_ms BIGINT NOT NULL,
    spent BIGINT NOT NULL CHECK (spent >= 0),
    paused_ms BIGINT NOT NULL
);
-- What was compared, by operation and model: of the caller's call and of its copy how many succeeded, what those of known cost cost, and
-- how long they took.
CREATE TABLE rehearsal_sum (
    backend_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    model TEXT NOT NULL,
    calls BIGINT NOT NULL,
    alike BIGINT NOT NULL,
    status BIGINT NOT NULL,
    count BIGINT NOT NULL,
    size BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    answered_cost BIGINT NOT NULL,
    answered_costed BIGINT NOT NULL,
    answered_ms BIGINT NOT NULL,
    answered_most_ms BIGINT NOT NULL,
    copied BIGINT NOT NULL,
    copied_cost BIGINT NOT NULL,
    copied_costed BIGINT NOT NULL,
    copied_ms BIGINT NOT NULL,
    copied_most_ms BIGINT NOT NULL,
    PRIMARY KEY (backend_id, operation, model)
) {clustered};
-- The latest that did not come out alike, as JSON.
CREATE TABLE rehearsal_call (
    id TEXT PRIMARY KEY NOT NULL,
    backend_id TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    call TEXT NOT NULL
);
CREATE INDEX rehearsal_call_of_backend ON rehearsal_call (backend_id, at_ms);
