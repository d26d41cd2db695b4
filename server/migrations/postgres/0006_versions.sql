-- What changed, and how often. Bodies and sessions kept in memory carry the number they were read
-- at; one read of `version` tells whether they still hold, in this process and in any other.
--
-- Triggers move the numbers, so that no write can forget to, whoever makes it. A copy of the data
-- that is put back must leave these two tables as they are: the numbers only ever grow.

CREATE TABLE version (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BIGINT NOT NULL
);

-- loans: whatever the pending list and the records show. sessions: that one ended, or that
-- something about whom they belong to changed; a new one changes nothing about those known.
INSERT INTO version (name, value) VALUES ('loans', 0), ('sessions', 0);

-- Which loans the latest versions changed, so that a list is read anew only where it changed.
-- The last 4096 are kept; who is further behind reads everything.
CREATE TABLE loan_change (
    version BIGINT NOT NULL,
    loan_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (version, loan_id)
);

-- One statement moves the number once, however many rows it touches, and not at all when it
-- touches none.
CREATE FUNCTION move_version(moved TEXT) RETURNS BIGINT LANGUAGE sql AS $$
    UPDATE version SET value = value + 1 WHERE name = moved RETURNING value
$$;

-- What shows of the loans in `changed`, the rows that a statement touched, may be another.
CREATE FUNCTION loans_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_at BIGINT;
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        now_at := move_version('loans');
        INSERT INTO loan_change SELECT DISTINCT now_at, loan_id FROM changed;
        DELETE FROM loan_change WHERE version <= now_at - 4096;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER loan_inserted AFTER INSERT ON loan
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION loans_changed();

CREATE TRIGGER loan_updated AFTER UPDATE ON loan
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION loans_changed();

CREATE TRIGGER loan_deleted AFTER DELETE ON loan
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION loans_changed();

CREATE TRIGGER payout_inserted AFTER INSERT ON payout
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION loans_changed();

CREATE TRIGGER payout_deleted AFTER DELETE ON payout
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION loans_changed();

-- Only what the lists show: when a payout is to be looked at again is nobody's news.
CREATE FUNCTION payouts_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_at BIGINT;
BEGIN
    IF EXISTS (
        SELECT loan_id, transaction_id, amount, phone_number, status, receipt, error_message, staff_id,
               created_at, processed_at FROM changed
        EXCEPT
        SELECT loan_id, transaction_id, amount, phone_number, status, receipt, error_message, staff_id,
               created_at, processed_at FROM before
    ) THEN
        now_at := move_version('loans');
        INSERT INTO loan_change SELECT DISTINCT now_at, loan_id FROM changed;
        DELETE FROM loan_change WHERE version <= now_at - 4096;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER payout_updated AFTER UPDATE ON payout
REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION payouts_updated();

-- Customers and staff are in any number of rows and hardly ever change: an empty log sends every
-- reader to read everything.
CREATE FUNCTION people_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM move_version('loans');
    DELETE FROM loan_change;
    RETURN NULL;
END $$;

CREATE TRIGGER customer_updated AFTER UPDATE ON customer
FOR EACH STATEMENT EXECUTE FUNCTION people_changed();

CREATE TRIGGER staff_renamed AFTER UPDATE OF first_name, last_name, email ON staff
FOR EACH STATEMENT EXECUTE FUNCTION people_changed();

-- Something about sessions that were known is another.
CREATE FUNCTION sessions_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        PERFORM move_version('sessions');
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER staff_updated AFTER UPDATE ON staff
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sessions_changed();

CREATE TRIGGER staff_deleted AFTER DELETE ON staff
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sessions_changed();

CREATE TRIGGER session_updated AFTER UPDATE ON session
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sessions_changed();

CREATE TRIGGER session_deleted AFTER DELETE ON session
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sessions_changed();
