-- Payments are entered one set after the other, by the lock of the one row of the float: what a phone received
-- today is added up from the books.

-- The money that payments are made from, in KES. What is not there can't be paid.
CREATE TABLE one_account (
    account_id TEXT PRIMARY KEY,
    float      INTEGER NOT NULL CHECK (float >= 0)
) STRICT;

INSERT INTO one_account (account_id, float)
SELECT 'payouts', max(0, sum(float)) FROM mobile_money_account;

DROP TABLE mobile_money_account;
ALTER TABLE one_account RENAME TO mobile_money_account;

DROP TRIGGER payment_not_counted;
DROP TABLE mobile_money_received;
ALTER TABLE mobile_money_payment DROP COLUMN day;
