//! Sends e-mails by SMTP in the background, after their row is committed.
//!
//! A message is claimed by moving its next attempt to after the send timeout. If the process dies
//! meanwhile, the message becomes due again, in this process or another. So each message is sent
//! at least once, always with the same Message-ID.
//!
//! Outside demo mode, a code is redacted from its message when it expires, sent or not, so that
//! codes can't be read from the database later.

use std::time::{Duration, SystemTime};

use lettre::{
    AsyncSmtpTransport, AsyncTransport, Tokio1Executor,
    message::{Mailbox, Message, header::ContentType},
};
use tracing::Instrument;

use super::Outbox;
use base::{clock::UnixMillis, error::Failure, ids::MessageId};
use settings::Settings;
use store::{
    query, query_as, query_scalar,
    sweep::{self, Sweep},
};

/// The timeout of one attempt.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// The lifetime of a claim, which is longer than an attempt takes.
const LEASE: Duration = Duration::from_mins(1);
/// The maximum number of messages sent concurrently.
const BATCH_SIZE: i64 = 8;
/// Poll interval for messages of other processes and for retries. It is measured in real time, so that a
/// sandbox whose clock is frozen still sends its e-mails.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The longest wait between two attempts.
const MAX_WAIT: Duration = Duration::from_mins(1);
/// The maximum length of a stored error, in characters.
const MAX_ERROR_LENGTH: usize = 500;

/// Sends queued messages and redacts expired codes, for as long as the future is polled.
pub async fn keep_delivering(outbox: Outbox) {
    let mailer = Mailer::of(&outbox.world.settings);
    loop {
        if let Err(failure) = round(&outbox, mailer.as_ref()).await {
            tracing::warn!(?failure, "outbox.round_failed");
        }
        _ = tokio::time::timeout(POLL_INTERVAL, outbox.new.notified()).await;
    }
}

/// Runs one round: sends the messages that are due and redacts expired codes.
///
/// # Errors
/// If the database fails. A message that can't be sent is not an error: it is retried later.
pub async fn deliver_due(outbox: &Outbox) -> Result<(), Failure> {
    round(outbox, Mailer::of(&outbox.world.settings).as_ref()).await
}

const NEXT_DELIVERY: &str =
    "SELECT min(next_attempt_at) FROM outbox_message WHERE next_attempt_at IS NOT NULL";

/// Returns the time until the next message is due; `None` if no message waits, or there is no mail server.
/// Codes that are to be redacted are not considered.
pub async fn next_delivery(outbox: &Outbox) -> Result<Option<Duration>, Failure> {
    if outbox.world.settings.mail_server().is_none() {
        return Ok(None);
    }
    let next: Option<UnixMillis> =
        query_scalar(NEXT_DELIVERY).fetch_one(&mut outbox.world.database.read().await?).await?;
    Ok(next.map(|next| next.since(outbox.world.clock.now())))
}

const IS_CODE_EXPIRED: &str = "
    SELECT count(*) FROM
        (SELECT 1 FROM outbox_message WHERE code IS NOT NULL AND code_expires_at <= $1 LIMIT 1) AS expired";

const IS_DUE: &str = "
    SELECT count(*) FROM (SELECT 1 FROM outbox_message WHERE next_attempt_at <= $1 LIMIT 1) AS due";

async fn round(outbox: &Outbox, mailer: Option<&Mailer>) -> Result<(), Failure> {
    let now = outbox.world.clock.now();
    // Reads first: most rounds find nothing, and then the writer is not blocked.
    if !outbox.world.settings.demo && is_any(outbox, IS_CODE_EXPIRED, now).await? {
        update_expired(outbox, REDACT).await?;
    }
    if let Some(mailer) = mailer
        && is_any(outbox, IS_DUE, now).await?
    {
        deliver(outbox, mailer).await?;
    }
    Ok(())
}

/// Runs `sql`, which updates messages whose code has expired, until none is left.
async fn update_expired(outbox: &Outbox, sql: &'static str) -> Result<(), Failure> {
    let mut sweep = Sweep::begin();
    loop {
        let mut transaction = outbox.world.begin_with_current_clock().await?;
        let updated = query(sql).bind(outbox.world.clock.now()).execute(&mut transaction).await?;
        transaction.commit().await?;
        if !sweep.goes_on(updated).await {
            return Ok(());
        }
    }
}

async fn is_any(outbox: &Outbox, sql: &'static str, now: UnixMillis) -> Result<bool, Failure> {
    let mut reader = outbox.world.database.read().await?;
    let count: i64 = query_scalar(sql).bind(now).fetch_one(&mut reader).await?;
    Ok(count > 0)
}

const REDACT: &str = "
    UPDATE outbox_message SET body = replace(body, code, '••••••'), code = NULL, next_attempt_at = NULL,
        last_error = CASE WHEN next_attempt_at IS NULL THEN last_error
                          ELSE 'Not sent: its code has expired.' END
    WHERE message_id IN
        (SELECT message_id FROM outbox_message WHERE code IS NOT NULL AND code_expires_at <= $1
         ORDER BY code_expires_at LIMIT 500)";

/// A message that is claimed by this sender until the lease expires.
#[derive(Debug, sqlx_macros::FromRow)]
struct Claimed {
    message_id: MessageId,
    recipient: String,
    subject: String,
    body: String,
    created_at: UnixMillis,
    attempts: i64,
    traceparent: Option<String>,
}

