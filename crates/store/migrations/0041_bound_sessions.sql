-- widens
-- A look at an account ends with the token of the operator who looks, also where that token stands in no session.
ALTER TABLE console_session ADD COLUMN bound_hash TEXT;
