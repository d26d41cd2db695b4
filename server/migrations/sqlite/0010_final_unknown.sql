-- A payout settles whatever the clocks do. The console moves a sandbox's clock, and servers' clocks
-- differ; these times are on the clock that nobody sets, the machine's or, where servers share a
-- database, the database's. What is due by either clock is due. The default is the largest integer
-- that JSON carries: in rows of an earlier release only the sandbox's own clock counts.

ALTER TABLE payout ADD COLUMN claimed_at INTEGER NOT NULL DEFAULT 9007199254740991;
ALTER TABLE payout ADD COLUMN check_by INTEGER NOT NULL DEFAULT 9007199254740991;
ALTER TABLE mobile_money_payment ADD COLUMN result_by INTEGER NOT NULL DEFAULT 9007199254740991;

CREATE INDEX payout_pending_by ON payout (check_by) WHERE status = 'PENDING';

-- Which data this is. A reset and a restore put other data in its place and move the number; whoever
-- pays or settles names the generation that it began on, and is cut off when that is over.
INSERT INTO version (name, value) VALUES ('generation', 0);

-- An id that is changed changes two loans: the one that is gone, whose change this is, and the one
-- that is there. In which order triggers run is not defined, so each moves the number.
CREATE TRIGGER loan_renamed AFTER UPDATE OF loan_id ON loan WHEN NEW.loan_id <> OLD.loan_id BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, OLD.loan_id FROM version WHERE name = 'loans';
END;

CREATE TRIGGER payout_moved AFTER UPDATE OF loan_id ON payout WHEN NEW.loan_id <> OLD.loan_id BEGIN
    UPDATE version SET value = value + 1 WHERE name = 'loans';
    INSERT INTO loan_change SELECT value, OLD.loan_id FROM version WHERE name = 'loans';
END;
