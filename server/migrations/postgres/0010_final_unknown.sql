-- A payout settles whatever the clocks do. The console moves a sandbox's clock, and servers' clocks
-- differ; these times are on the clock that nobody sets, the machine's or, where servers share a
-- database, the database's. What is due by either clock is due. The default is the largest integer
-- that JSON carries: in rows of an earlier release only the sandbox's own clock counts.

ALTER TABLE payout ADD COLUMN claimed_at BIGINT NOT NULL DEFAULT 9007199254740991;
ALTER TABLE payout ADD COLUMN check_by BIGINT NOT NULL DEFAULT 9007199254740991;
ALTER TABLE mobile_money_payment ADD COLUMN result_by BIGINT NOT NULL DEFAULT 9007199254740991;

CREATE INDEX payout_pending_by ON payout (check_by) WHERE status = 'PENDING';

-- Which data this is. A reset and a restore put other data in its place and move the number; whoever
-- pays or settles names the generation that it began on, and is cut off when that is over.
INSERT INTO version (name, value) VALUES ('generation', 0);

-- An id that is changed changes two loans: the one that is gone, whose change this is, and the one
-- that is there. Each trigger moves the number: those of rows run before those of statements.
CREATE FUNCTION loan_renamed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loan_change VALUES (move_version('loans'), OLD.loan_id);
    RETURN NULL;
END $$;

CREATE TRIGGER loan_renamed AFTER UPDATE OF loan_id ON loan
FOR EACH ROW WHEN (NEW.loan_id <> OLD.loan_id) EXECUTE FUNCTION loan_renamed();

CREATE TRIGGER payout_moved AFTER UPDATE OF loan_id ON payout
FOR EACH ROW WHEN (NEW.loan_id <> OLD.loan_id) EXECUTE FUNCTION loan_renamed();

-- A table that is emptied at once touches no row.
CREATE FUNCTION loans_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM move_version('loans');
    DELETE FROM loan_change;
    RETURN NULL;
END $$;

CREATE TRIGGER loan_truncated AFTER TRUNCATE ON loan FOR EACH STATEMENT EXECUTE FUNCTION loans_truncated();
CREATE TRIGGER payout_truncated AFTER TRUNCATE ON payout FOR EACH STATEMENT EXECUTE FUNCTION loans_truncated();
CREATE TRIGGER customer_truncated AFTER TRUNCATE ON customer
FOR EACH STATEMENT EXECUTE FUNCTION loans_truncated();

CREATE FUNCTION sessions_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM move_version('sessions');
    RETURN NULL;
END $$;

CREATE TRIGGER session_truncated AFTER TRUNCATE ON session
FOR EACH STATEMENT EXECUTE FUNCTION sessions_truncated();
CREATE TRIGGER staff_truncated AFTER TRUNCATE ON staff
FOR EACH STATEMENT EXECUTE FUNCTION sessions_truncated();

CREATE FUNCTION console_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM move_version('console');
    RETURN NULL;
END $$;

CREATE TRIGGER fault_truncated AFTER TRUNCATE ON fault
FOR EACH STATEMENT EXECUTE FUNCTION console_truncated();
