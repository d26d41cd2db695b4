-- The span in which it began (W3C Trace Context), to which the traces of what happens later link.
ALTER TABLE payout ADD COLUMN traceparent TEXT;
ALTER TABLE outbox_message ADD COLUMN traceparent TEXT;
ALTER TABLE event ADD COLUMN traceparent TEXT;

-- The places at which screens of a build crashed, for people who are signed in. At most 50 of a build.
CREATE TABLE slice_crash (
    name     TEXT NOT NULL,
    version  TEXT NOT NULL,
    -- The name of the error, such as 'TypeError'; never its message, which has data.
    error    TEXT NOT NULL,
    -- In the sources, such as 'src/payout/DisburseDialog.tsx:42', as the build's source map says; in the built file if
    -- there is none.
    place    TEXT NOT NULL,
    staff_id TEXT NOT NULL,
    times    INTEGER NOT NULL,
    -- For the last time.
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (name, version, error, place, staff_id)
) STRICT;

CREATE INDEX slice_crash_by_seen_at ON slice_crash (seen_at);
