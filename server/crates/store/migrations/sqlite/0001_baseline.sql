-- The data of a sandbox, and in the store of `main` also what the deployment keeps.
--
-- Conventions of every table: ids are TEXT, times are ms since 1970 in UTC (`…_at`), money is
-- whole KES, booleans are 0 or 1. STRICT makes SQLite hold to the types as PostgreSQL does.
-- ../postgres has the same tables, columns, keys and indexes; a test compares them.

-- Staff: who may sign in, their sessions, their one-time codes, and their failed attempts.

CREATE TABLE staff (
    staff_id              TEXT PRIMARY KEY,
    -- Lower case: people type their address as they like, and have one account.
    email                 TEXT NOT NULL UNIQUE CHECK (email = lower(email)),
    username              TEXT NOT NULL,
    first_name            TEXT NOT NULL,
    last_name             TEXT NOT NULL,
    phone_number          TEXT NOT NULL,
    -- The number before, which reset codes go to for 24 hours after a change.
    phone_before          TEXT,
    phone_changed_at      INTEGER,
    role                  TEXT NOT NULL,
    -- A PHC string; it carries its own parameters, so they can be raised later.
    password_hash         TEXT NOT NULL,
    -- NULL: the password is the one that the account was opened with.
    password_changed_at   INTEGER,
    -- A password alone opens no session.
    sign_in_code_required INTEGER NOT NULL DEFAULT 0 CHECK (sign_in_code_required IN (0, 1)),
    is_active             INTEGER NOT NULL CHECK (is_active IN (0, 1)),
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL
) STRICT;

