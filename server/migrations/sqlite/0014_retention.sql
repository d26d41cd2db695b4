-- What is deleted after a time, and how many keys a user has.

-- Sessions by their end, where this index does not exist yet.
CREATE INDEX IF NOT EXISTS session_by_end ON session (COALESCE(ended_at, expires_at));

-- Messages with nothing left to do, the oldest first.
CREATE INDEX outbox_message_done ON outbox_message (created_at) WHERE next_attempt_at IS NULL;

-- A new key is refused while the user has too many. Only this index is read for that.
CREATE INDEX idempotency_key_by_user ON idempotency_key (staff_id, created_at);
