-- What the live screens keep. Where the screens are as specified, nobody writes here.

-- What administrators set for everybody. One row.
CREATE TABLE portal_rules (
    rules_id              TEXT COLLATE "C" PRIMARY KEY,
    -- NULL: as long as the deployment allows.
    session_minutes       BIGINT CHECK (session_minutes > 0),
    -- The largest payout in KES; NULL: any.
    maximum_amount        BIGINT CHECK (maximum_amount > 0),
    confirmation_required BOOLEAN NOT NULL,
    auto_retry            BOOLEAN NOT NULL,
    retry_attempts        BIGINT NOT NULL CHECK (retry_attempts >= 0)
);

INSERT INTO portal_rules
    (rules_id, session_minutes, maximum_amount, confirmation_required, auto_retry, retry_attempts)
SELECT 'portal', NULL, NULL, true, false, 3;

-- What somebody set for themselves. Without a row, the defaults.
CREATE TABLE preference (
    staff_id        TEXT COLLATE "C" PRIMARY KEY REFERENCES staff (staff_id),
    language        TEXT NOT NULL CHECK (language IN ('en', 'sw')),
    -- IANA; NULL: the deployment's.
    time_zone       TEXT,
    notify_by_email BOOLEAN NOT NULL,
    notify_by_sms   BOOLEAN NOT NULL
);

-- Until when somebody has read their notifications.
CREATE TABLE notification_read (
    staff_id   TEXT COLLATE "C" PRIMARY KEY REFERENCES staff (staff_id),
    read_until BIGINT NOT NULL
);

-- Payouts that settled after their calls were answered, by who made them: what notifications are read from.
CREATE INDEX payout_settled_later ON payout (staff_id, processed_at) WHERE processed_at - created_at >= 8000;

-- A password alone opens no session.
ALTER TABLE staff ADD COLUMN sign_in_code_required BOOLEAN NOT NULL DEFAULT false;
-- NULL: it is the one that the account was opened with, or was set by an earlier release.
ALTER TABLE staff ADD COLUMN password_changed_at BIGINT;

-- Where it was opened: the network address, and the browser and system in words. NULL in rows of an earlier
-- release.
ALTER TABLE session ADD COLUMN address TEXT;
ALTER TABLE session ADD COLUMN device TEXT;

-- What moved in the tables above, so that open pages read it again.
INSERT INTO version (name, value) VALUES ('screens', 0);

CREATE FUNCTION screens_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM move_version('screens');
    RETURN NULL;
END $$;

CREATE TRIGGER portal_rules_updated AFTER UPDATE ON portal_rules
FOR EACH STATEMENT EXECUTE FUNCTION screens_changed();

CREATE TRIGGER preference_inserted AFTER INSERT ON preference
FOR EACH STATEMENT EXECUTE FUNCTION screens_changed();

CREATE TRIGGER preference_updated AFTER UPDATE ON preference
FOR EACH STATEMENT EXECUTE FUNCTION screens_changed();

CREATE TRIGGER notification_read_inserted AFTER INSERT ON notification_read
FOR EACH STATEMENT EXECUTE FUNCTION screens_changed();

CREATE TRIGGER notification_read_updated AFTER UPDATE ON notification_read
FOR EACH STATEMENT EXECUTE FUNCTION screens_changed();