-- A session is a row, so that sign-out, reset and deactivation end it at once: the token only
-- names it. Ended rows stay for a time, for the question who was signed in when.
CREATE TABLE session (
    session_id TEXT PRIMARY KEY,
    staff_id   TEXT NOT NULL REFERENCES staff (staff_id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at   INTEGER,
    -- Where it was opened: the network address, and the browser and system in words.
    address    TEXT,
    device     TEXT
) STRICT;

-- Ending somebody's sessions finds those that have not expired; old ones are deleted by their end.
CREATE INDEX session_by_staff ON session (staff_id, expires_at);
CREATE INDEX session_by_end ON session (COALESCE(ended_at, expires_at));

-- The last code of each purpose; a newer one replaces the older. The row outlives the
-- code, to say how long ago it was sent.
CREATE TABLE one_time_code (
    staff_id    TEXT NOT NULL REFERENCES staff (staff_id),
    purpose     TEXT NOT NULL,
    -- Keyed by the deployment's secret: a million tries on a stolen database find nothing.
    fingerprint TEXT NOT NULL,
    wrong_tries INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER,
    PRIMARY KEY (staff_id, purpose)
) STRICT;

-- Failed attempts, counted by e-mail address (as a fingerprint: the text need not be an
-- address) and by network address. In the database, so that a restart or a second server continues the count.
CREATE TABLE try_count (
    action         TEXT NOT NULL,
    subject        TEXT NOT NULL,
    tries          INTEGER NOT NULL,
    -- Fifteen minutes after the first attempt; then the count begins again.
    window_ends_at INTEGER NOT NULL,
    PRIMARY KEY (action, subject)
) STRICT;

CREATE INDEX try_count_by_end ON try_count (window_ends_at);

-- The settings of each person. Without a row, the defaults.
CREATE TABLE preference (
    staff_id        TEXT PRIMARY KEY REFERENCES staff (staff_id),
    language        TEXT NOT NULL,
    -- IANA; NULL: the deployment's.
    time_zone       TEXT,
    notify_by_email INTEGER NOT NULL CHECK (notify_by_email IN (0, 1)),
    notify_by_sms   INTEGER NOT NULL CHECK (notify_by_sms IN (0, 1))
) STRICT;

-- The time until which somebody has read their notifications.
CREATE TABLE notification_read (
    staff_id   TEXT PRIMARY KEY REFERENCES staff (staff_id),
    read_until INTEGER NOT NULL
) STRICT;

-- The settings of administrators for everybody. One row.
CREATE TABLE portal_rules (
    rules_id              TEXT PRIMARY KEY,
    -- NULL: as long as the deployment allows.
    session_minutes       INTEGER CHECK (session_minutes > 0),
    -- The largest payout in KES; NULL: any.
    maximum_amount        INTEGER CHECK (maximum_amount > 0),
    confirmation_required INTEGER NOT NULL CHECK (confirmation_required IN (0, 1)),
    auto_retry            INTEGER NOT NULL CHECK (auto_retry IN (0, 1)),
    retry_attempts        INTEGER NOT NULL CHECK (retry_attempts >= 0)
) STRICT;

INSERT INTO portal_rules
    (rules_id, session_minutes, maximum_amount, confirmation_required, auto_retry, retry_attempts)
SELECT 'portal', NULL, NULL, 1, 0, 3;

-- Customers and their approved loans.

CREATE TABLE customer (
    customer_id    TEXT PRIMARY KEY,
    first_name     TEXT NOT NULL,
    last_name      TEXT NOT NULL,
    phone_number   TEXT NOT NULL,
    id_number      TEXT NOT NULL,
    nickname       TEXT,
    gender         TEXT,
    status         TEXT NOT NULL,
    account_id     TEXT NOT NULL,
    account_number TEXT NOT NULL,
    account_status TEXT NOT NULL,
    credit_score   INTEGER,
    risk_level     TEXT
) STRICT;

CREATE TABLE loan (
    loan_id           TEXT PRIMARY KEY,
    customer_id       TEXT NOT NULL REFERENCES customer (customer_id),
    amount            INTEGER NOT NULL CHECK (amount > 0),
    -- Hundredths of a percent: 12.5 % is 1250. No floating point near money.
    interest_rate_bp  INTEGER NOT NULL,
    term_months       INTEGER,
    purpose           TEXT,
    status            TEXT NOT NULL CHECK (status IN ('APPROVED', 'DISBURSED', 'REJECTED')),
    remaining_balance INTEGER NOT NULL,
    notes             TEXT,
    -- As they were at approval; the approver need not be one of the staff here.
    approver_id       TEXT,
    approver_name     TEXT,
    approver_email    TEXT,
    approved_at       INTEGER NOT NULL,
    disbursed_at      INTEGER,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    CHECK ((status = 'DISBURSED') = (disbursed_at IS NOT NULL))
) STRICT;

-- The order and the keyset of the pending list; the loans of a customer who is deleted.
CREATE INDEX loan_pending ON loan (approved_at DESC, loan_id DESC) WHERE status = 'APPROVED';
CREATE INDEX loan_by_customer ON loan (customer_id);

-- Attempts to pay loans out. A row is written before mobile money is asked, so that whatever
-- happens next, the attempt is known and can be settled by asking for its status.

CREATE TABLE payout (
    payout_id      TEXT PRIMARY KEY,
    loan_id        TEXT NOT NULL REFERENCES loan (loan_id),
    -- The originator id of the request to mobile money, never used twice.
    transaction_id TEXT NOT NULL UNIQUE,
    amount         INTEGER NOT NULL CHECK (amount > 0),
    phone_number   TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('PENDING', 'COMPLETED', 'FAILED')),
    receipt        TEXT UNIQUE,
    result_code    TEXT,
    error_message  TEXT,
    -- The session's user. The client's name for the agent is kept beside it, as sent.
    staff_id       TEXT NOT NULL REFERENCES staff (staff_id),
    agent_id       TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    processed_at   INTEGER,
    -- When its status is asked for next while it is PENDING, and how often it was. Whoever asks
    -- moves the time on first, which keeps every other server off it meanwhile: a lease that
    -- runs out by itself when its holder dies.
    check_at       INTEGER NOT NULL,
    checks         INTEGER NOT NULL DEFAULT 0,
    -- On the clock that nobody sets: the machine's or, where servers share a database, the database's.
    -- The console moves a sandbox's clock, and servers' clocks differ; what is due by either clock is due. The
    -- default is the largest integer that JSON carries: of payouts of the past, only the sandbox's own clock counts.
    claimed_at     INTEGER NOT NULL DEFAULT 9007199254740991,
    check_by       INTEGER NOT NULL DEFAULT 9007199254740991,
    CHECK ((status = 'COMPLETED') = (receipt IS NOT NULL)),
    CHECK ((status = 'PENDING') = (processed_at IS NULL))
) STRICT;

