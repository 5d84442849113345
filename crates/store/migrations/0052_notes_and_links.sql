-- widens
-- What operators note of an account, for one another; its caller never sees it.
ALTER TABLE account ADD COLUMN notes TEXT;
-- A file that whoever has an address may see: under which name, and until when.
ALTER TABLE asset ADD COLUMN link_id TEXT;
ALTER TABLE asset ADD COLUMN link_ends_ms BIGINT;
