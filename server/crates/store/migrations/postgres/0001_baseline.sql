-- The data of a sandbox's store, as ../sqlite has it and says why: the same tables, columns, keys and indexes, which a
-- test compares. Text compares by its bytes (COLLATE "C"), as it does in the server and in SQLite, and not by the
-- rules of the database's language.

CREATE TABLE staff (
    staff_id              TEXT COLLATE "C" PRIMARY KEY,
    email                 TEXT COLLATE "C" NOT NULL UNIQUE CHECK (email = lower(email)),
    username              TEXT COLLATE "C" NOT NULL,
    first_name            TEXT COLLATE "C" NOT NULL,
    last_name             TEXT COLLATE "C" NOT NULL,
    phone_number          TEXT COLLATE "C" NOT NULL,
    phone_before          TEXT COLLATE "C",
    phone_changed_at      BIGINT,
    role                  TEXT COLLATE "C" NOT NULL,
    password_hash         TEXT COLLATE "C" NOT NULL,
    password_changed_at   BIGINT,
    sign_in_code_required BOOLEAN NOT NULL DEFAULT false,
    is_active             BOOLEAN NOT NULL,
    created_at            BIGINT NOT NULL,
    updated_at            BIGINT NOT NULL
);

CREATE TABLE session (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    staff_id   TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at   BIGINT,
    address    TEXT COLLATE "C",
    device     TEXT COLLATE "C"
);

CREATE INDEX session_by_staff ON session (staff_id, expires_at);
CREATE INDEX session_by_end ON session (COALESCE(ended_at, expires_at));

CREATE TABLE one_time_code (
    staff_id    TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    purpose     TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    wrong_tries BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT,
    PRIMARY KEY (staff_id, purpose)
);

CREATE TABLE try_count (
    action         TEXT COLLATE "C" NOT NULL,
    subject        TEXT COLLATE "C" NOT NULL,
    tries          BIGINT NOT NULL,
    window_ends_at BIGINT NOT NULL,
    PRIMARY KEY (action, subject)
);

CREATE INDEX try_count_by_end ON try_count (window_ends_at);

CREATE TABLE preference (
    staff_id        TEXT COLLATE "C" PRIMARY KEY REFERENCES staff (staff_id),
    language        TEXT COLLATE "C" NOT NULL,
    time_zone       TEXT COLLATE "C",
    notify_by_email BOOLEAN NOT NULL,
    notify_by_sms   BOOLEAN NOT NULL
);

CREATE TABLE notification_read (
    staff_id   TEXT COLLATE "C" PRIMARY KEY REFERENCES staff (staff_id),
    read_until BIGINT NOT NULL
);

CREATE TABLE portal_rules (
    rules_id              TEXT COLLATE "C" PRIMARY KEY,
    session_minutes       BIGINT CHECK (session_minutes > 0),
    maximum_amount        BIGINT CHECK (maximum_amount > 0),
    confirmation_required BOOLEAN NOT NULL,
    auto_retry            BOOLEAN NOT NULL,
    retry_attempts        BIGINT NOT NULL CHECK (retry_attempts >= 0)
);

INSERT INTO portal_rules
    (rules_id, session_minutes, maximum_amount, confirmation_required, auto_retry, retry_attempts)
SELECT 'portal', NULL, NULL, true, false, 3;

CREATE TABLE customer (
    customer_id    TEXT COLLATE "C" PRIMARY KEY,
    first_name     TEXT COLLATE "C" NOT NULL,
    last_name      TEXT COLLATE "C" NOT NULL,
    phone_number   TEXT COLLATE "C" NOT NULL,
    id_number      TEXT COLLATE "C" NOT NULL,
    nickname       TEXT COLLATE "C",
    gender         TEXT COLLATE "C",
    status         TEXT COLLATE "C" NOT NULL,
    account_id     TEXT COLLATE "C" NOT NULL,
    account_number TEXT COLLATE "C" NOT NULL,
    account_status TEXT COLLATE "C" NOT NULL,
    credit_score   BIGINT,
    risk_level     TEXT COLLATE "C"
);

