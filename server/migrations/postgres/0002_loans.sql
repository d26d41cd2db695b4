-- Customers and their approved loans.

CREATE TABLE customer (
    customer_id    TEXT COLLATE "C" PRIMARY KEY,
    first_name     TEXT NOT NULL,
    last_name      TEXT NOT NULL,
    phone_number   TEXT NOT NULL,
    id_number      TEXT NOT NULL,
    nickname       TEXT,
    gender         TEXT,
    status         TEXT NOT NULL,
    account_id     TEXT COLLATE "C" NOT NULL,
    account_number TEXT NOT NULL,
    account_status TEXT NOT NULL,
    credit_score   BIGINT,
    risk_level     TEXT
);

CREATE TABLE loan (
    loan_id           TEXT COLLATE "C" PRIMARY KEY,
    customer_id       TEXT COLLATE "C" NOT NULL REFERENCES customer (customer_id),
    amount            BIGINT NOT NULL CHECK (amount > 0),
    -- Hundredths of a percent: 12.5 % is 1250. No floating point near money.
    interest_rate_bp  BIGINT NOT NULL,
    term_months       BIGINT,
    purpose           TEXT,
    status            TEXT NOT NULL CHECK (status IN ('APPROVED', 'DISBURSED', 'REJECTED')),
    remaining_balance BIGINT NOT NULL,
    notes             TEXT,
    -- As they were at approval; the approver need not be one of the staff here.
    approver_id       TEXT,
    approver_name     TEXT,
    approver_email    TEXT,
    approved_at       BIGINT NOT NULL,
    disbursed_at      BIGINT,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    CHECK ((status = 'DISBURSED') = (disbursed_at IS NOT NULL))
);

-- The pending list's own order, and its keyset.
CREATE INDEX loan_pending ON loan (approved_at DESC, loan_id DESC) WHERE status = 'APPROVED';
