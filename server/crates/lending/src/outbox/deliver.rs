//! Sends e-mails by SMTP in the background, after their row is committed.
//!
//! A message is claimed by moving its next attempt to after the send timeout. If the process dies
//! meanwhile, the message becomes due again, in this process or another. So each message is sent
//! at least once, always with the same Message-ID, unless it is given up: when the mail server refuses it
//! permanently, after five days of attempts, or when its code expires.
//!
//! Outside demo mode, a code is redacted from its message when it expires, sent or not, so that
//! codes can't be read from the database later.

use std::{
    pin::pin,
    time::{Duration, Instant, SystemTime},
};

use anyhow::anyhow;
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Tokio1Executor,
    message::{Mailbox, Message, header::ContentType},
    transport::smtp::{self, response::Category},
};
use tracing::Instrument;

use super::Outbox;
use base::{clock::UnixMillis, error::Failure, ids::MessageId};
use settings::Settings;
use store::{
    Connection, QueryAs, query, query_as, query_scalar,
    sweep::{self, Sweep},
};

const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// The lifetime of a claim, which is longer than an attempt takes.
const LEASE: Duration = Duration::from_mins(1);
/// The maximum number of concurrent first attempts at codes, and of all other attempts, on each server. Where the
/// mail server hangs at a recipient, notices and retries pile up, but they get no places of codes. A person gets a
/// new code every 30 s at most, so that first attempts at theirs hold one place at a time.
const PLACES: usize = 8;
/// Poll interval for messages of other processes and for retries. It is measured in real time, so that a
/// sandbox whose clock is frozen still sends its e-mails.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The longest wait between two attempts (RFC 5321, 4.5.4.1, asks for at least 30 minutes).
const MAX_WAIT: Duration = Duration::from_mins(30);
/// The longest wait between two attempts at a code, which is valid for minutes.
const MAX_WAIT_OF_CODE: Duration = Duration::from_mins(1);
/// The number of attempts after which a message is given up, which takes five days.
const MAX_ATTEMPTS: i64 = 251;
/// No attempt is planned further ahead, on the clock of any server. One that is, was planned before the clock was
/// set back, and is due.
const FURTHEST: Duration = Duration::from_hours(1);
/// The maximum length of a stored error, in characters.
const MAX_ERROR_LENGTH: usize = 500;

/// Sends queued messages and redacts expired codes, for as long as the future is polled.
pub async fn keep_delivering(outbox: Outbox) {
    let mailer = Mailer::of(&outbox.world.settings);
    let mut sender = Sender::of(&outbox, mailer.as_ref());
    loop {
        if let Err(failure) = sender.round().await {
            tracing::warn!(?failure, "outbox.round_failed");
        }
        sender.wait().await;
    }
}

/// Sends the messages that are due, and those that become due meanwhile, and redacts expired codes. After 30 s it
/// begins no further attempts, so that other work of the sandbox does not wait for long.
///
/// # Errors
/// If the database fails. A message that can't be sent is not an error: it is retried later.
pub async fn deliver_due(outbox: &Outbox) -> Result<(), Failure> {
    let began = Instant::now();
    let mailer = Mailer::of(&outbox.world.settings);
    let mut sender = Sender::of(outbox, mailer.as_ref());
    let mut outcome = sender.round().await;
    while sender.is_sending() {
        sender.wait().await;
        if began.elapsed() < SEND_TIMEOUT {
            outcome = sender.round().await;
        }
    }
    outcome
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
    SELECT count(*) FROM
        (SELECT 1 FROM outbox_message WHERE next_attempt_at <= $1 OR next_attempt_at > $2 LIMIT 1) AS due";

type Sending<'a> = FuturesUnordered<BoxFuture<'a, ()>>;

/// Sends messages, each independently of the others.
struct Sender<'a> {
    outbox: &'a Outbox,
    mailer: Option<&'a Mailer>,
    /// First attempts at messages with a code.
    codes: Sending<'a>,
    /// All other attempts.
    others: Sending<'a>,
}

impl<'a> Sender<'a> {
    fn of(outbox: &'a Outbox, mailer: Option<&'a Mailer>) -> Self {
        Self { outbox, mailer, codes: Sending::new(), others: Sending::new() }
    }

    fn is_sending(&self) -> bool {
        !self.codes.is_empty() || !self.others.is_empty()
    }

