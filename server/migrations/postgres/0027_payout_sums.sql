-- How many payouts there are, and how much they are, by status and by quarter of an hour: what reports are made of.
-- Days begin at different times in different zones, but in all of them at a quarter of an hour in UTC.
--
-- Triggers keep the sums in the transaction of the payouts that they count, so that no write can forget to.

CREATE TABLE payout_sum (
    status  TEXT COLLATE "C" NOT NULL,
    -- Its first moment.
    quarter BIGINT NOT NULL,
    payouts BIGINT NOT NULL,
    amount  BIGINT NOT NULL,
    PRIMARY KEY (status, quarter)
);

-- What is to be added to them. On PostgreSQL, where payouts are written side by side, a row that each of them
-- changes would make them wait for each other; so they add rows here, which are put together now and then. A
-- file has one writer at a time, and none here.
CREATE TABLE payout_sum_change (
    status  TEXT COLLATE "C" NOT NULL,
    quarter BIGINT NOT NULL,
    payouts BIGINT NOT NULL,
    amount  BIGINT NOT NULL
);

CREATE INDEX payout_sum_change_by_quarter ON payout_sum_change (status, quarter);

INSERT INTO payout_sum (status, quarter, payouts, amount)
SELECT status, created_at - created_at % 900000, count(*), sum(amount) FROM payout
GROUP BY status, created_at - created_at % 900000;

-- The latest failed payouts.
CREATE INDEX payout_failed ON payout (created_at DESC, payout_id DESC) WHERE status = 'FAILED';

CREATE FUNCTION payout_sums_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO payout_sum_change (status, quarter, payouts, amount)
        SELECT status, created_at - created_at % 900000, count(*), sum(amount) FROM changed
        GROUP BY status, created_at - created_at % 900000;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO payout_sum_change (status, quarter, payouts, amount)
        SELECT status, created_at - created_at % 900000, -count(*), -sum(amount) FROM before
        GROUP BY status, created_at - created_at % 900000;
    ELSE
        INSERT INTO payout_sum_change (status, quarter, payouts, amount)
        SELECT status, quarter, sum(payouts), sum(amount) FROM (
            SELECT status, created_at - created_at % 900000 AS quarter, 1 AS payouts, amount FROM changed
            UNION ALL
            SELECT status, created_at - created_at % 900000, -1, -amount FROM before
        ) AS both_sides
        GROUP BY status, quarter HAVING sum(payouts) <> 0 OR sum(amount) <> 0;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER payout_sum_inserted AFTER INSERT ON payout
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION payout_sums_changed();

CREATE TRIGGER payout_sum_updated AFTER UPDATE ON payout
REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION payout_sums_changed();

CREATE TRIGGER payout_sum_deleted AFTER DELETE ON payout
REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION payout_sums_changed();

CREATE FUNCTION payout_sums_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM payout_sum;
    DELETE FROM payout_sum_change;
    RETURN NULL;
END $$;

CREATE TRIGGER payout_sum_truncated AFTER TRUNCATE ON payout
FOR EACH STATEMENT EXECUTE FUNCTION payout_sums_truncated();