CREATE TABLE loan (
    loan_id           TEXT COLLATE "C" PRIMARY KEY,
    customer_id       TEXT COLLATE "C" NOT NULL REFERENCES customer (customer_id),
    amount            BIGINT NOT NULL CHECK (amount > 0),
    interest_rate_bp  BIGINT NOT NULL,
    term_months       BIGINT,
    purpose           TEXT COLLATE "C",
    status            TEXT COLLATE "C" NOT NULL CHECK (status IN ('APPROVED', 'DISBURSED', 'REJECTED')),
    remaining_balance BIGINT NOT NULL,
    notes             TEXT COLLATE "C",
    approver_id       TEXT COLLATE "C",
    approver_name     TEXT COLLATE "C",
    approver_email    TEXT COLLATE "C",
    approved_at       BIGINT NOT NULL,
    disbursed_at      BIGINT,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    CHECK ((status = 'DISBURSED') = (disbursed_at IS NOT NULL))
);

CREATE INDEX loan_pending ON loan (approved_at DESC, loan_id DESC) WHERE status = 'APPROVED';
CREATE INDEX loan_by_customer ON loan (customer_id);

CREATE TABLE payout (
    payout_id      TEXT COLLATE "C" PRIMARY KEY,
    loan_id        TEXT COLLATE "C" NOT NULL REFERENCES loan (loan_id),
    transaction_id TEXT COLLATE "C" NOT NULL UNIQUE,
    amount         BIGINT NOT NULL CHECK (amount > 0),
    phone_number   TEXT COLLATE "C" NOT NULL,
    status         TEXT COLLATE "C" NOT NULL CHECK (status IN ('PENDING', 'COMPLETED', 'FAILED')),
    receipt        TEXT COLLATE "C" UNIQUE,
    result_code    TEXT COLLATE "C",
    error_message  TEXT COLLATE "C",
    staff_id       TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    agent_id       TEXT COLLATE "C" NOT NULL,
    created_at     BIGINT NOT NULL,
    processed_at   BIGINT,
    check_at       BIGINT NOT NULL,
    checks         BIGINT NOT NULL DEFAULT 0,
    claimed_at     BIGINT NOT NULL DEFAULT 9007199254740991,
    check_by       BIGINT NOT NULL DEFAULT 9007199254740991,
    CHECK ((status = 'COMPLETED') = (receipt IS NOT NULL)),
    CHECK ((status = 'PENDING') = (processed_at IS NULL))
);

CREATE UNIQUE INDEX payout_one_live_per_loan ON payout (loan_id) WHERE status IN ('PENDING', 'COMPLETED');

CREATE INDEX payout_by_loan ON payout (loan_id, created_at DESC);
CREATE INDEX payout_history ON payout (created_at DESC, payout_id DESC);
CREATE INDEX payout_pending ON payout (check_at) WHERE status = 'PENDING';
CREATE INDEX payout_pending_by ON payout (check_by) WHERE status = 'PENDING';
CREATE INDEX payout_by_staff ON payout (staff_id);

CREATE INDEX payout_failed ON payout (created_at DESC, payout_id DESC) WHERE status = 'FAILED';
CREATE INDEX payout_settled_later ON payout (staff_id, processed_at) WHERE processed_at - created_at >= 8000;

CREATE TABLE idempotency_key (
    staff_id        TEXT COLLATE "C" NOT NULL REFERENCES staff (staff_id),
    idempotency_key TEXT COLLATE "C" NOT NULL,
    fingerprint     TEXT COLLATE "C" NOT NULL,
    payout_id       TEXT COLLATE "C" REFERENCES payout (payout_id),
    request_id      TEXT COLLATE "C" NOT NULL,
    problem         BOOLEAN NOT NULL,
    status          BIGINT,
    body            TEXT COLLATE "C",
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (staff_id, idempotency_key),
    CHECK ((status IS NULL) = (body IS NULL))
);

CREATE INDEX idempotency_key_by_payout ON idempotency_key (payout_id);
CREATE INDEX idempotency_key_oldest ON idempotency_key (created_at);

CREATE TABLE generation (
    value BIGINT PRIMARY KEY
);

INSERT INTO generation (value) SELECT 0;

CREATE TABLE mobile_money_account (
    account_id TEXT COLLATE "C" PRIMARY KEY,
    float      BIGINT NOT NULL CHECK (float >= 0)
);

INSERT INTO mobile_money_account (account_id, float) SELECT 'payouts', 50000000;

