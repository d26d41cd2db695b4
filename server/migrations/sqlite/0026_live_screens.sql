-- What the live screens keep. Where the screens are as specified, nobody writes here.

-- What administrators set for everybody. One row.
CREATE TABLE portal_rules (
    rules_id              TEXT PRIMARY KEY,
    -- NULL: as long as the deployment allows.
    session_minutes       INTEGER CHECK (session_minutes > 0),
    -- The largest payout in KES; NULL: any.
    maximum_amount        INTEGER CHECK (maximum_amount > 0),
    confirmation_required INTEGER NOT NULL CHECK (confirmation_required IN (0, 1)),
    auto_retry            INTEGER NOT NULL CHECK (auto_retry IN (0, 1)),
    retry_attempts        INTEGER NOT NULL CHECK (retry_attempts >= 0)
) STRICT;

INSERT INTO portal_rules
    (rules_id, session_minutes, maximum_amount, confirmation_required, auto_retry, retry_attempts)
SELECT 'portal', NULL, NULL, 1, 0, 3;

-- What somebody set for themselves. Without a row, the defaults.
CREATE TABLE preference (
    staff_id        TEXT PRIMARY KEY REFERENCES staff (staff_id),
    language        TEXT NOT NULL CHECK (language IN ('en', 'sw')),
    -- IANA; NULL: the deployment's.
    time_zone       TEXT,
    notify_by_email INTEGER NOT NULL CHECK (notify_by_email IN (0, 1)),
    notify_by_sms   INTEGER NOT NULL CHECK (notify_by_sms IN (0, 1))
) STRICT;

-- Until when somebody has read their notifications.
CREATE TABLE notification_read (
    staff_id   TEXT PRIMARY KEY REFERENCES staff (staff_id),
    read_until INTEGER NOT NULL
) STRICT;

-- Payouts that settled after their calls were answered, by who made them: what notifications are read from.
CREATE INDEX payout_settled_later ON payout (staff_id, processed_at) WHERE processed_at - created_at >= 8000;

-- A password alone opens no session.
ALTER TABLE staff ADD COLUMN sign_in_code_required INTEGER NOT NULL DEFAULT 0 CHECK (sign_in_code_required IN (0, 1));
-- NULL: it is the one that the account was opened with, or was set by an earlier release.
ALTER TABLE staff ADD COLUMN password_changed_at INTEGER;

-- Where it was opened: the network address, and the browser and system in words. NULL in rows of an earlier
-- release.
ALTER TABLE session ADD COLUMN address TEXT;
ALTER TABLE session ADD COLUMN device TEXT;

-- What moved in the tables above, so that open pages read it again.
INSERT INTO version (name, value) VALUES ('screens', 0);

CREATE TRIGGER portal_rules_updated AFTER UPDATE ON portal_rules BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'screens';
END;

CREATE TRIGGER preference_inserted AFTER INSERT ON preference BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'screens';
END;

CREATE TRIGGER preference_updated AFTER UPDATE ON preference BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'screens';
END;

CREATE TRIGGER notification_read_inserted AFTER INSERT ON notification_read BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'screens';
END;

CREATE TRIGGER notification_read_updated AFTER UPDATE ON notification_read BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'screens';
END;
