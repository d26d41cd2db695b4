-- The simulated mobile money's own books. Nothing outside src/mobile_money reads or writes them:
-- they stand for a company that we only talk to.

CREATE TABLE mobile_money_account (
    account_id TEXT PRIMARY KEY,
    float      INTEGER NOT NULL CHECK (float >= 0)
) STRICT;

CREATE TABLE mobile_money_payment (
    -- Chosen by who asks; a second request under the same one is refused, not replayed.
    originator_id TEXT PRIMARY KEY,
    receipt       TEXT UNIQUE,
    phone_number  TEXT NOT NULL,
    amount        INTEGER NOT NULL,
    result_code   TEXT NOT NULL,
    requested_at  INTEGER NOT NULL,
    CHECK ((result_code = '0') = (receipt IS NOT NULL))
) STRICT;

-- What a phone received today, for the daily limit.
CREATE INDEX mobile_money_payment_by_phone ON mobile_money_payment (phone_number, requested_at) WHERE result_code = '0';

-- The one account that payouts are paid from.
INSERT INTO mobile_money_account (account_id, float) VALUES ('payouts', 50000000);