CREATE TABLE mobile_money_payment (
    originator_id TEXT COLLATE "C" PRIMARY KEY,
    receipt       TEXT COLLATE "C" UNIQUE,
    phone_number  TEXT COLLATE "C" NOT NULL,
    amount        BIGINT NOT NULL,
    result_code   TEXT COLLATE "C" NOT NULL,
    requested_at  BIGINT NOT NULL,
    result_at     BIGINT NOT NULL,
    result_by     BIGINT NOT NULL DEFAULT 9007199254740991,
    CHECK ((result_code = '0') = (receipt IS NOT NULL))
);

CREATE INDEX mobile_money_payment_by_phone ON mobile_money_payment (phone_number, requested_at)
WHERE result_code = '0';

CREATE TABLE mobile_money_scenario (
    scenario_id     TEXT COLLATE "C" PRIMARY KEY,
    default_outcome TEXT COLLATE "C" NOT NULL,
    latency_ms      BIGINT NOT NULL CHECK (latency_ms >= 0),
    seed            BIGINT NOT NULL CHECK (seed >= 0),
    drawn           BIGINT NOT NULL
);

INSERT INTO mobile_money_scenario (scenario_id, default_outcome, latency_ms, seed, drawn)
SELECT 'payouts', 'success', 0, 1, 0;

CREATE TABLE mobile_money_next_outcome (
    position BIGINT PRIMARY KEY,
    outcome  TEXT COLLATE "C" NOT NULL
);

CREATE TABLE outbox_message (
    position        BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    message_id      TEXT COLLATE "C" NOT NULL UNIQUE,
    channel         TEXT COLLATE "C" NOT NULL,
    recipient       TEXT COLLATE "C" NOT NULL,
    subject         TEXT COLLATE "C",
    body            TEXT COLLATE "C" NOT NULL,
    code            TEXT COLLATE "C",
    code_expires_at BIGINT,
    created_at      BIGINT NOT NULL,
    next_attempt_at BIGINT,
    attempts        BIGINT NOT NULL DEFAULT 0,
    sent_at         BIGINT,
    last_error      TEXT COLLATE "C"
);

