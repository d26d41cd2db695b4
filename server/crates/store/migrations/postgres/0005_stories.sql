-- Whether the screens of the sandbox are live; NULL if they are as those of the deployment.
ALTER TABLE sandbox ADD COLUMN live_screens BOOLEAN;

CREATE TABLE story (
    story_id TEXT COLLATE "C" PRIMARY KEY CHECK (story_id = 'story'),
    name     TEXT COLLATE "C" NOT NULL,
    content  TEXT COLLATE "C" NOT NULL,
    done     BIGINT NOT NULL DEFAULT 0,
    acted    BOOLEAN NOT NULL DEFAULT false
);
