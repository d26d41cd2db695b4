-- The span in which it began (W3C Trace Context), to which the traces of what happens later link.
ALTER TABLE payout ADD COLUMN traceparent TEXT;
ALTER TABLE outbox_message ADD COLUMN traceparent TEXT;
ALTER TABLE event ADD COLUMN traceparent TEXT;

CREATE TABLE slice_crash (
    name     TEXT COLLATE "C" NOT NULL,
    version  TEXT COLLATE "C" NOT NULL,
    error    TEXT COLLATE "C" NOT NULL,
    place    TEXT COLLATE "C" NOT NULL,
    staff_id TEXT COLLATE "C" NOT NULL,
    times    BIGINT NOT NULL,
    seen_at  BIGINT NOT NULL,
    PRIMARY KEY (name, version, error, place, staff_id)
);

CREATE INDEX slice_crash_by_seen_at ON slice_crash (seen_at);

-- Whether the screens of the sandbox are live; NULL if they are as those of the deployment.
ALTER TABLE sandbox ADD COLUMN live_screens BOOLEAN;
ALTER TABLE sandbox ADD COLUMN link_id TEXT COLLATE "C";
ALTER TABLE sandbox ADD COLUMN ends_at BIGINT;
ALTER TABLE sandbox ADD COLUMN kept BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE story (
    story_id TEXT COLLATE "C" PRIMARY KEY CHECK (story_id = 'story'),
    name     TEXT COLLATE "C" NOT NULL,
    content  TEXT COLLATE "C" NOT NULL,
    done     BIGINT NOT NULL DEFAULT 0,
    acted    BOOLEAN NOT NULL DEFAULT false
);

CREATE TABLE story_link (
    link_id      TEXT COLLATE "C" PRIMARY KEY,
    token        TEXT COLLATE "C" NOT NULL UNIQUE,
    story        TEXT COLLATE "C" NOT NULL,
    roles        TEXT COLLATE "C" NOT NULL,
    worlds       BIGINT NOT NULL CHECK (worlds > 0),
    made         BIGINT NOT NULL DEFAULT 0 CHECK (made BETWEEN 0 AND worlds),
    lives_for_ms BIGINT NOT NULL CHECK (lives_for_ms > 0),
    works_until  BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    revoked_at   BIGINT
);
