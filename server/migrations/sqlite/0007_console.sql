-- What operators and testers set from the console. In the database, so that it outlives a restart
-- and holds for every server on the same data.

-- How the clock is set; the one row is always there.
CREATE TABLE clock_setting (
    clock_id  TEXT PRIMARY KEY,
    offset_ms INTEGER NOT NULL,
    -- Where it stands; NULL while it runs.
    frozen_at INTEGER
) STRICT;

INSERT INTO clock_setting (clock_id, offset_ms, frozen_at) VALUES ('sandbox', 0, NULL);

-- Faults that calls are given on purpose, in the order in which they are tried.
CREATE TABLE fault (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    fault_id TEXT NOT NULL UNIQUE,
    -- Of which calls; NULL for every method. In the path `*` stands for one segment.
    method   TEXT,
    path     TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('status', 'latency', 'drop', 'reset', 'truncate', 'malformed')),
    -- On which side of the work: 'after' loses the answer to work that was done.
    moment   TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    status   INTEGER,
    ms       INTEGER,
    -- Millionths: no floating point in the store.
    chance   INTEGER NOT NULL CHECK (chance BETWEEN 1 AND 1000000),
    -- How often it may hit; NULL for no end.
    times    INTEGER,
    -- What chance is drawn from. `drawn` counts the draws, so that a restart goes on where it was.
    seed     INTEGER NOT NULL,
    drawn    INTEGER NOT NULL DEFAULT 0,
    hits     INTEGER NOT NULL DEFAULT 0,
    CHECK ((kind = 'status') = (status IS NOT NULL)),
    CHECK ((kind = 'latency') = (ms IS NOT NULL))
) STRICT;

-- Copies of the data under a name: a table's rows each, as JSON.
CREATE TABLE snapshot (
    name     TEXT PRIMARY KEY,
    saved_at INTEGER NOT NULL
) STRICT;

CREATE TABLE snapshot_table (
    name       TEXT NOT NULL REFERENCES snapshot (name) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    content    TEXT NOT NULL,
    PRIMARY KEY (name, table_name)
) STRICT;

-- Servers keep clock and faults in memory, and see by this number when another one changed them.
INSERT INTO version (name, value) VALUES ('console', 0);

CREATE TRIGGER clock_set AFTER UPDATE ON clock_setting BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'console';
END;

CREATE TRIGGER fault_added AFTER INSERT ON fault BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'console';
END;

CREATE TRIGGER fault_removed AFTER DELETE ON fault BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'console';
END;
