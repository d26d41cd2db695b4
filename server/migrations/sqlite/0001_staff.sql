-- Who may sign in, and their sessions.
--
-- Conventions of every table: ids are TEXT, times are ms since 1970 in UTC (`…_at`), money is
-- whole KES, booleans are 0 or 1. STRICT makes SQLite hold to the types as PostgreSQL does.

CREATE TABLE staff (
    staff_id      TEXT PRIMARY KEY,
    -- Lower case: people type their address as they like, and have one account.
    email         TEXT NOT NULL UNIQUE CHECK (email = lower(email)),
    username      TEXT NOT NULL,
    first_name    TEXT NOT NULL,
    last_name     TEXT NOT NULL,
    phone_number  TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('admin', 'agent', 'supervisor')),
    -- A PHC string; it carries its own parameters, so they can be raised later.
    password_hash TEXT NOT NULL,
    is_active     INTEGER NOT NULL CHECK (is_active IN (0, 1)),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

-- A session is a row, so that sign-out, reset and deactivation end it at once: the token only
-- names it. Ended rows stay, for the question who was signed in when.
CREATE TABLE session (
    session_id TEXT PRIMARY KEY,
    staff_id   TEXT NOT NULL REFERENCES staff (staff_id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

CREATE INDEX session_open_by_staff ON session (staff_id) WHERE ended_at IS NULL;
