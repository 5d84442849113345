-- widens
-- What callers paid and what vendors took, by the hour, back end and model. Rows of `margin` stay as they are: what programs
-- of the release before still write there is read beside these. An empty currency is what was made at an unknown cost.
CREATE TABLE taking (
    hour BIGINT NOT NULL,
    backend_id TEXT NOT NULL,
    vendor TEXT NOT NULL,
    operation TEXT NOT NULL,
    model TEXT NOT NULL,
    currency TEXT NOT NULL,
    jobs BIGINT NOT NULL CHECK (jobs >= 0),
    quota BIGINT NOT NULL CHECK (quota >= 0),
    cost BIGINT NOT NULL CHECK (cost >= 0),
    PRIMARY KEY (hour, backend_id, operation, model, currency)
) {clustered};
