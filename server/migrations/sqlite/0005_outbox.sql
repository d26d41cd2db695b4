-- Every e-mail and SMS is a row first, written with what it tells of, and sent from here.

CREATE TABLE outbox_message (
    message_id TEXT PRIMARY KEY,
    channel    TEXT NOT NULL CHECK (channel IN ('email', 'sms')),
    recipient  TEXT NOT NULL,
    subject    TEXT,
    body       TEXT NOT NULL,
    -- The one-time code in the body, so that a test need not search for it.
    code       TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_message_newest ON outbox_message (created_at DESC, message_id DESC);
