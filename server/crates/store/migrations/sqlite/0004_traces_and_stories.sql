-- The span in which it began (W3C Trace Context), to which the traces of what happens later link.
ALTER TABLE payout ADD COLUMN traceparent TEXT;
ALTER TABLE outbox_message ADD COLUMN traceparent TEXT;
ALTER TABLE event ADD COLUMN traceparent TEXT;

-- The places at which screens of a build crashed, for people who are signed in. At most 50 of a build.
CREATE TABLE slice_crash (
    name     TEXT NOT NULL,
    version  TEXT NOT NULL,
    -- The name of the error, such as 'TypeError'; never its message, which has data.
    error    TEXT NOT NULL,
    -- In the sources, such as 'src/payout/DisburseDialog.tsx:42', as the build's source map says; in the built file if
    -- there is none.
    place    TEXT NOT NULL,
    staff_id TEXT NOT NULL,
    times    INTEGER NOT NULL,
    -- For the last time.
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (name, version, error, place, staff_id)
) STRICT;

CREATE INDEX slice_crash_by_seen_at ON slice_crash (seen_at);

-- Whether the screens of the sandbox are live; NULL if they are as those of the deployment.
ALTER TABLE sandbox ADD COLUMN live_screens INTEGER CHECK (live_screens IN (0, 1));
-- For sandboxes that a link has made: the link, when they go whatever happens, and whether that was put off.
ALTER TABLE sandbox ADD COLUMN link_id TEXT;
ALTER TABLE sandbox ADD COLUMN ends_at INTEGER;
ALTER TABLE sandbox ADD COLUMN kept INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1));

-- The story that this sandbox tells, if it tells one.
CREATE TABLE story (
    story_id TEXT PRIMARY KEY CHECK (story_id = 'story'),
    name     TEXT NOT NULL,
    -- The file as it was when the sandbox was made.
    content  TEXT NOT NULL,
    -- The number of steps that are done.
    done     INTEGER NOT NULL DEFAULT 0,
    -- Whether the act of the step that is next is done.
    acted    INTEGER NOT NULL DEFAULT 0 CHECK (acted IN (0, 1))
) STRICT;

-- The links with which guests make sandboxes that tell a story.
CREATE TABLE story_link (
    link_id      TEXT PRIMARY KEY,
    -- Keyed by the deployment's secret: a stolen database opens nothing.
    token        TEXT NOT NULL UNIQUE,
    story        TEXT NOT NULL,
    -- With blanks between them, the first one for who opens the link.
    roles        TEXT NOT NULL,
    -- How many sandboxes it makes, and has made.
    worlds       INTEGER NOT NULL CHECK (worlds > 0),
    made         INTEGER NOT NULL DEFAULT 0 CHECK (made BETWEEN 0 AND worlds),
    -- How long each of them is there.
    lives_for_ms INTEGER NOT NULL CHECK (lives_for_ms > 0),
    works_until  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER
) STRICT;
