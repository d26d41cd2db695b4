//! Sending e-mails on by SMTP, once their row is on disk and without anyone waiting for it.
//!
//! A message is claimed by moving its next attempt past the time that sending may take. Whoever
//! dies meanwhile leaves a message that comes up again, in this process or another: each goes out
//! at least once, and under the same Message-ID whenever it does.
//!
//! Outside demo mode a code is struck out of its message when its life is over, sent or not: who
//! reads the database later reads no code.

use std::time::{Duration, SystemTime};

use lettre::{
    AsyncSmtpTransport, AsyncTransport, Tokio1Executor,
    message::{Mailbox, Message, MessageBuilder, header::ContentType},
};

use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query, query_as, query_scalar},
    error::Failure,
    settings::Settings,
};

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a message stays with who claimed it: longer than an attempt.
const LEASE: Duration = Duration::from_mins(1);
/// How many messages are sent at once.
const AT_ONCE: i64 = 8;
/// How often is looked for what other processes put in, and for what is due again. On the
/// machine's clock: a sandbox whose clock stands still sends its e-mails all the same.
const ROUND: Duration = Duration::from_secs(1);
/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How much of an error is kept, in characters.
const ERROR_LENGTH: usize = 500;

/// Sends what waits and strikes out what has expired, for as long as it is polled.
pub async fn keep_delivering(sandbox: Sandbox) {
    let mailer = Mailer::of(&sandbox.settings);
    loop {
        if let Err(failure) = round(&sandbox, mailer.as_ref()).await {
            tracing::warn!(?failure, "outbox.round_failed");
        }
        _ = tokio::time::timeout(ROUND, sandbox.outbox.woken()).await;
    }
}

const IS_CODE_EXPIRED: &str = "
    SELECT count(*) FROM
        (SELECT 1 FROM outbox_message WHERE code IS NOT NULL AND code_expires_at <= $1 LIMIT 1) AS expired";

const IS_DUE: &str = "
    SELECT count(*) FROM (SELECT 1 FROM outbox_message WHERE next_attempt_at <= $1 LIMIT 1) AS due";

async fn round(sandbox: &Sandbox, mailer: Option<&Mailer>) -> Result<(), Failure> {
    let now = sandbox.clock.now();
    // Reading first: most rounds find nothing, and need not keep the writer from others.
    if !sandbox.settings.demo && is_any(sandbox, IS_CODE_EXPIRED, now).await? {
        sandbox
            .database
            .write(move |connection: &mut Connection| Box::pin(strike_out(connection, now)))
            .await?;
    }
    if let Some(mailer) = mailer
        && is_any(sandbox, IS_DUE, now).await?
    {
        deliver(sandbox, mailer).await?;
    }
    Ok(())
}

async fn is_any(sandbox: &Sandbox, question: &'static str, now: UnixMillis) -> Result<bool, Failure> {
    let mut reader = sandbox.database.read().await?;
    let count: i64 = query_scalar(question).bind(now).fetch_one(&mut reader).await?;
    Ok(count > 0)
}

const STRIKE_OUT: &str = "
    UPDATE outbox_message SET body = replace(body, code, '••••••'), code = NULL
    WHERE code IS NOT NULL AND code_expires_at <= $1";

async fn strike_out(connection: &mut Connection, now: UnixMillis) -> Result<(), Failure> {
    query(GIVE_UP).bind(now).execute(&mut *connection).await?;
    query(STRIKE_OUT).bind(now).execute(connection).await?;
    Ok(())
}

/// A message that is this sender's for the length of the lease.
#[derive(Debug, sqlx::FromRow)]
struct Claimed {
    message_id: String,
    recipient: String,
    subject: String,
    body: String,
    created_at: UnixMillis,
    attempts: i64,
}

const GIVE_UP: &str = "
    UPDATE outbox_message SET next_attempt_at = NULL, last_error = 'Not sent: its code has expired.'
    WHERE next_attempt_at IS NOT NULL AND code_expires_at <= $1";

