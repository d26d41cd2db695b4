-- What changed, and how often. Bodies and sessions kept in memory carry the number they were read
-- at; one read of `version` tells whether they still hold, in this process and in any other.
--
-- Triggers move the numbers, so that no write can forget to, whoever makes it. A copy of the data
-- that is put back must leave these two tables as they are: the numbers only ever grow.

CREATE TABLE version (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;

-- loans: whatever the pending list and the records show. sessions: that one ended, or that
-- something about whom they belong to changed; a new one changes nothing about those known.
INSERT INTO version (name, value) VALUES ('loans', 0), ('sessions', 0);

-- Which loans the latest versions changed, so that a list is read anew only where it changed.
-- The last 4096 are kept; who is further behind reads everything.
CREATE TABLE loan_change (
    version INTEGER NOT NULL,
    loan_id TEXT NOT NULL,
    PRIMARY KEY (version, loan_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER loan_change_trim AFTER INSERT ON loan_change BEGIN
    DELETE FROM loan_change WHERE version <= NEW.version - 4096;
END;

CREATE TRIGGER loan_inserted AFTER INSERT ON loan BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, NEW.loan_id FROM version WHERE name = 'loans';
END;

CREATE TRIGGER loan_updated AFTER UPDATE ON loan BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, NEW.loan_id FROM version WHERE name = 'loans';
END;

CREATE TRIGGER loan_deleted AFTER DELETE ON loan BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, OLD.loan_id FROM version WHERE name = 'loans';
END;

CREATE TRIGGER payout_inserted AFTER INSERT ON payout BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, NEW.loan_id FROM version WHERE name = 'loans';
END;

-- Only what the lists show: when a payout is to be looked at again is nobody's news.
CREATE TRIGGER payout_updated AFTER UPDATE OF
    loan_id, transaction_id, amount, phone_number, status, receipt, error_message, staff_id, created_at,
    processed_at
ON payout BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, NEW.loan_id FROM version WHERE name = 'loans';
END;

CREATE TRIGGER payout_deleted AFTER DELETE ON payout BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, OLD.loan_id FROM version WHERE name = 'loans';
END;

-- Customers and staff are in any number of rows and hardly ever change: an empty log sends every
-- reader to read everything.
CREATE TRIGGER customer_updated AFTER UPDATE ON customer BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    DELETE FROM loan_change;
END;

CREATE TRIGGER staff_renamed AFTER UPDATE OF first_name, last_name, email ON staff BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    DELETE FROM loan_change;
END;

CREATE TRIGGER staff_updated AFTER UPDATE ON staff BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'sessions';
END;

CREATE TRIGGER staff_deleted AFTER DELETE ON staff BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'sessions';
END;

CREATE TRIGGER session_updated AFTER UPDATE ON session BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'sessions';
END;

CREATE TRIGGER session_deleted AFTER DELETE ON session BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'sessions';
END;
