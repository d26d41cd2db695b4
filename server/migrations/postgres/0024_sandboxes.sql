-- The sandboxes of a deployment: whole instances besides this one, each with its data in a file of its
-- own or, on PostgreSQL, in a schema of its own. Only the store of the sandbox 'main' has rows here.

CREATE TABLE sandbox (
    -- Names its file or schema, so that a new sandbox under an old name never meets the old one's data.
    sandbox_id    TEXT COLLATE "C" PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL UNIQUE,
    -- Keyed by the deployment's secret: no console can be opened with a stolen database.
    token         TEXT COLLATE "C" NOT NULL,
    -- The times are on the clock that nobody sets.
    created_at    BIGINT NOT NULL,
    -- Written now and then; servers know it exactly in memory.
    last_used_at  BIGINT NOT NULL,
    -- How long it is kept without being used.
    expires_in_ms BIGINT NOT NULL CHECK (expires_in_ms > 0),
    calls         BIGINT NOT NULL DEFAULT 0,
    -- When something is to be done in it without a call, such as settling a payout; NULL for nothing.
    -- While a server has it open, the time at which others take over if that server dies.
    due_at        BIGINT
);

CREATE INDEX sandbox_due ON sandbox (due_at) WHERE due_at IS NOT NULL;

-- Which build of a slice is live in a sandbox, once one was chosen there. Without a row, it is the one that
-- is live in 'main'.
CREATE TABLE sandbox_slice (
    sandbox_id       TEXT COLLATE "C" NOT NULL REFERENCES sandbox (sandbox_id) ON DELETE CASCADE,
    name             TEXT COLLATE "C" NOT NULL,
    live_version     TEXT COLLATE "C",
    previous_version TEXT COLLATE "C",
    PRIMARY KEY (sandbox_id, name)
);

-- A build that was published for a sandbox is never what 'main' rolls back to, and is deleted once no
-- sandbox has it live.
ALTER TABLE slice_build ADD COLUMN published_for TEXT COLLATE "C";

-- In which sandbox it was done; NULL for 'main'.
ALTER TABLE slice_event ADD COLUMN sandbox_id TEXT COLLATE "C";