const CLAIM: &str = "
    UPDATE outbox_message SET next_attempt_at = $2, attempts = attempts + 1
    WHERE next_attempt_at <= $1 AND message_id IN
        (SELECT message_id FROM outbox_message WHERE next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT $3)
    RETURNING message_id, recipient, subject, body, created_at, attempts";

/// Sends all that is due.
async fn deliver(sandbox: &Sandbox, mailer: &Mailer) -> Result<(), Failure> {
    loop {
        let now = sandbox.clock.now();
        let claimed: Vec<Claimed> = sandbox
            .database
            .write(move |connection: &mut Connection| {
                Box::pin(async move {
                    query(GIVE_UP).bind(now).execute(&mut *connection).await?;
                    let claim = query_as(CLAIM).bind(now).bind(now.plus(LEASE)).bind(AT_ONCE);
                    Ok(claim.fetch_all(connection).await?)
                })
            })
            .await?;
        if claimed.is_empty() {
            return Ok(());
        }
        let sent = claimed.into_iter().map(|message| attempt(sandbox, mailer, message));
        for kept in futures::future::join_all(sent).await {
            kept?;
        }
    }
}

const SENT: &str = "
    UPDATE outbox_message SET sent_at = $2, next_attempt_at = NULL, last_error = NULL WHERE message_id = $1";

const NOT_SENT: &str = "
    UPDATE outbox_message SET next_attempt_at = $2, last_error = $3
    WHERE message_id = $1 AND next_attempt_at IS NOT NULL";

/// Sends one message and writes down what became of it.
async fn attempt(sandbox: &Sandbox, mailer: &Mailer, message: Claimed) -> Result<(), Failure> {
    let outcome = match tokio::time::timeout(PATIENCE, mailer.send(&message)).await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no end of it after {} s", PATIENCE.as_secs())),
    };
    let now = sandbox.clock.now();
    let Claimed { message_id, attempts, .. } = message;
    match &outcome {
        Ok(()) => tracing::info!(message.id = message_id, attempts, "outbox.sent"),
        Err(error) => tracing::warn!(message.id = message_id, attempts, error, "outbox.not_sent"),
    }
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                match outcome {
                    Ok(()) => query(SENT).bind(message_id).bind(now).execute(connection).await?,
                    Err(error) => {
                        let error: String = error.chars().take(ERROR_LENGTH).collect();
                        let next = now.plus(wait_after(attempts));
                        query(NOT_SENT).bind(message_id).bind(next).bind(error).execute(connection).await?
                    }
                };
                Ok(())
            })
        })
        .await
}

/// 1 s after the first attempt, twice as long after each further one, never longer than a minute.
fn wait_after(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(0);
    let doubled = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
    Duration::from_secs(doubled).min(LONGEST_WAIT)
}

/// The way to the mail server.
struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Mailer {
    /// None where no mail server is set: then e-mails stay in the outbox.
    fn of(settings: &Settings) -> Option<Self> {
        let transport = settings.mail_server()?.transport();
        let mut from = settings.smtp_from.clone();
        from.name.get_or_insert_with(|| settings.brand.clone());
        Some(Self { transport, from })
    }

    async fn send(&self, message: &Claimed) -> anyhow::Result<()> {
        let written = self.builder(message)?.body(message.body.clone())?;
        self.transport.send(written).await?;
        Ok(())
    }

    fn builder(&self, message: &Claimed) -> anyhow::Result<MessageBuilder> {
        let created_at = u64::try_from(message.created_at.0).unwrap_or(0);
        Ok(Message::builder()
            .message_id(Some(format!("<{}@{}>", message.message_id, self.from.email.domain())))
            .date(SystemTime::UNIX_EPOCH + Duration::from_millis(created_at))
            .from(self.from.clone())
            .to(message.recipient.parse()?)
            .subject(message.subject.clone())
            .header(ContentType::TEXT_PLAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_twice_the_one_before_up_to_a_minute() {
        let waits: Vec<u64> = (1..=8).map(|attempts| wait_after(attempts).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(wait_after(i64::from(u32::MAX)), LONGEST_WAIT);
    }
}
