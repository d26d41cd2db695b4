ALTER TABLE mobile_money_payment ADD COLUMN reference TEXT COLLATE "C";

-- A new leader's timeline is the first part of the names of its log files. A standby has none to write to.
CREATE VIEW data_copy AS
SELECT value AS generation,
       CASE WHEN pg_is_in_recovery() THEN 0
            ELSE CAST(CAST('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS BIT(32)) AS BIGINT)
       END AS timeline
FROM generation;
