ALTER TABLE mobile_money_scenario
ADD COLUMN spread_percent BIGINT NOT NULL DEFAULT 0 CHECK (spread_percent BETWEEN 0 AND 100);