-- A loan is paid once: whatever the code does, the database refuses a second live payout.
CREATE UNIQUE INDEX payout_one_live_per_loan ON payout (loan_id) WHERE status IN ('PENDING', 'COMPLETED');

-- The loan's latest payout; the history's own order and keyset; the reconciler's queue; who made them.
CREATE INDEX payout_by_loan ON payout (loan_id, created_at DESC);
CREATE INDEX payout_history ON payout (created_at DESC, payout_id DESC);
CREATE INDEX payout_pending ON payout (check_at) WHERE status = 'PENDING';
CREATE INDEX payout_pending_by ON payout (check_by) WHERE status = 'PENDING';
CREATE INDEX payout_by_staff ON payout (staff_id);

-- The latest failed payouts, and those that settled after their calls were answered, for reports and notifications.
CREATE INDEX payout_failed ON payout (created_at DESC, payout_id DESC) WHERE status = 'FAILED';
CREATE INDEX payout_settled_later ON payout (staff_id, processed_at) WHERE processed_at - created_at >= 8000;

-- The keys that callers sent so that a repeat of a call is safe. A key is entered in the
-- transaction that decides on its call, so of two calls with one key only one is decided on.
CREATE TABLE idempotency_key (
    -- Keys are each user's own: nobody can see or spoil another's answer.
    staff_id        TEXT NOT NULL REFERENCES staff (staff_id),
    idempotency_key TEXT NOT NULL,
    -- SHA-256 of the loan and the body, to tell a repeat from another call under the same key.
    fingerprint     TEXT NOT NULL,
    -- The payout that the call started; NULL when it was refused.
    payout_id       TEXT REFERENCES payout (payout_id),
    -- The format that the first call wanted, for when somebody else has to write the answer.
    request_id      TEXT NOT NULL,
    problem         INTEGER NOT NULL CHECK (problem IN (0, 1)),
    -- The first answer, byte for byte, from when there is one.
    status          INTEGER,
    body            TEXT,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (staff_id, idempotency_key),
    CHECK ((status IS NULL) = (body IS NULL))
) STRICT;

-- The answer of a settled payout; the keys that are old enough to be deleted.
CREATE INDEX idempotency_key_by_payout ON idempotency_key (payout_id);
CREATE INDEX idempotency_key_oldest ON idempotency_key (created_at);

-- The number of the data. A reset and a restore put other data in place and move it; whoever
-- pays or settles names the generation that it began on, and is cut off when that is over. One row.
CREATE TABLE generation (
    value INTEGER PRIMARY KEY
) STRICT;

INSERT INTO generation (value) SELECT 0;

-- The simulated mobile money's own books. They stand for a company that we only talk to: nothing
-- outside src/mobile_money reads or writes them, but for the audit that holds both books
-- against each other, and the demo data.

-- The money that payments are made from. Payments are entered one set after the other, by the lock of this row.
-- One row.
CREATE TABLE mobile_money_account (
    account_id TEXT PRIMARY KEY,
    -- KES. A payment for which there is not enough is refused.
    float      INTEGER NOT NULL CHECK (float >= 0)
) STRICT;

INSERT INTO mobile_money_account (account_id, float) SELECT 'payouts', 50000000;

CREATE TABLE mobile_money_payment (
    -- Chosen by who asks; a second request under the same one is refused, not replayed.
    originator_id TEXT PRIMARY KEY,
    receipt       TEXT UNIQUE,
    phone_number  TEXT NOT NULL,
    amount        INTEGER NOT NULL,
    result_code   TEXT NOT NULL,
    requested_at  INTEGER NOT NULL,
    -- From when on the result is told to who asks for it, and the same on the clock that nobody sets.
    result_at     INTEGER NOT NULL,
    result_by     INTEGER NOT NULL DEFAULT 9007199254740991,
    CHECK ((result_code = '0') = (receipt IS NOT NULL))
) STRICT;

-- What a phone received today, for the daily limit.
CREATE INDEX mobile_money_payment_by_phone ON mobile_money_payment (phone_number, requested_at)
WHERE result_code = '0';

