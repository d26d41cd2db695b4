-- The span in which it began (W3C Trace Context), to which the traces of what happens later link.
ALTER TABLE payout ADD COLUMN traceparent TEXT;
ALTER TABLE outbox_message ADD COLUMN traceparent TEXT;
ALTER TABLE event ADD COLUMN traceparent TEXT;

CREATE TABLE slice_crash (
    name     TEXT COLLATE "C" NOT NULL,
    version  TEXT COLLATE "C" NOT NULL,
    error    TEXT COLLATE "C" NOT NULL,
    place    TEXT COLLATE "C" NOT NULL,
    staff_id TEXT COLLATE "C" NOT NULL,
    times    BIGINT NOT NULL,
    seen_at  BIGINT NOT NULL,
    PRIMARY KEY (name, version, error, place, staff_id)
);

CREATE INDEX slice_crash_by_seen_at ON slice_crash (seen_at);
