-- A build says what it brings: screens, menu entries, and sentences for its failures. As JSON, as its
-- manifest has it. NULL in rows of an earlier release.
ALTER TABLE slice_build ADD COLUMN brings TEXT;

-- One row. Who makes a build live updates it first, so that two slices cannot take one path at the same time.
CREATE TABLE slice_lock (
    holder TEXT NOT NULL
);
INSERT INTO slice_lock (holder) VALUES ('');

-- Tokens that deploy one slice through the portal's listener. The times are on the clock that nobody sets.
CREATE TABLE deploy_token (
    -- The SHA-256 of the token, which is random: it cannot be guessed from it.
    digest       TEXT COLLATE "C" PRIMARY KEY,
    slice        TEXT COLLATE "C" NOT NULL,
    -- What its owner calls it; the trail has it.
    name         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    -- To the minute; NULL when it was never used.
    last_used_at BIGINT,
    UNIQUE (slice, name)
);
