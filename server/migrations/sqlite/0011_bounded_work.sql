-- What is deleted, ended or swept is found by an index, however much there is.

-- Whose rows others refer to: for each one that is deleted, the rows of these tables are searched.
CREATE INDEX loan_by_customer ON loan (customer_id);
CREATE INDEX payout_by_staff ON payout (staff_id);

-- Ending somebody's sessions finds those that have not expired: there may be millions of others.
DROP INDEX session_open_by_staff;
CREATE INDEX session_by_staff ON session (staff_id, expires_at);

-- Sessions are deleted some time after they ended.
CREATE INDEX session_by_end ON session (COALESCE(ended_at, expires_at));

-- Messages that are not sent because their code has expired.
CREATE INDEX outbox_message_unsent_code ON outbox_message (code_expires_at) WHERE next_attempt_at IS NOT NULL;

-- Which servers run on this database: one row each, removed when the server stops. A row that is not
-- renewed is of a server that was killed. Resets, snapshots and copies leave them alone.
CREATE TABLE server_lease (
    server_id  TEXT PRIMARY KEY,
    -- On the engine's own clock, which no server and no console sets.
    expires_at INTEGER NOT NULL,
    -- A server that finds another number than it left has other data before it: a copy was put back.
    renewals   INTEGER NOT NULL
) STRICT;
