-- How many payouts there are, and how much they are, by status and by quarter of an hour: what reports are made of.
-- Days begin at different times in different zones, but in all of them at a quarter of an hour in UTC.
--
-- Triggers keep the sums in the transaction of the payouts that they count, so that no write can forget to.

CREATE TABLE payout_sum (
    status  TEXT NOT NULL,
    -- Its first moment.
    quarter INTEGER NOT NULL,
    payouts INTEGER NOT NULL,
    amount  INTEGER NOT NULL,
    PRIMARY KEY (status, quarter)
) STRICT, WITHOUT ROWID;

-- What is to be added to them. On PostgreSQL, where payouts are written side by side, a row that each of them
-- changes would make them wait for each other; so they add rows here, which are put together now and then. A
-- file has one writer at a time, and none here.
CREATE TABLE payout_sum_change (
    status  TEXT NOT NULL,
    quarter INTEGER NOT NULL,
    payouts INTEGER NOT NULL,
    amount  INTEGER NOT NULL
) STRICT;

CREATE INDEX payout_sum_change_by_quarter ON payout_sum_change (status, quarter);

INSERT INTO payout_sum (status, quarter, payouts, amount)
SELECT status, created_at - created_at % 900000, count(*), sum(amount) FROM payout
GROUP BY status, created_at - created_at % 900000;

-- The latest failed payouts.
CREATE INDEX payout_failed ON payout (created_at DESC, payout_id DESC) WHERE status = 'FAILED';

CREATE TRIGGER payout_sum_inserted AFTER INSERT ON payout BEGIN
    INSERT INTO payout_sum (status, quarter, payouts, amount)
    SELECT NEW.status, NEW.created_at - NEW.created_at % 900000, 1, NEW.amount WHERE true
    ON CONFLICT (status, quarter) DO UPDATE SET payouts = payouts + 1, amount = amount + excluded.amount;
END;

CREATE TRIGGER payout_sum_updated AFTER UPDATE OF status, amount, created_at ON payout BEGIN
    UPDATE payout_sum SET payouts = payouts - 1, amount = amount - OLD.amount
    WHERE status = OLD.status AND quarter = OLD.created_at - OLD.created_at % 900000;
    INSERT INTO payout_sum (status, quarter, payouts, amount)
    SELECT NEW.status, NEW.created_at - NEW.created_at % 900000, 1, NEW.amount WHERE true
    ON CONFLICT (status, quarter) DO UPDATE SET payouts = payouts + 1, amount = amount + excluded.amount;
END;

CREATE TRIGGER payout_sum_deleted AFTER DELETE ON payout BEGIN
    UPDATE payout_sum SET payouts = payouts - 1, amount = amount - OLD.amount
    WHERE status = OLD.status AND quarter = OLD.created_at - OLD.created_at % 900000;
END;
