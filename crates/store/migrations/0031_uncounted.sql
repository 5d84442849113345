-- widens
-- How many jobs are in which state changes by the minute, and so does what a server counts of it now and then. A plan that was
-- made when nothing waited goes through all that wait. Where nothing is counted, many are expected, and the indexes by turn are
-- used, whenever that was.

-- only postgres
ALTER TABLE job ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE delivery ALTER COLUMN state SET STATISTICS 0;
