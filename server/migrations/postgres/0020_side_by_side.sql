-- Servers write side by side: no row is moved by every payout any more.

-- Which loans changed, by the transaction that changed them. The order in which transactions begin is not
-- the one in which they commit, so no number tells what is new: a reader keeps the snapshot of its last
-- look, and asks for what has become visible since. NULL: any loan may have changed.
CREATE TABLE loan_feed (
    xid     XID8 NOT NULL DEFAULT pg_current_xact_id(),
    loan_id TEXT COLLATE "C"
);

CREATE INDEX loan_feed_by_xid ON loan_feed (xid);

-- What is older has been deleted: who looked last before that reads everything. One row.
CREATE TABLE loan_feed_start (xid XID8 NOT NULL);
INSERT INTO loan_feed_start SELECT '0';

-- Locked by whoever writes anything but payouts, so that such writes come one after the other. One row.
CREATE TABLE write_turn (turn BIGINT PRIMARY KEY);
INSERT INTO write_turn SELECT 1;

-- 0: a server of an earlier release, which has its lists from `version` and `loan_change`.
ALTER TABLE server_lease ADD COLUMN release BIGINT NOT NULL DEFAULT 0;

-- Whether a server still needs `version` to be moved for the lists. Then all payouts come one after the
-- other, as they did in that release.
CREATE FUNCTION earlier_release_runs() RETURNS BOOLEAN LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM server_lease WHERE release = 0
                   AND expires_at > extract(epoch FROM clock_timestamp()) * 1000)
$$;

CREATE OR REPLACE FUNCTION loans_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_at BIGINT;
BEGIN
    INSERT INTO loan_feed (loan_id) SELECT DISTINCT loan_id FROM changed;
    IF FOUND AND earlier_release_runs() THEN
        now_at := move_version('loans');
        INSERT INTO loan_change SELECT DISTINCT now_at, loan_id FROM changed;
        DELETE FROM loan_change WHERE version <= now_at - 4096;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION payouts_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_at BIGINT;
BEGIN
    INSERT INTO loan_feed (loan_id) SELECT DISTINCT loan_id FROM (
        SELECT loan_id, transaction_id, amount, phone_number, status, receipt, error_message, staff_id,
               created_at, processed_at FROM changed
        EXCEPT
        SELECT loan_id, transaction_id, amount, phone_number, status, receipt, error_message, staff_id,
               created_at, processed_at FROM before
    ) AS shown;
    IF FOUND AND earlier_release_runs() THEN
        now_at := move_version('loans');
        INSERT INTO loan_change SELECT DISTINCT now_at, loan_id FROM changed;
        DELETE FROM loan_change WHERE version <= now_at - 4096;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION loan_renamed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loan_feed (loan_id) VALUES (OLD.loan_id);
    IF earlier_release_runs() THEN
        INSERT INTO loan_change VALUES (move_version('loans'), OLD.loan_id);
    END IF;
    RETURN NULL;
END $$;

-- Any loan may have changed.
CREATE OR REPLACE FUNCTION people_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loan_feed (loan_id) VALUES (NULL);
    IF earlier_release_runs() THEN
        PERFORM move_version('loans');
        DELETE FROM loan_change;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION loans_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loan_feed (loan_id) VALUES (NULL);
    IF earlier_release_runs() THEN
        PERFORM move_version('loans');
        DELETE FROM loan_change;
    END IF;
    RETURN NULL;
END $$;

-- Whoever moves the numbers themselves, as a reset does, says that everything may have changed.
CREATE FUNCTION versions_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loan_feed (loan_id) VALUES (NULL);
    RETURN NULL;
END $$;

CREATE TRIGGER feed_versions_moved AFTER UPDATE ON version
FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION versions_moved();

-- The elements of an array in JSON, as SQLite's function of this name has them: what is done for many is
-- then one statement on both engines.
CREATE FUNCTION json_each(elements TEXT) RETURNS TABLE (value JSON) LANGUAGE sql IMMUTABLE AS $$
    SELECT value FROM json_array_elements(CAST(elements AS JSON))
$$;
