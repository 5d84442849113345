-- Files that callers uploaded to be used as inputs are told from other files by an identifier of their own.
ALTER TABLE asset ADD COLUMN upload_id TEXT;
CREATE UNIQUE INDEX asset_upload ON asset (upload_id) WHERE upload_id IS NOT NULL;
CREATE INDEX asset_uploads ON asset (account_id, created_ms, upload_id) WHERE upload_id IS NOT NULL;
