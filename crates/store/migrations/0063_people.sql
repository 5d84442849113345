-- widens
-- People: somebody with an e-mail address, who may be a member of accounts and an operator. Programs from before this need not know
-- them until there is a first one; the commit that adds it has older programs refuse to start (the `widens` of this migration becomes
-- 0), and waits until none of them is at work. Of a person who was deleted the row stays, without its address and its name.
CREATE TABLE person (
    id TEXT PRIMARY KEY NOT NULL,
    email TEXT,
    email_key TEXT UNIQUE,
    name TEXT NOT NULL,
    language TEXT NOT NULL,
    verified_ms BIGINT,
    created_ms BIGINT NOT NULL,
    seen_ms BIGINT,
    deleted_ms BIGINT,
    CHECK ((email IS NULL) = (email_key IS NULL) AND (deleted_ms IS NULL) = (email IS NOT NULL))
);
CREATE INDEX person_by_time ON person (created_ms, id);

-- A member is the head of a line of keys: the key with its identifier has a secret that nobody knows, limits what the member spends, and
-- stands above every key that belongs to the member.
CREATE TABLE member (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    person_id TEXT NOT NULL REFERENCES person (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
    origin TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    removed_ms BIGINT
);
CREATE INDEX member_of_account ON member (account_id, created_ms, id);
CREATE INDEX member_of_person ON member (person_id, created_ms, id);

-- The member whose key it is; of the key at the head, itself.
ALTER TABLE api_key ADD COLUMN member_id TEXT;
CREATE INDEX api_key_of_member ON api_key (member_id) WHERE member_id IS NOT NULL;

-- Who is asked to join: an account, or, without one, to open one. Only the hash of the word in the e-mail is kept.
CREATE TABLE invitation (
    id TEXT PRIMARY KEY NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    account_id TEXT REFERENCES account (id),
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
    invited_by TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
);
CREATE INDEX invitation_of_account ON invitation (account_id, created_ms, id);
CREATE INDEX invitation_to ON invitation (email_key);
CREATE INDEX invitation_ends ON invitation (expires_ms);

-- The person behind a session, what it was opened with, and from where.
ALTER TABLE console_session ADD COLUMN person_id TEXT;
ALTER TABLE console_session ADD COLUMN means TEXT;
ALTER TABLE console_session ADD COLUMN agent TEXT;
ALTER TABLE console_session ADD COLUMN network TEXT;
CREATE INDEX console_session_person ON console_session (person_id) WHERE person_id IS NOT NULL;

-- The person who is this operator; nobody knows the token of such a row.
ALTER TABLE operator_token ADD COLUMN person_id TEXT;

-- What new accounts were given, once for each address, of which only a digest is kept.
CREATE TABLE welcome (
    address_hash TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL,
    ledger_id TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    granted_ms BIGINT NOT NULL
);

-- only sqlite
CREATE TRIGGER welcome_kept BEFORE UPDATE ON welcome
BEGIN SELECT RAISE(ABORT, 'what a new account was given never changes'); END;
CREATE TRIGGER welcome_stays BEFORE DELETE ON welcome
BEGIN SELECT RAISE(ABORT, 'what a new account was given never goes'); END;
-- only postgres
CREATE TRIGGER welcome_kept BEFORE UPDATE ON welcome FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a new account was given never changes');
CREATE TRIGGER welcome_stays BEFORE DELETE ON welcome FOR EACH ROW
EXECUTE FUNCTION refuse_change('what a new account was given never goes');
