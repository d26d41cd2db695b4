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
