-- Attempts to pay loans out. A row is written before mobile money is asked, so that whatever
-- happens next, the attempt is known and can be settled by asking what became of it.

CREATE TABLE payout (
    payout_id      TEXT PRIMARY KEY,
    loan_id        TEXT NOT NULL REFERENCES loan (loan_id),
    -- What mobile money is asked with: its originator id, never used twice.
    transaction_id TEXT NOT NULL UNIQUE,
    amount         INTEGER NOT NULL CHECK (amount > 0),
    phone_number   TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('PENDING', 'COMPLETED', 'FAILED')),
    receipt        TEXT UNIQUE,
    result_code    TEXT,
    error_message  TEXT,
    -- The session's user. What the client called the agent is kept beside it, as sent.
    staff_id       TEXT NOT NULL REFERENCES staff (staff_id),
    agent_id       TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    processed_at   INTEGER,
    CHECK ((status = 'COMPLETED') = (receipt IS NOT NULL)),
    CHECK ((status = 'PENDING') = (processed_at IS NULL))
) STRICT;

-- A loan is paid once: whatever the code does, the database refuses a second live payout.
CREATE UNIQUE INDEX payout_one_live_per_loan ON payout (loan_id) WHERE status IN ('PENDING', 'COMPLETED');

-- The loan's latest payout; the history's own order and keyset; what the reconciler looks for.
CREATE INDEX payout_by_loan ON payout (loan_id, created_at DESC);
CREATE INDEX payout_history ON payout (created_at DESC, payout_id DESC);
CREATE INDEX payout_pending ON payout (created_at) WHERE status = 'PENDING';
