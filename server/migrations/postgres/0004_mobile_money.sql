-- The simulated mobile money's own books. They stand for a company that we only talk to: nothing
-- outside src/mobile_money reads or writes them, but for the audit that holds both books
-- against each other, and the demo data.

CREATE TABLE mobile_money_account (
    account_id TEXT COLLATE "C" PRIMARY KEY,
    -- KES. Below zero only by payments to a magic number, which succeed whatever else is set.
    float      BIGINT NOT NULL
);

CREATE TABLE mobile_money_payment (
    -- Chosen by who asks; a second request under the same one is refused, not replayed.
    originator_id TEXT COLLATE "C" PRIMARY KEY,
    receipt       TEXT COLLATE "C" UNIQUE,
    phone_number  TEXT NOT NULL,
    amount        BIGINT NOT NULL,
    result_code   TEXT NOT NULL,
    requested_at  BIGINT NOT NULL,
    -- From when on the result is told to who asks for it.
    result_at     BIGINT NOT NULL,
    CHECK ((result_code = '0') = (receipt IS NOT NULL))
);

-- What a phone received today, for the daily limit.
CREATE INDEX mobile_money_payment_by_phone ON mobile_money_payment (phone_number, requested_at) WHERE result_code = '0';

-- The one account that payouts are paid from.
INSERT INTO mobile_money_account (account_id, float) VALUES ('payouts', 50000000);

-- How it is told to act; the one row is always there.
CREATE TABLE mobile_money_scenario (
    scenario_id     TEXT COLLATE "C" PRIMARY KEY,
    default_outcome TEXT NOT NULL,
    -- The median time to an answer. The times are drawn from the seed; `drawn` counts them, so
    -- that a restart goes on where it was.
    latency_ms      BIGINT NOT NULL CHECK (latency_ms >= 0),
    seed            BIGINT NOT NULL CHECK (seed >= 0),
    drawn           BIGINT NOT NULL
);

INSERT INTO mobile_money_scenario (scenario_id, default_outcome, latency_ms, seed, drawn)
VALUES ('payouts', 'success', 0, 1, 0);

-- The outcomes of the coming payments, first in first out.
CREATE TABLE mobile_money_next_outcome (
    position BIGINT PRIMARY KEY,
    outcome  TEXT NOT NULL
);
