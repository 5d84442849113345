-- widens
-- How much an account may owe for work: an operator invoices it later. Older programs would not lend: the commit that sets the first limit
-- has them refuse to start.
ALTER TABLE account ADD COLUMN credit_limit BIGINT;
