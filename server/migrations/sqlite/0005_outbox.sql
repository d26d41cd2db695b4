-- Every e-mail and SMS is a row first, written with what it tells of, and sent from here.

CREATE TABLE outbox_message (
    -- The order in which they came: clocks are moved back, and stand.
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Names the e-mail too (its Message-ID), so that one sent twice is seen to be one.
    message_id      TEXT NOT NULL UNIQUE,
    channel         TEXT NOT NULL CHECK (channel IN ('email', 'sms')),
    recipient       TEXT NOT NULL,
    subject         TEXT,
    body            TEXT NOT NULL,
    -- The one-time code in the body, so that a test need not search for it.
    code            TEXT,
    -- When the code is worthless: a message that waits is not sent any more, and outside demo
    -- mode the code is struck out of the row.
    code_expires_at INTEGER,
    created_at      INTEGER NOT NULL,
    -- When to send it, or to try again; null when there is nothing left to do. A sender claims a
    -- message by moving this on past the time that sending may take: if it dies meanwhile, the
    -- message comes up again by itself.
    next_attempt_at INTEGER,
    attempts        INTEGER NOT NULL DEFAULT 0,
    sent_at         INTEGER,
    last_error      TEXT
) STRICT;

-- What the sender looks for, and whose code is to be struck out.
CREATE INDEX outbox_message_due ON outbox_message (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX outbox_message_code ON outbox_message (code_expires_at) WHERE code IS NOT NULL;
