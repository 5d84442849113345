-- widens
-- Sign-ins that were begun and not finished: a link that was asked for, a way to a provider. Each belongs to
-- the browser that began it and is finished once. Of what is sent or shown only hashes are kept; what is needed to finish is sealed.
CREATE TABLE sign_in (
    hash TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    browser_hash TEXT NOT NULL,
    person_id TEXT,
    email TEXT,
    language TEXT NOT NULL,
    state TEXT,
    tries BIGINT NOT NULL CHECK (tries >= 0),
    created_ms BIGINT NOT NULL
);
CREATE INDEX sign_in_by_time ON sign_in (created_ms);
CREATE INDEX sign_in_of_browser ON sign_in (browser_hash, created_ms);

-- Who somebody is at a provider of OpenID Connect: its issuer, and the subject there, which is never given to anybody else.
CREATE TABLE person_identity (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    person_id TEXT NOT NULL REFERENCES person (id),
    provider TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX person_identity_of_person ON person_identity (person_id, created_ms, id);
