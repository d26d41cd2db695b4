-- The payer's own word for what is paid, which mobile money keeps without reading it: the id of the loan.
ALTER TABLE mobile_money_payment ADD COLUMN reference TEXT;

-- What work on the data names, so that it is cut off when other data takes its place. On PostgreSQL, a failover
-- moves the timeline: the last commits of the server before may be missing.
CREATE VIEW data_copy AS SELECT value AS generation, 0 AS timeline FROM generation;
