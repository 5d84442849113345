-- widens
-- Models that operators name, each with all its revisions: one is only ever added, also when a model is removed. Names are compared in
-- lower case. Programs from before this need not know them until there is a first one; the commit that adds it has older programs refuse
-- to start (the `widens` of this migration becomes 0), and waits until none of them is at work.
CREATE TABLE model (
    name_key TEXT NOT NULL,
    revision BIGINT NOT NULL CHECK (revision > 0),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    removed BOOLEAN NOT NULL,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (name_key, revision)
) {clustered};

-- How many migrations the program of a node knows; older ones do not say it.
ALTER TABLE node ADD COLUMN knows BIGINT;

-- The model of the catalogue that a job was accepted with, its revision, and the lines of its price as JSON.
ALTER TABLE job ADD COLUMN model TEXT;
ALTER TABLE job ADD COLUMN model_revision BIGINT;
ALTER TABLE job ADD COLUMN price_lines TEXT;

-- only sqlite
CREATE TRIGGER model_kept BEFORE UPDATE ON model
BEGIN SELECT RAISE(ABORT, 'a revision of a model never changes'); END;
CREATE TRIGGER model_stays BEFORE DELETE ON model
BEGIN SELECT RAISE(ABORT, 'a revision of a model never goes'); END;
-- only postgres
CREATE TRIGGER model_kept BEFORE UPDATE ON model FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a model never changes');
CREATE TRIGGER model_stays BEFORE DELETE ON model FOR EACH ROW
EXECUTE FUNCTION refuse_change('a revision of a model never goes');