CREATE INDEX outbox_message_due ON outbox_message (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX outbox_message_code ON outbox_message (code_expires_at) WHERE code IS NOT NULL;
CREATE INDEX outbox_message_unsent_code ON outbox_message (code_expires_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX outbox_message_done ON outbox_message (created_at) WHERE next_attempt_at IS NULL;

CREATE TABLE clock_setting (
    clock_id  TEXT COLLATE "C" PRIMARY KEY,
    offset_ms BIGINT NOT NULL,
    frozen_at BIGINT
);

INSERT INTO clock_setting (clock_id, offset_ms, frozen_at) SELECT 'sandbox', 0, NULL;

CREATE TABLE fault (
    position BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    fault_id TEXT COLLATE "C" NOT NULL UNIQUE,
    method   TEXT COLLATE "C",
    path     TEXT COLLATE "C" NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    moment   TEXT COLLATE "C" NOT NULL,
    status   BIGINT,
    ms       BIGINT,
    chance   BIGINT NOT NULL CHECK (chance BETWEEN 1 AND 1000000),
    times    BIGINT,
    seed     BIGINT NOT NULL,
    drawn    BIGINT NOT NULL DEFAULT 0,
    hits     BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE snapshot (
    name     TEXT COLLATE "C" PRIMARY KEY,
    saved_at BIGINT NOT NULL
);

CREATE TABLE snapshot_table (
    name       TEXT COLLATE "C" NOT NULL REFERENCES snapshot (name) ON DELETE CASCADE,
    table_name TEXT COLLATE "C" NOT NULL,
    content    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (name, table_name)
);

CREATE TABLE console_sign_in (
    sign_in_id   TEXT COLLATE "C" PRIMARY KEY,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);

CREATE INDEX console_sign_in_by_use ON console_sign_in (last_used_at);

CREATE TABLE event (
    position BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at       BIGINT NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    who      TEXT COLLATE "C" NOT NULL,
    about    TEXT COLLATE "C",
    address  TEXT COLLATE "C",
    details  TEXT COLLATE "C",
    times    BIGINT NOT NULL
);

CREATE INDEX event_by_time ON event (at);
CREATE INDEX event_by_kind ON event (kind, at);

CREATE TABLE server_lease (
    server_id  TEXT COLLATE "C" PRIMARY KEY,
    expires_at BIGINT NOT NULL,
    renewals   BIGINT NOT NULL
);

CREATE TABLE sandbox (
    sandbox_id    TEXT COLLATE "C" PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL UNIQUE,
    token         TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL,
    expires_in_ms BIGINT NOT NULL CHECK (expires_in_ms > 0),
    calls         BIGINT NOT NULL DEFAULT 0,
    due_at        BIGINT
);

CREATE INDEX sandbox_due ON sandbox (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE slice (
    name             TEXT COLLATE "C" PRIMARY KEY,
    live_version     TEXT COLLATE "C",
    previous_version TEXT COLLATE "C"
);

CREATE TABLE slice_build (
    name          TEXT COLLATE "C" NOT NULL REFERENCES slice (name),
    version       TEXT COLLATE "C" NOT NULL,
    shell         TEXT COLLATE "C" NOT NULL,
    integrity     TEXT COLLATE "C" NOT NULL,
    digest        TEXT COLLATE "C" NOT NULL,
    size          BIGINT NOT NULL,
    published_at  BIGINT NOT NULL,
    published_by  TEXT COLLATE "C" NOT NULL,
    brings        TEXT COLLATE "C",
    removed_at    BIGINT,
    PRIMARY KEY (name, version)
);

CREATE TABLE slice_file (
    name        TEXT COLLATE "C" NOT NULL REFERENCES slice (name),
    version     TEXT COLLATE "C" NOT NULL,
    path        TEXT COLLATE "C" NOT NULL,
    content     BYTEA NOT NULL,
    digest      TEXT COLLATE "C",
    brotli      BYTEA,
    gzip        BYTEA,
    compress_at BIGINT,
    PRIMARY KEY (name, version, path)
);

CREATE INDEX slice_file_by_digest ON slice_file (digest);
CREATE INDEX slice_file_due ON slice_file (compress_at) WHERE compress_at IS NOT NULL;

CREATE TABLE slice_event (
    position    BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    event_id    TEXT COLLATE "C" NOT NULL UNIQUE,
    at          BIGINT NOT NULL,
    done_by     TEXT COLLATE "C" NOT NULL,
    act         TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    version     TEXT COLLATE "C",
    live_before TEXT COLLATE "C",
    note        TEXT COLLATE "C"
);

CREATE TABLE slice_lock (
    holder TEXT COLLATE "C" NOT NULL
);

INSERT INTO slice_lock (holder) SELECT '';

CREATE TABLE deploy_token (
    digest       TEXT COLLATE "C" PRIMARY KEY,
    slice        TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    UNIQUE (slice, name)
);

CREATE TABLE slice_rollout (
    name          TEXT COLLATE "C" PRIMARY KEY REFERENCES slice (name),
    version       TEXT COLLATE "C" NOT NULL,
    percent       BIGINT NOT NULL CHECK (percent BETWEEN 0 AND 100),
    plan          TEXT COLLATE "C",
    began_at      BIGINT NOT NULL,
    step_began_at BIGINT NOT NULL
);

CREATE TABLE slice_report (
    name    TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    minute  BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    detail  TEXT COLLATE "C" NOT NULL,
    times   BIGINT NOT NULL,
    PRIMARY KEY (name, version, minute, outcome, detail)
);

CREATE INDEX slice_report_by_minute ON slice_report (minute);

CREATE TABLE slice_watch (
    name       TEXT COLLATE "C" PRIMARY KEY REFERENCES slice (name),
    version    TEXT COLLATE "C" NOT NULL,
    against    TEXT COLLATE "C",
    began_at   BIGINT NOT NULL,
    live_since BIGINT
);

CREATE TABLE slice_page (
    name      TEXT COLLATE "C" NOT NULL,
    version   TEXT COLLATE "C" NOT NULL,
    staff_id  TEXT COLLATE "C" NOT NULL,
    screen    TEXT COLLATE "C" NOT NULL,
    seen_at   BIGINT NOT NULL,
    failed_at BIGINT,
    PRIMARY KEY (name, version, staff_id, screen)
);

CREATE INDEX slice_page_by_seen_at ON slice_page (seen_at);

-- Locked by whoever writes anything but payouts, so that such writes come one after the other. One row.
CREATE TABLE write_turn (turn BIGINT PRIMARY KEY);
INSERT INTO write_turn SELECT 1;

-- The elements of an array in JSON, as SQLite's function of this name has them: what is done for many is
-- then one statement on both engines.
CREATE FUNCTION json_each(elements TEXT) RETURNS TABLE (value JSON) LANGUAGE sql IMMUTABLE AS $$
    SELECT value FROM json_array_elements(CAST(elements AS JSON))
$$;
