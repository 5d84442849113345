-- Why a job ended without a result, as a word; rows from before tell it by their message.
ALTER TABLE job ADD COLUMN fault TEXT;
