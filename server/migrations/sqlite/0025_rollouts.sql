-- A build that only some browsers get, while the others keep the live one. One at a time for a slice, and only
-- in 'main'.

CREATE TABLE slice_rollout (
    name          TEXT PRIMARY KEY REFERENCES slice (name),
    version       TEXT NOT NULL,
    -- Of 100 buckets of browsers, how many get it.
    percent       INTEGER NOT NULL CHECK (percent BETWEEN 0 AND 100),
    -- As it was given, such as '5:10m,25:30m,100'; NULL when only people change the percentage.
    plan          TEXT,
    began_at      INTEGER NOT NULL,
    -- When it got its percentage.
    step_began_at INTEGER NOT NULL
) STRICT;

-- The trail also has what was done to rollouts, and a note that says more than the versions do.
CREATE TABLE slice_event_new (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    TEXT NOT NULL UNIQUE,
    at          INTEGER NOT NULL,
    done_by     TEXT NOT NULL,
    act         TEXT NOT NULL CHECK (act IN ('published', 'held', 'activated', 'rolled_back', 'removed',
                                             'rolled_out', 'rollout_held', 'promoted', 'aborted')),
    name        TEXT NOT NULL,
    version     TEXT,
    live_before TEXT,
    sandbox_id  TEXT,
    note        TEXT
) STRICT;
INSERT INTO slice_event_new (position, event_id, at, done_by, act, name, version, live_before, sandbox_id)
SELECT position, event_id, at, done_by, act, name, version, live_before, sandbox_id FROM slice_event;
DROP TABLE slice_event;
ALTER TABLE slice_event_new RENAME TO slice_event;

-- What pages reported of a build, by minute.
CREATE TABLE slice_report (
    name    TEXT NOT NULL,
    version TEXT NOT NULL,
    -- Its first moment.
    minute  INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('loaded', 'not_loaded', 'crashed', 'call_failed')),
    -- How long it took in ms, rounded; why not; the pattern of the screen's path; the status.
    detail  TEXT NOT NULL,
    times   INTEGER NOT NULL,
    PRIMARY KEY (name, version, minute, outcome, detail)
) STRICT;

CREATE INDEX slice_report_by_minute ON slice_report (minute);

-- A build that is taken back by itself if it fails more often than the one before.
CREATE TABLE slice_watch (
    name          TEXT PRIMARY KEY REFERENCES slice (name),
    watch_id      TEXT NOT NULL UNIQUE,
    version       TEXT NOT NULL,
    -- The build that others get, or got before; NULL for none.
    against       TEXT,
    -- Since when everybody gets it; NULL while it is rolled out.
    live_since    INTEGER,
    -- What pages reported of the build before until then.
    pages_before  INTEGER NOT NULL,
    failed_before INTEGER NOT NULL
) STRICT;

-- What each witness reported of the builds of a watch.
CREATE TABLE slice_witness (
    watch_id TEXT NOT NULL REFERENCES slice_watch (watch_id) ON DELETE CASCADE,
    version  TEXT NOT NULL,
    -- A keyed hash of a user, or of a network address; it differs from watch to watch.
    witness  TEXT NOT NULL,
    -- A keyed hash of the network address.
    address  TEXT NOT NULL,
    pages    INTEGER NOT NULL,
    failed   INTEGER NOT NULL,
    PRIMARY KEY (watch_id, version, witness)
) STRICT;