-- The settings of its behaviour. One row.
CREATE TABLE mobile_money_scenario (
    scenario_id     TEXT PRIMARY KEY,
    default_outcome TEXT NOT NULL,
    -- The median time to an answer. The times are drawn from the seed; `drawn` counts them, so
    -- that a restart continues where it was.
    latency_ms      INTEGER NOT NULL CHECK (latency_ms >= 0),
    seed            INTEGER NOT NULL CHECK (seed >= 0),
    drawn           INTEGER NOT NULL
) STRICT;

INSERT INTO mobile_money_scenario (scenario_id, default_outcome, latency_ms, seed, drawn)
SELECT 'payouts', 'success', 0, 1, 0;

-- The outcomes of the coming payments, first in first out.
CREATE TABLE mobile_money_next_outcome (
    position INTEGER PRIMARY KEY,
    outcome  TEXT NOT NULL
) STRICT;

-- Every e-mail and SMS is a row first, written with what it tells of, and sent from here.

CREATE TABLE outbox_message (
    -- The order in which they came: clocks are moved back, and stand.
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Names the e-mail too (its Message-ID), so that one sent twice is seen to be one.
    message_id      TEXT NOT NULL UNIQUE,
    channel         TEXT NOT NULL,
    recipient       TEXT NOT NULL,
    subject         TEXT,
    body            TEXT NOT NULL,
    -- The one-time code in the body, so that a test need not search for it.
    code            TEXT,
    -- When the code is worthless: a message that waits is not sent any more, and outside demo
    -- mode the code is struck out of the row.
    code_expires_at INTEGER,
    created_at      INTEGER NOT NULL,
    -- When to send it, or to try again; NULL when there is nothing left to do. A sender claims a
    -- message by moving this on past the time that sending may take: if it dies meanwhile, the
    -- message comes up again by itself.
    next_attempt_at INTEGER,
    attempts        INTEGER NOT NULL DEFAULT 0,
    sent_at         INTEGER,
    last_error      TEXT
) STRICT;

