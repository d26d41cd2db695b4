-- A build that is taken back by itself if it fails: when it was first watched, in place of what was reported of the
-- build before until then.
DROP TABLE slice_witness;
DROP TABLE slice_watch;
CREATE TABLE slice_watch (
    name       TEXT PRIMARY KEY REFERENCES slice (name),
    version    TEXT NOT NULL,
    -- The build that others get, or got before; NULL for none.
    against    TEXT,
    began_at   INTEGER NOT NULL,
    -- Since when everybody gets it; NULL while it is rolled out.
    live_since INTEGER
) STRICT;

-- The screens of builds that people who are signed in have opened, and whether they saw them fail.
CREATE TABLE slice_page (
    name      TEXT NOT NULL,
    version   TEXT NOT NULL,
    staff_id  TEXT NOT NULL,
    -- The pattern of its path; '' for a build that was loaded ahead of its screens.
    screen    TEXT NOT NULL,
    -- For the last time.
    seen_at   INTEGER NOT NULL,
    -- For the last time; NULL for never.
    failed_at INTEGER,
    PRIMARY KEY (name, version, staff_id, screen)
) STRICT;

CREATE INDEX slice_page_by_seen_at ON slice_page (seen_at);