    /// Redacts expired codes, and begins to send the messages that are due, as far as there are places.
    async fn round(&mut self) -> Result<(), Failure> {
        let outbox = self.outbox;
        let Some(mailer) = self.mailer else { return redact(outbox).await };
        let places = Each { codes: PLACES - self.codes.len(), others: PLACES - self.others.len() };
        self.while_sending(redact(outbox)).await?;
        let claimed = self.while_sending(claim_due(outbox, places)).await?;
        let send = move |message: Claimed| {
            let step =
                traces::later(&outbox.world.traces, "send the message", message.traceparent.as_deref());
            attempt(outbox, mailer, message).instrument(step).boxed()
        };
        self.codes.extend(claimed.codes.into_iter().map(send));
        self.others.extend(claimed.others.into_iter().map(send));
        Ok(())
    }

    /// Runs `work` while messages are sent: it may wait for a transaction that one of them holds.
    async fn while_sending<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                Some(()) = self.codes.next() => {}
                Some(()) = self.others.next() => {}
            }
        }
    }

    /// Sends until it is time for the next round: a place is free, there is a new message, or the poll interval is
    /// over.
    async fn wait(&mut self) {
        let next = tokio::time::timeout(POLL_INTERVAL, self.outbox.new.notified());
        tokio::select! {
            _ = next => {}
            Some(()) = self.codes.next() => {}
            Some(()) = self.others.next() => {}
        }
    }
}