const GIVE_UP: &str = "
    UPDATE outbox_message SET next_attempt_at = NULL, last_error = 'Not sent: its code has expired.'
    WHERE message_id IN
        (SELECT message_id FROM outbox_message WHERE next_attempt_at IS NOT NULL AND code_expires_at <= $1
         ORDER BY code_expires_at LIMIT 500)";

const CLAIM: &str = "
    UPDATE outbox_message SET next_attempt_at = $2, attempts = attempts + 1
    WHERE next_attempt_at <= $1 AND message_id IN
        (SELECT message_id FROM outbox_message WHERE next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT $3)
    RETURNING message_id, recipient, subject, body, created_at, attempts, traceparent";

/// Sends all due messages.
async fn deliver(outbox: &Outbox, mailer: &Mailer) -> Result<(), Failure> {
    loop {
        let mut transaction = outbox.world.begin_with_current_clock().await?;
        let now = outbox.world.clock.now();
        // Expired messages are never sent, so they are given up first.
        if query(GIVE_UP).bind(now).execute(&mut transaction).await? == sweep::BATCH_SIZE {
            transaction.commit().await?;
            update_expired(outbox, GIVE_UP).await?;
            continue;
        }
        let claim = query_as(CLAIM).bind(now).bind(now.plus(LEASE)).bind(BATCH_SIZE);
        let claimed: Vec<Claimed> = claim.fetch_all(&mut transaction).await?;
        transaction.commit().await?;
        if claimed.is_empty() {
            return Ok(());
        }
        let sent = claimed.into_iter().map(|message| {
            let step =
                traces::later(&outbox.world.traces, "send the message", message.traceparent.as_deref());
            attempt(outbox, mailer, message).instrument(step)
        });
        for result in futures::future::join_all(sent).await {
            result?;
        }
    }
}

const SENT: &str = "
    UPDATE outbox_message SET sent_at = $2, next_attempt_at = NULL, last_error = NULL WHERE message_id = $1";

const NOT_SENT: &str = "
    UPDATE outbox_message SET next_attempt_at = $2, last_error = $3
    WHERE message_id = $1 AND next_attempt_at IS NOT NULL";

/// Sends one message and records the outcome.
async fn attempt(outbox: &Outbox, mailer: &Mailer, message: Claimed) -> Result<(), Failure> {
    let is_allowed = mailer.may_send_to(&message.recipient);
    let outcome = if is_allowed {
        match tokio::time::timeout(SEND_TIMEOUT, mailer.send(&message)).await {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(_) => Err(format!("timed out after {} s", SEND_TIMEOUT.as_secs())),
        }
    } else {
        Err("Not sent: a sandbox sends to the domains of MKOPO_SANDBOX_MAIL_DOMAINS only.".to_owned())
    };
    let now = outbox.world.clock.now();
    let Claimed { message_id, attempts, .. } = message;
    match &outcome {
        Ok(()) => tracing::info!(message.id = %message_id, attempts, "outbox.sent"),
        Err(error) => tracing::warn!(message.id = %message_id, attempts, error, "outbox.not_sent"),
    }
    let recorded = match outcome {
        Ok(()) => query(SENT).bind(message_id).bind(now),
        Err(error) => {
            let error: String = error.chars().take(MAX_ERROR_LENGTH).collect();
            let next = is_allowed.then(|| now.plus(wait_after(attempts)));
            query(NOT_SENT).bind(message_id).bind(next).bind(error)
        }
    };
    outbox.world.database.execute_in_turn(recorded).await?;
    Ok(())
}

/// Returns the wait after an attempt: 1 s after the first, doubled after each further one, up to one minute.
fn wait_after(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(0);
    Duration::from_secs(2_u64.saturating_pow(doublings)).min(MAX_WAIT)
}

/// Sends messages to the mail server.
struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    /// The domains of the recipients; `None` for any.
    domains: Option<Vec<String>>,
}

impl Mailer {
    /// `None` if no mail server is configured: then e-mails stay in the outbox.
    fn of(settings: &Settings) -> Option<Self> {
        let transport = settings.mail_server()?.transport();
        let mut from = settings.smtp_from.clone();
        from.name.get_or_insert_with(|| settings.brand.clone());
        let domains = settings.is_sandbox.then(|| settings.sandbox_mail_domains.clone());
        Some(Self { transport, from, domains })
    }

    fn may_send_to(&self, recipient: &str) -> bool {
        let domain = recipient.rsplit_once('@').map(|(_, domain)| domain.to_ascii_lowercase());
        self.domains.as_ref().is_none_or(|allowed| domain.is_some_and(|domain| allowed.contains(&domain)))
    }

    async fn send(&self, message: &Claimed) -> anyhow::Result<()> {
        let created_at = u64::try_from(message.created_at.0).unwrap_or(0);
        let written = Message::builder()
            .message_id(Some(format!("<{}@{}>", message.message_id, self.from.email.domain())))
            .date(SystemTime::UNIX_EPOCH + Duration::from_millis(created_at))
            .from(self.from.clone())
            .to(message.recipient.parse()?)
            .subject(message.subject.clone())
            .header(ContentType::TEXT_PLAIN)
            .body(message.body.clone())?;
        self.transport.send(written).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute() {
        let waits: Vec<u64> = (1..=8).map(|attempts| wait_after(attempts).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(wait_after(i64::from(u32::MAX)), MAX_WAIT);
    }
}
