-- How far response times vary around the one that is set.
ALTER TABLE mobile_money_scenario
ADD COLUMN spread_percent INTEGER NOT NULL DEFAULT 0 CHECK (spread_percent BETWEEN 0 AND 100);
