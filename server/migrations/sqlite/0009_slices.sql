-- Builds of slices, and which of them is live. They are what is deployed, not data: resets and
-- snapshots leave them alone. They are kept here and not as files of a server, so that every server
-- on the same store serves a build that was published through one.

-- A slice that something was published of. What came with the portal's own files is live where no
-- version is named here, or one that is not there.
CREATE TABLE slice (
    name             TEXT PRIMARY KEY,
    live_version     TEXT,
    -- What a roll-back goes to; NULL for the next older build.
    previous_version TEXT
) STRICT;

-- A build, never changed and never removed: browsers keep its files for a year.
CREATE TABLE slice_build (
    name         TEXT NOT NULL REFERENCES slice (name),
    version      TEXT NOT NULL,
    -- Versions of mfe-kit that it was built for, as npm writes ranges.
    shell        TEXT NOT NULL,
    -- Of its manifest's bytes, as browsers check it.
    integrity    TEXT NOT NULL,
    -- Of all its files, to tell the same build from another one of the same version.
    digest       TEXT NOT NULL,
    size         INTEGER NOT NULL,
    published_at INTEGER NOT NULL,
    published_by TEXT NOT NULL,
    PRIMARY KEY (name, version)
) STRICT;

CREATE TABLE slice_file (
    name    TEXT NOT NULL REFERENCES slice (name),
    version TEXT NOT NULL,
    path    TEXT NOT NULL,
    content BLOB NOT NULL,
    -- Compressed once, when it came; NULL for what is compressed already.
    brotli  BLOB,
    gzip    BLOB,
    PRIMARY KEY (name, version, path)
) STRICT;

-- Who had what done, and when.
CREATE TABLE slice_event (
    -- The order in which it was done: clocks are moved back, and stand.
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    TEXT NOT NULL UNIQUE,
    at          INTEGER NOT NULL,
    done_by     TEXT NOT NULL,
    act         TEXT NOT NULL CHECK (act IN ('published', 'held', 'activated', 'rolled_back')),
    name        TEXT NOT NULL,
    version     TEXT NOT NULL,
    live_before TEXT
) STRICT;
