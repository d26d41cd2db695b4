//! Notifications of a user: their payouts that settled after the call was answered, and newly approved loans.
//! They are derived from payouts and loans; only the time until which they were read is stored.

pub mod api;
mod messages;

pub use messages::{Later, tell};

use std::time::Duration;

use serde::Serialize;

use crate::{
    auth::{
        limits::SKEW,
        session::{self, Session},
    },
    world::World,
};
use base::{
    clock::UnixMillis,
    error::Failure,
    ids::{LoanId, StaffId},
    kes::Kes,
};
use store::{Connection, query, query_as, query_scalar};

/// The maximum age of a notification.
const KEPT: Duration = Duration::from_hours(7 * 24);

/// The maximum number of payouts listed, and of loans: many approved loans displace no failed payout.
const LISTED: i64 = 50;

#[derive(Debug, Serialize, sqlx_macros::FromRow)]
struct Notification {
    id: String,
    /// `payout_completed`, `payout_failed` or `loan_approved`.
    kind: String,
    at: UnixMillis,
    loan_id: LoanId,
    customer_name: String,
    amount: Kes,
    error_message: Option<String>,
    #[sqlx(skip)]
    is_read: bool,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names in the contract")]
pub struct Notifications {
    unread: i64,
    unread_approved: i64,
    approved: i64,
    read_until: Option<UnixMillis>,
    notifications: Vec<Notification>,
}

/// A later time was stored before the clock was set back, and hides nothing.
const READ_UNTIL: &str = "SELECT read_until FROM notification_read WHERE staff_id = $1 AND read_until <= $2";

/// A payout that took 8 seconds was not settled when its call was answered.
const PAYOUTS: &str = "
    SELECT payout.payout_id AS id,
           CASE payout.status WHEN 'COMPLETED' THEN 'payout_completed' ELSE 'payout_failed' END AS kind,
           payout.processed_at AS at, payout.loan_id,
           customer.first_name || ' ' || customer.last_name AS customer_name, payout.amount,
           payout.error_message
    FROM payout
    JOIN loan ON loan.loan_id = payout.loan_id
    JOIN customer ON customer.customer_id = loan.customer_id
    WHERE payout.staff_id = $1 AND payout.processed_at > $2 AND payout.processed_at - payout.created_at >= 8000
    ORDER BY payout.processed_at DESC, payout.payout_id DESC LIMIT $3";

const LOANS: &str = "
    SELECT loan.loan_id AS id, 'loan_approved' AS kind, loan.approved_at AS at, loan.loan_id,
           customer.first_name || ' ' || customer.last_name AS customer_name, loan.amount,
           CAST(NULL AS TEXT) AS error_message
    FROM loan JOIN customer ON customer.customer_id = loan.customer_id
    WHERE loan.status = 'APPROVED' AND loan.approved_at > $1
    ORDER BY loan.approved_at DESC, loan.loan_id DESC LIMIT $2";

const APPROVED: &str = "SELECT count(*) FROM loan WHERE status = 'APPROVED' AND approved_at > $1";

const UNREAD_PAYOUTS: &str = "
    SELECT count(*) FROM payout
    WHERE staff_id = $1 AND processed_at > $2 AND processed_at - created_at >= 8000";

/// The latest notifications of `staff_id`, the newest first.
pub async fn latest(world: &World, staff_id: &StaffId) -> Result<Notifications, Failure> {
    let mut reader = world.database.read().await?;
    let now = world.clock.now();
    let since = now.minus(KEPT);
    let read_until: Option<UnixMillis> =
        query_scalar(READ_UNTIL).bind(staff_id).bind(now.plus(SKEW)).fetch_optional(&mut reader).await?;
    let mut notifications: Vec<Notification> =
        query_as(PAYOUTS).bind(staff_id).bind(since).bind(LISTED).fetch_all(&mut reader).await?;
    let loans: Vec<Notification> = query_as(LOANS).bind(since).bind(LISTED).fetch_all(&mut reader).await?;
    notifications.extend(loans);
    notifications.sort_by(|one, other| (other.at, &other.id).cmp(&(one.at, &one.id)));
    for notification in &mut notifications {
        notification.is_read = read_until.is_some_and(|until| notification.at <= until);
    }
    let unread_since = read_until.map_or(since, |until| until.max(since));
    let payouts: i64 =
        query_scalar(UNREAD_PAYOUTS).bind(staff_id).bind(unread_since).fetch_one(&mut reader).await?;
    let unread_approved: i64 = query_scalar(APPROVED).bind(unread_since).fetch_one(&mut reader).await?;
    let approved = query_scalar(APPROVED).bind(since).fetch_one(&mut reader).await?;
    let unread = payouts + unread_approved;
    Ok(Notifications { unread, unread_approved, approved, read_until, notifications })
}

const MARK: &str = "
    INSERT INTO notification_read (staff_id, read_until) VALUES ($1, $2)
    ON CONFLICT (staff_id) DO UPDATE SET read_until = excluded.read_until
        WHERE notification_read.read_until < excluded.read_until OR notification_read.read_until > $3";

/// Marks the notifications of `session`'s user until a time as read.
pub async fn mark_read(world: &World, session: Session, until: UnixMillis) -> Result<(), Failure> {
    let now = world.clock.now();
    // Later notifications can't have been read yet.
    let until = until.min(now);
    world
        .database
        .write_in_turn(async move |connection: &mut Connection| {
            session::check_open(connection, &session.session_id).await?;
            Ok(query(MARK).bind_all((&session.staff.staff_id, until, now.plus(SKEW))).run(connection).await?)
        })
        .await
}
