-- Who is signed in to the console. In the database, so that signing out holds for every server and
-- outlives a restart. The times are on the clock that nobody sets: the console moves the sandbox's own.

CREATE TABLE console_sign_in (
    -- Keyed by the deployment's secret and the console token: no cookie can be made of a stolen database,
    -- and a new token ends all sign-ins.
    sign_in_id   TEXT PRIMARY KEY,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT;

-- What has not been used for too long can be dropped.
CREATE INDEX console_sign_in_by_use ON console_sign_in (last_used_at);
