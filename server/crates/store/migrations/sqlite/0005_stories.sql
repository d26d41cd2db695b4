-- Whether the screens of the sandbox are live; NULL if they are as those of the deployment.
ALTER TABLE sandbox ADD COLUMN live_screens INTEGER CHECK (live_screens IN (0, 1));

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
