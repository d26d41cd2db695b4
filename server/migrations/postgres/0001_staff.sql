-- Who may sign in, their sessions, their one-time codes, and how often was tried.
--
-- Conventions of every table: ids are TEXT, times are ms since 1970 in UTC (`…_at`), money is
-- whole KES. What is a key or is put in order compares by its bytes (COLLATE "C"), as it does in
-- the server and in SQLite, and not as the database's language would have it.
--
-- The tables, columns, keys and indexes are those of ../sqlite; a test holds them to that.

CREATE TABLE staff (
    staff_id      TEXT COLLATE "C" PRIMARY KEY,
    -- Lower case: people type their address as they like, and have one account.
    email         TEXT COLLATE "C" NOT NULL UNIQUE CHECK (email = lower(email)),
    username      TEXT NOT NULL,
    first_name    TEXT NOT NULL,
    last_name     TEXT NOT NULL,
    phone_number  TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('admin', 'agent', 'supervisor')),
    -- A PHC string; it carries its own parameters, so they can be raised later.
    password_hash TEXT NOT NULL,
    is_active     BOOLEAN NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);

-- A session is a row, so that sign-out, reset and deactivation end it at once: the token only
-- names it. Ended rows stay, for the question who was signed in when.
CREATE TABLE session (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    staff_id   TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at   BIGINT
);

CREATE INDEX session_open_by_staff ON session (staff_id) WHERE ended_at IS NULL;

-- The last code of each purpose: a newer one takes the place of the older. The row outlives the
-- code, to say how long ago it was sent.
CREATE TABLE one_time_code (
    staff_id    TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    purpose     TEXT COLLATE "C" NOT NULL CHECK (purpose IN ('sign_in', 'password_reset')),
    -- Keyed by the deployment's secret: a million tries on a stolen database find nothing.
    fingerprint TEXT NOT NULL,
    wrong_tries BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT,
    PRIMARY KEY (staff_id, purpose)
);

-- Tries that failed, counted by e-mail address (as a fingerprint: what is typed there need not be
-- one) and by network address. In the database, so that a restart or a second server goes on
-- counting where the first stopped.
CREATE TABLE try_count (
    action         TEXT COLLATE "C" NOT NULL,
    subject        TEXT COLLATE "C" NOT NULL,
    tries          BIGINT NOT NULL,
    -- Fifteen minutes after the first try; then the count begins anew.
    window_ends_at BIGINT NOT NULL,
    PRIMARY KEY (action, subject)
);

-- What can be dropped.
CREATE INDEX try_count_by_end ON try_count (window_ends_at);
