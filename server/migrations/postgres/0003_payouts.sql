-- Attempts to pay loans out. A row is written before mobile money is asked, so that whatever
-- happens next, the attempt is known and can be settled by asking what became of it.

CREATE TABLE payout (
    payout_id      TEXT COLLATE "C" PRIMARY KEY,
    loan_id        TEXT COLLATE "C" NOT NULL REFERENCES loan (loan_id),
    -- What mobile money is asked with: its originator id, never used twice.
    transaction_id TEXT COLLATE "C" NOT NULL UNIQUE,
    amount         BIGINT NOT NULL CHECK (amount > 0),
    phone_number   TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('PENDING', 'COMPLETED', 'FAILED')),
    receipt        TEXT COLLATE "C" UNIQUE,
    result_code    TEXT,
    error_message  TEXT,
    -- The session's user. What the client called the agent is kept beside it, as sent.
    staff_id       TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    agent_id       TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    processed_at   BIGINT,
    -- When its status is asked for next while it is PENDING, and how often it was. Whoever asks
    -- moves the time on first, which keeps every other server off it meanwhile: a lease that
    -- runs out by itself when its holder dies.
    check_at       BIGINT NOT NULL,
    checks         BIGINT NOT NULL DEFAULT 0,
    CHECK ((status = 'COMPLETED') = (receipt IS NOT NULL)),
    CHECK ((status = 'PENDING') = (processed_at IS NULL))
);

-- A loan is paid once: whatever the code does, the database refuses a second live payout.
CREATE UNIQUE INDEX payout_one_live_per_loan ON payout (loan_id) WHERE status IN ('PENDING', 'COMPLETED');

-- The loan's latest payout; the history's own order and keyset; what the reconciler looks for.
CREATE INDEX payout_by_loan ON payout (loan_id, created_at DESC);
CREATE INDEX payout_history ON payout (created_at DESC, payout_id DESC);
CREATE INDEX payout_pending ON payout (check_at) WHERE status = 'PENDING';

-- The keys that callers sent so that a repeat of a call is safe. A key is entered in the
-- transaction that decides on its call, so of two calls with one key only one is decided on.
CREATE TABLE idempotency_key (
    -- Keys are each user's own: nobody can see or spoil another's answer.
    staff_id        TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    idempotency_key TEXT COLLATE "C" NOT NULL,
    -- SHA-256 of the loan and the body, to tell a repeat from another call under the same key.
    fingerprint     TEXT NOT NULL,
    -- The payout that the call started; NULL when it was refused.
    payout_id       TEXT COLLATE "C" REFERENCES payout (payout_id),
    -- How the first call wanted its answer written, for when somebody else has to write it.
    request_id      TEXT NOT NULL,
    problem         BOOLEAN NOT NULL,
    -- The first answer, byte for byte, from when there is one.
    status          BIGINT,
    body            TEXT,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (staff_id, idempotency_key),
    CHECK ((status IS NULL) = (body IS NULL))
);

-- What a settled payout answers; what is old enough to be forgotten.
CREATE INDEX idempotency_key_by_payout ON idempotency_key (payout_id);
CREATE INDEX idempotency_key_oldest ON idempotency_key (created_at);
