-- A build that is taken back by itself if it fails: when it was first watched, in place of what was reported of the
-- build before until then.
DROP TABLE slice_witness;
DROP TABLE slice_watch;
CREATE TABLE slice_watch (
    name       TEXT COLLATE "C" PRIMARY KEY REFERENCES slice (name),
    version    TEXT COLLATE "C" NOT NULL,
    -- The build that others get, or got before; NULL for none.
    against    TEXT COLLATE "C",
    began_at   BIGINT NOT NULL,
    -- Since when everybody gets it; NULL while it is rolled out.
    live_since BIGINT
);

-- The screens of builds that people who are signed in have opened, and whether they saw them fail.
CREATE TABLE slice_page (
    name      TEXT COLLATE "C" NOT NULL,
    version   TEXT COLLATE "C" NOT NULL,
    staff_id  TEXT COLLATE "C" NOT NULL,
    -- The pattern of its path; '' for a build that was loaded ahead of its screens.
    screen    TEXT COLLATE "C" NOT NULL,
    -- For the last time.
    seen_at   BIGINT NOT NULL,
    -- For the last time; NULL for never.
    failed_at BIGINT,
    PRIMARY KEY (name, version, staff_id, screen)
);

CREATE INDEX slice_page_by_seen_at ON slice_page (seen_at);
