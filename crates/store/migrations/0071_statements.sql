-- widens
-- Statements: what an account had, got and spent in a month. One is made once, of the rows of its ledger behind a number and up to
-- another, and never changes; the next month's begins where it ends. Pages are made of it when they are first asked for, one for each
-- language, and stay as well. A logo is kept once, however many statements show it.
CREATE TABLE statement (
    account_id TEXT NOT NULL REFERENCES account (id),
    month BIGINT NOT NULL,
    first_number BIGINT NOT NULL CHECK (first_number >= 0),
    last_number BIGINT NOT NULL,
    opening BIGINT NOT NULL,
    credited BIGINT NOT NULL,
    adjusted BIGINT NOT NULL,
    charged BIGINT NOT NULL CHECK (charged >= 0),
    closing BIGINT NOT NULL,
    record TEXT NOT NULL,
    csv TEXT NOT NULL,
    hash TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, month),
    CHECK (last_number >= first_number),
    CHECK (opening + credited + adjusted - charged = closing)
) {clustered};
CREATE INDEX statement_of_month ON statement (month, account_id);

CREATE TABLE statement_page (
    account_id TEXT NOT NULL,
    month BIGINT NOT NULL,
    language TEXT NOT NULL,
    html TEXT NOT NULL,
    hash TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    PRIMARY KEY (account_id, month, language)
) {clustered};

CREATE TABLE statement_logo (
    hash TEXT NOT NULL,
    media_type TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (hash)
) {clustered};

-- Months whose statements were asked for of all accounts: how far that is, and who could have none.
CREATE TABLE month_close (
    month BIGINT PRIMARY KEY NOT NULL,
    actor TEXT NOT NULL,
    after_id TEXT NOT NULL,
    owner TEXT,
    until_ms BIGINT NOT NULL,
    begun_ms BIGINT NOT NULL,
    ended_ms BIGINT
);
CREATE TABLE month_refusal (
    month BIGINT NOT NULL,
    account_id TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (month, account_id)
) {clustered};

-- only sqlite
CREATE TRIGGER statement_kept BEFORE UPDATE ON statement
BEGIN SELECT RAISE(ABORT, 'a statement never changes'); END;
CREATE TRIGGER statement_stays BEFORE DELETE ON statement
BEGIN SELECT RAISE(ABORT, 'a statement never goes'); END;
CREATE TRIGGER statement_page_kept BEFORE UPDATE ON statement_page
BEGIN SELECT RAISE(ABORT, 'a page of a statement never changes'); END;
CREATE TRIGGER statement_page_stays BEFORE DELETE ON statement_page
BEGIN SELECT RAISE(ABORT, 'a page of a statement never goes'); END;
CREATE TRIGGER statement_logo_kept BEFORE UPDATE ON statement_logo
BEGIN SELECT RAISE(ABORT, 'a logo of statements never changes'); END;
CREATE TRIGGER statement_logo_stays BEFORE DELETE ON statement_logo
BEGIN SELECT RAISE(ABORT, 'a logo of statements never goes'); END;
-- only postgres
CREATE TRIGGER statement_kept BEFORE UPDATE ON statement FOR EACH ROW
EXECUTE FUNCTION refuse_change('a statement never changes');
CREATE TRIGGER statement_stays BEFORE DELETE ON statement FOR EACH ROW
EXECUTE FUNCTION refuse_change('a statement never goes');
CREATE TRIGGER statement_page_kept BEFORE UPDATE ON statement_page FOR EACH ROW
EXECUTE FUNCTION refuse_change('a page of a statement never changes');
CREATE TRIGGER statement_page_stays BEFORE DELETE ON statement_page FOR EACH ROW
EXECUTE FUNCTION refuse_change('a page of a statement never goes');
CREATE TRIGGER statement_logo_kept BEFORE UPDATE ON statement_logo FOR EACH ROW
EXECUTE FUNCTION refuse_change('a logo of statements never changes');
CREATE TRIGGER statement_logo_stays BEFORE DELETE ON statement_logo FOR EACH ROW
EXECUTE FUNCTION refuse_change('a logo of statements never goes');
