-- widens
-- Groups of accounts, each with all its revisions: one is only ever added, also when a group is removed. Names are compared in lower
-- case. Programs from before this need not know them until there is a first one; the commit that adds it has older programs refuse to
-- start (the `widens` of this migration becomes 0), and waits until none of them is at work.
CREATE TABLE price_group (
    name_key TEXT NOT NULL,
    revision BIGINT NOT NULL CHECK (revision > 0),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    removed BOOLEAN NOT NULL,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (name_key, revision)
) {clustered};

-- The group of an account in lower case; without one it is in the group that all begin in.
ALTER TABLE account ADD COLUMN group_key TEXT;
CREATE INDEX account_group ON account (group_key) WHERE group_key IS NOT NULL;

-- only sqlite
CREATE TRIGGER price_group_kept BEFORE UPDATE ON price_group
BEGIN SELECT RAISE(ABORT, 'a revision of a group never changes'); END;
CREATE TRIGGER price_group_stays BEFORE DELETE ON price_group
BEGIN SELECT RAISE(ABORT, 'a revision of a group never goes'); END;
-- only postgres
CREATE TRIGGER price_group_kept BEFORE UPDATE ON price_group FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a group never changes');
CREATE TRIGGER price_group_stays BEFORE DELETE ON price_group FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a group never goes');