-- The sender's queue; codes to be struck out, or not to be sent; messages that are old enough to be deleted.
CREATE INDEX outbox_message_due ON outbox_message (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX outbox_message_code ON outbox_message (code_expires_at) WHERE code IS NOT NULL;
CREATE INDEX outbox_message_unsent_code ON outbox_message (code_expires_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX outbox_message_done ON outbox_message (created_at) WHERE next_attempt_at IS NULL;

-- What operators and testers set from the console. In the database, so that it outlives a restart
-- and holds for every server on the same data.

-- The setting of the clock. One row.
CREATE TABLE clock_setting (
    clock_id  TEXT PRIMARY KEY,
    offset_ms INTEGER NOT NULL,
    -- The time at which it is stopped; NULL while it runs.
    frozen_at INTEGER
) STRICT;

INSERT INTO clock_setting (clock_id, offset_ms, frozen_at) SELECT 'sandbox', 0, NULL;

-- Faults that calls are given on purpose, in the order in which they are tried.
CREATE TABLE fault (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    fault_id TEXT NOT NULL UNIQUE,
    -- The calls that it hits; NULL for every method. In the path `*` stands for one segment.
    method   TEXT,
    path     TEXT NOT NULL,
    kind     TEXT NOT NULL,
    -- On which side of the work: 'after' loses the answer to work that was done.
    moment   TEXT NOT NULL,
    status   INTEGER,
    ms       INTEGER,
    -- Millionths: no floating point in the store.
    chance   INTEGER NOT NULL CHECK (chance BETWEEN 1 AND 1000000),
    -- How often it may hit; NULL for no end.
    times    INTEGER,
    -- The seed of its chance. `drawn` counts the draws, so that a restart continues where it was.
    seed     INTEGER NOT NULL,
    drawn    INTEGER NOT NULL DEFAULT 0,
    hits     INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Copies of the data under a name: a table's rows each, as JSON.
CREATE TABLE snapshot (
    name     TEXT PRIMARY KEY,
    saved_at INTEGER NOT NULL
) STRICT;

CREATE TABLE snapshot_table (
    name       TEXT NOT NULL REFERENCES snapshot (name) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    content    TEXT NOT NULL,
    PRIMARY KEY (name, table_name)
) STRICT;

-- Sign-ins to the console. In the database, so that signing out holds for every server and
-- outlives a restart. The times are on the clock that nobody sets: the console moves the sandbox's own.
CREATE TABLE console_sign_in (
    -- Keyed by the deployment's secret and the console token: no cookie can be made of a stolen database,
    -- and a new token ends all sign-ins.
    sign_in_id   TEXT PRIMARY KEY,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT;

CREATE INDEX console_sign_in_by_use ON console_sign_in (last_used_at);

-- The audit trail. It is what happened, not data: resets, restores,
-- snapshots and copies leave it alone. The times are on the clock that nobody sets.
CREATE TABLE event (
    -- The order in which it was written: the machine's clock may be corrected.
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    -- An e-mail address, a keyed hash of the one that was typed, an operator or the command line.
    who      TEXT NOT NULL,
    -- An e-mail address, or the name of what was changed.
    about    TEXT,
    -- NULL for the command line.
    address  TEXT,
    details  TEXT,
    -- More than 1 where too many failures in an hour are counted instead of listed.
    times    INTEGER NOT NULL
) STRICT;

CREATE INDEX event_by_time ON event (at);
CREATE INDEX event_by_kind ON event (kind, at);

-- The servers that run on this database: one row each, removed when the server stops. A row that is not
-- renewed is of a server that was killed. Resets, snapshots and copies leave them alone.
CREATE TABLE server_lease (
    server_id  TEXT PRIMARY KEY,
    -- On the engine's own clock, which no server and no console sets.
    expires_at INTEGER NOT NULL,
    -- A server that finds another number than it left has other data before it: a copy was put back.
    renewals   INTEGER NOT NULL
) STRICT;

-- The sandboxes of a deployment: whole instances besides this one, each with its data in a file on the server that
-- made it. Only the store of the sandbox 'main' has rows here.
CREATE TABLE sandbox (
    -- Names its file, so that a new sandbox under an old name never meets the old one's data.
    sandbox_id    TEXT PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    -- Keyed by the deployment's secret: no console can be opened with a stolen database.
    token         TEXT NOT NULL,
    -- The times are on the clock that nobody sets.
    created_at    INTEGER NOT NULL,
    -- Written now and then; its server knows it exactly in memory.
    last_used_at  INTEGER NOT NULL,
    -- How long it is kept without being used.
    expires_in_ms INTEGER NOT NULL CHECK (expires_in_ms > 0),
    calls         INTEGER NOT NULL DEFAULT 0,
    -- When something is to be done in it without a call, such as settling a payout; NULL for nothing.
    due_at        INTEGER
) STRICT;

CREATE INDEX sandbox_due ON sandbox (due_at) WHERE due_at IS NOT NULL;

-- Builds of slices, and which of them is live. They are what is deployed, not data: resets and
-- snapshots leave them alone. They are kept here and not as files of a server, so that every server
-- on the same store serves a build that was published through one.

-- A slice that something was published of. The build that came with the portal's own files is live where no
-- version is named here, or one that is not there.
CREATE TABLE slice (
    name             TEXT PRIMARY KEY,
    live_version     TEXT,
    -- The target of a rollback; NULL for the next older build.
    previous_version TEXT
) STRICT;

-- A build, never changed and never removed: browsers keep its files for a year.
CREATE TABLE slice_build (
    name          TEXT NOT NULL REFERENCES slice (name),
    version       TEXT NOT NULL,
    -- Versions of mfe-kit that it was built for, as npm writes ranges.
    shell         TEXT NOT NULL,
    -- Of its manifest's bytes, as browsers check it.
    integrity     TEXT NOT NULL,
    -- Of all its files, to tell the same build from another one of the same version.
    digest        TEXT NOT NULL,
    size          INTEGER NOT NULL,
    published_at  INTEGER NOT NULL,
    published_by  TEXT NOT NULL,
    -- Screens, menu entries, and sentences for its failures, in JSON as its manifest has them.
    brings        TEXT,
    -- A removed build has no files any more. Its row stays: browsers may have its files for a year, so its
    -- version can only be published again with the same files.
    removed_at    INTEGER,
    PRIMARY KEY (name, version)
) STRICT;

CREATE TABLE slice_file (
    name        TEXT NOT NULL REFERENCES slice (name),
    version     TEXT NOT NULL,
    path        TEXT NOT NULL,
    content     BLOB NOT NULL,
    -- Of its content: the same bytes are compressed once.
    digest      TEXT,
    -- NULL for what is compressed already, or not yet.
    brotli      BLOB,
    gzip        BLOB,
    -- When it is due to be compressed, on the clock that nobody sets. A server claims a file by moving the
    -- time on, so that the work of a server that died comes up again. NULL when it is compressed, or never
    -- will be.
    compress_at INTEGER,
    PRIMARY KEY (name, version, path)
) STRICT;

CREATE INDEX slice_file_by_digest ON slice_file (digest);
CREATE INDEX slice_file_due ON slice_file (compress_at) WHERE compress_at IS NOT NULL;

-- The trail of builds.
CREATE TABLE slice_event (
    -- The order in which it was done: clocks are moved back, and stand.
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    TEXT NOT NULL UNIQUE,
    at          INTEGER NOT NULL,
    done_by     TEXT NOT NULL,
    act         TEXT NOT NULL,
    name        TEXT NOT NULL,
    -- Of a removal, the version that is live afterwards; NULL when none is.
    version     TEXT,
    live_before TEXT,
    -- What the versions do not say.
    note        TEXT
) STRICT;

-- One row. Who makes a build live updates it first, so that two slices cannot take one path at the same time.
CREATE TABLE slice_lock (
    holder TEXT NOT NULL
) STRICT;

INSERT INTO slice_lock (holder) SELECT '';

-- Tokens that deploy one slice through the portal's listener. The times are on the clock that nobody sets.
CREATE TABLE deploy_token (
    -- The SHA-256 of the token, which is random: it cannot be guessed from it.
    digest       TEXT PRIMARY KEY,
    slice        TEXT NOT NULL,
    -- Its owner's name for it; the trail has it.
    name         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    -- To the minute; NULL when it was never used.
    last_used_at INTEGER,
    UNIQUE (slice, name)
) STRICT;

-- A build that only some browsers get, while the others keep the live one. One at a time for a slice, and only
-- in 'main'.
CREATE TABLE slice_rollout (
    name          TEXT PRIMARY KEY REFERENCES slice (name),
    version       TEXT NOT NULL,
    -- Of 100 buckets of browsers, how many get it.
    percent       INTEGER NOT NULL CHECK (percent BETWEEN 0 AND 100),
    -- As it was given, such as '5:10m,25:30m,100'; NULL when only people change the percentage.
    plan          TEXT,
    began_at      INTEGER NOT NULL,
    -- When it got its percentage.
    step_began_at INTEGER NOT NULL
) STRICT;

-- What pages reported of a build, by minute.
CREATE TABLE slice_report (
    name    TEXT NOT NULL,
    version TEXT NOT NULL,
    -- Its first moment.
    minute  INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    -- How long it took in ms, rounded; why not; the pattern of the screen's path; the status.
    detail  TEXT NOT NULL,
    times   INTEGER NOT NULL,
    PRIMARY KEY (name, version, minute, outcome, detail)
) STRICT;

CREATE INDEX slice_report_by_minute ON slice_report (minute);

-- A build that is taken back by itself if it fails.
CREATE TABLE slice_watch (
    name       TEXT PRIMARY KEY REFERENCES slice (name),
    version    TEXT NOT NULL,
    -- The build that others get, or got before; NULL for none.
    against    TEXT,
    began_at   INTEGER NOT NULL,
    -- Since when everybody gets it; NULL while it is rolled out.
    live_since INTEGER
) STRICT;

-- The screens of builds that people who are signed in have opened, and whether they saw them fail.
CREATE TABLE slice_page (
    name      TEXT NOT NULL,
    version   TEXT NOT NULL,
    staff_id  TEXT NOT NULL,
    -- The pattern of its path; '' for a build that was loaded ahead of its screens.
    screen    TEXT NOT NULL,
    -- For the last time.
    seen_at   INTEGER NOT NULL,
    -- For the last time; NULL for never.
    failed_at INTEGER,
    PRIMARY KEY (name, version, staff_id, screen)
) STRICT;

CREATE INDEX slice_page_by_seen_at ON slice_page (seen_at);
