-- Payments are entered in sets, by several transactions at a time.

-- What a phone received on a day, for the daily limit: the limit is in the condition of the update. A row is
-- made from the books when it is first needed.
CREATE TABLE mobile_money_received (
    phone_number TEXT NOT NULL,
    -- Its first moment.
    day          INTEGER NOT NULL,
    received     INTEGER NOT NULL,
    -- The amount that was added last.
    latest       INTEGER NOT NULL,
    PRIMARY KEY (phone_number, day)
) STRICT;

CREATE INDEX mobile_money_received_by_day ON mobile_money_received (day);

-- The day on which the payment is counted there. NULL when it was entered by somebody who does not count,
-- such as a server of an earlier release: then the rows of its phone are made again.
ALTER TABLE mobile_money_payment ADD COLUMN day INTEGER;

CREATE TRIGGER payment_not_counted AFTER INSERT ON mobile_money_payment
WHEN NEW.day IS NULL AND NEW.result_code = '0' BEGIN
    DELETE FROM mobile_money_received WHERE phone_number = NEW.phone_number;
END;
