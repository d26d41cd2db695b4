-- Files are compressed in the background, after the call that published them; and a slice that was
-- published by mistake can be removed.

-- Of its content: the same bytes are compressed once. NULL in rows of an earlier release.
ALTER TABLE slice_file ADD COLUMN digest TEXT;
-- When it is due to be compressed, on the clock that nobody sets. A server claims a file by moving the
-- time on, so that the work of a server that died comes up again. NULL when it is compressed, or never
-- will be.
ALTER TABLE slice_file ADD COLUMN compress_at INTEGER;

CREATE INDEX slice_file_by_digest ON slice_file (digest);
CREATE INDEX slice_file_due ON slice_file (compress_at) WHERE compress_at IS NOT NULL;

-- A removed build has no files any more. Its row stays: browsers may have its files for a year, so its
-- version can only be published again with the same files.
ALTER TABLE slice_build ADD COLUMN removed_at INTEGER;

-- The trail also has removals. Their version is the one that is live afterwards; NULL when none is.
CREATE TABLE slice_event_new (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    TEXT NOT NULL UNIQUE,
    at          INTEGER NOT NULL,
    done_by     TEXT NOT NULL,
    act         TEXT NOT NULL CHECK (act IN ('published', 'held', 'activated', 'rolled_back', 'removed')),
    name        TEXT NOT NULL,
    version     TEXT,
    live_before TEXT
) STRICT;
INSERT INTO slice_event_new (position, event_id, at, done_by, act, name, version, live_before)
SELECT position, event_id, at, done_by, act, name, version, live_before FROM slice_event;
DROP TABLE slice_event;
ALTER TABLE slice_event_new RENAME TO slice_event;
