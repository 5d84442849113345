-- widens
-- Leases, deadlines and due times are in a time of the service's own, which goes on evenly whatever is done to a wall clock: it was
-- the wall clock when this table was made. What it was last is noted for each machine since it was switched on, together with that
-- machine's count of time and the wall clock (the database's, where nodes share one), so that the next process goes on from there.
-- The row without a machine says how far the database's clock is ahead by what all nodes agree on.
CREATE TABLE clock (
    machine TEXT PRIMARY KEY NOT NULL,
    boot_ms BIGINT NOT NULL,
    steady_ms BIGINT NOT NULL,
    wall_ms BIGINT NOT NULL
) {clustered};
