-- apart
-- widens
-- Links by their names, and those of an account; while others write, because there may be millions of files.
CREATE INDEX {apart} IF NOT EXISTS asset_link ON asset (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX {apart} IF NOT EXISTS asset_links ON asset (account_id, link_ends_ms, link_id) WHERE link_id IS NOT NULL;
