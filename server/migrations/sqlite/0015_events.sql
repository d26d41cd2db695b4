-- Who did what, when and from where: the audit trail. It is what happened, not data: resets, restores,
-- snapshots and copies leave it alone. The times are on the clock that nobody sets.

CREATE TABLE event (
    -- The order in which it was written: the machine's clock may be corrected.
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    -- An e-mail address, a keyed hash of the one that was typed, an operator or the command line.
    who      TEXT NOT NULL,
    -- An e-mail address, or the name of what was changed.
    about    TEXT,
    -- NULL for the command line.
    address  TEXT,
    details  TEXT,
    -- More than 1 where too many failures in an hour are counted instead of listed.
    times    INTEGER NOT NULL
) STRICT;

-- The oldest, to delete; and the times to search.
CREATE INDEX event_by_time ON event (at);

-- One kind, and how many failures were listed lately.
CREATE INDEX event_by_kind ON event (kind, at);