/// Outside demo mode, redacts expired codes.
async fn redact(outbox: &Outbox) -> Result<(), Failure> {
    let is_expired = query_scalar(IS_CODE_EXPIRED).bind(outbox.world.clock.now());
    // Reads first: most rounds find nothing, and then the writer is not blocked.
    if !outbox.world.settings.demo && is_any(outbox, is_expired).await? {
        update_expired(outbox, REDACT).await?;
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

async fn is_any(outbox: &Outbox, count: QueryAs<i64>) -> Result<bool, Failure> {
    let mut reader = outbox.world.database.read().await?;
    Ok(count.fetch_one(&mut reader).await? > 0)
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
    code_expires_at: Option<UnixMillis>,
    created_at: UnixMillis,
    attempts: i64,
    traceparent: Option<String>,
}

/// A value for first attempts at messages with a code, and one for all other attempts.
#[derive(Debug, Default)]
struct Each<T> {
    codes: T,
    others: T,
}

const GIVE_UP: &str = "
    UPDATE outbox_message SET next_attempt_at = NULL, last_error = 'Not sent: its code has expired.'
    WHERE message_id IN
        (SELECT message_id FROM outbox_message WHERE next_attempt_at IS NOT NULL AND code_expires_at <= $1
         ORDER BY code_expires_at LIMIT 500)";

const BRING_FORWARD: &str = "
    UPDATE outbox_message SET next_attempt_at = $1
    WHERE message_id IN (SELECT message_id FROM outbox_message WHERE next_attempt_at > $2 LIMIT 500)";

const CLAIM: &str = "
    UPDATE outbox_message SET next_attempt_at = $2, attempts = attempts + 1
    WHERE next_attempt_at <= $1 AND message_id IN
        (SELECT message_id FROM outbox_message
         WHERE next_attempt_at <= $1 AND (code_expires_at IS NOT NULL AND attempts = 0) = $3
         ORDER BY code_expires_at IS NULL, next_attempt_at LIMIT $4)
    RETURNING message_id, recipient, subject, body, code_expires_at, created_at, attempts, traceparent";

/// Claims messages that are due, as many as there are `places`. Of those that are no first attempts at codes, later
/// attempts at codes come first.
async fn claim_due(outbox: &Outbox, places: Each<usize>) -> Result<Each<Vec<Claimed>>, Failure> {
    let now = outbox.world.clock.now();
    if !is_any(outbox, query_scalar(IS_DUE).bind(now).bind(now.plus(FURTHEST))).await? {
        return Ok(Each::default());
    }
    loop {
        let mut transaction = outbox.world.begin_with_current_clock().await?;
        let now = outbox.world.clock.now();
        // Expired messages are never sent, so they are given up first.
        if query(GIVE_UP).bind(now).execute(&mut transaction).await? == sweep::BATCH_SIZE {
            transaction.commit().await?;
            update_expired(outbox, GIVE_UP).await?;
            continue;
        }
        query(BRING_FORWARD).bind(now).bind(now.plus(FURTHEST)).run(&mut transaction).await?;
        let codes = claim(&mut transaction, now, true, places.codes).await?;
        let others = claim(&mut transaction, now, false, places.others).await?;
        transaction.commit().await?;
        return Ok(Each { codes, others });
    }
}

async fn claim(
    connection: &mut Connection,
    now: UnixMillis,
    is_first_of_code: bool,
    places: usize,
) -> Result<Vec<Claimed>, sqlx::Error> {
    let limit = i64::try_from(places).unwrap_or(i64::MAX);
    query_as(CLAIM).bind_all((now, now.plus(LEASE), is_first_of_code, limit)).fetch_all(connection).await
}

const SENT: &str = "
    UPDATE outbox_message SET sent_at = $2, next_attempt_at = NULL, last_error = NULL WHERE message_id = $1";

const NOT_SENT: &str = "
    UPDATE outbox_message SET next_attempt_at = $2, last_error = $3
    WHERE message_id = $1 AND next_attempt_at IS NOT NULL";

/// Sends one message and records the outcome.
async fn attempt(outbox: &Outbox, mailer: &Mailer, message: Claimed) {
    let is_allowed = mailer.may_send_to(&message.recipient);
    let outcome = if is_allowed {
        let sent = tokio::time::timeout(SEND_TIMEOUT, mailer.send(&message)).await;
        sent.unwrap_or_else(|_| Err(anyhow!("timed out after {} s", SEND_TIMEOUT.as_secs())))
    } else {
        Err(anyhow!("Not sent: a sandbox sends to the domains of MKOPO_SANDBOX_MAIL_DOMAINS only."))
    };
    let now = outbox.world.clock.now();
    let Claimed { message_id, attempts, code_expires_at, .. } = message;
    let recorded = match outcome {
        Ok(()) => {
            tracing::info!(message.id = %message_id, attempts, "outbox.sent");
            query(SENT).bind(message_id).bind(now)
        }
        Err(error) => {
            let given_up = !is_allowed || attempts >= MAX_ATTEMPTS || is_refusal(&error);
            let error: String = error.to_string().chars().take(MAX_ERROR_LENGTH).collect();
            let shown = without_names(&error);
            tracing::warn!(message.id = %message_id, attempts, error = shown, given_up, "outbox.not_sent");
            let max_wait = if code_expires_at.is_some() { MAX_WAIT_OF_CODE } else { MAX_WAIT };
            let next = (!given_up).then(|| now.plus(wait_after(attempts, max_wait)));
            query(NOT_SENT).bind(message_id).bind(next).bind(error)
        }
    };
    if let Err(failure) = outbox.world.database.execute_in_turn(recorded).await {
        tracing::warn!(?failure, "outbox.not_recorded");
    }
}

/// `text` with the domains of e-mail addresses in their place: a mail server says whom it refuses.
fn without_names(text: &str) -> String {
    let shown = |word: &str| word.split_once('@').map_or(word.to_owned(), |(_, domain)| format!("@{domain}"));
    text.split_whitespace().map(shown).collect::<Vec<_>>().join(" ")
}

/// Returns whether the mail server refused the message permanently. A reply 53x refuses this server's credentials
/// (RFC 4954), which an operator may mend.
fn is_refusal(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<smtp::Error>().filter(|error| error.is_permanent());
    let reply = refused.and_then(smtp::Error::status);
    reply.is_some_and(|reply| reply.category != Category::Unspecified3)
}

/// Returns the wait after an attempt: 1 s after the first, doubled after each further one, up to `max`.
fn wait_after(attempts: i64, max: Duration) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(0);
    Duration::from_secs(2_u64.saturating_pow(doublings)).min(max)
}

struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    /// The domains of the recipients; `None` for any.
    domains: Option<Vec<String>>,
}

impl Mailer {
    /// `None` if no mail server is configured: then e-mails stay in the outbox.
    fn of(settings: &Settings) -> Option<Self> {
        let transport = settings.mail_server()?.transport(settings.mail_name());
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
    fn waits_double_up_to_a_maximum() {
        let waits: Vec<u64> =
            (1..=8).map(|attempts| wait_after(attempts, MAX_WAIT_OF_CODE).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(wait_after(i64::from(u32::MAX), MAX_WAIT), MAX_WAIT);
    }

    #[test]
    fn attempts_take_five_days() {
        let waits: Duration = (1..MAX_ATTEMPTS).map(|attempts| wait_after(attempts, MAX_WAIT)).sum();
        assert_eq!(waits.as_secs() / 3600, 5 * 24);
    }
}
