//! Notifications of a user: their payouts that settled after the call was answered, and newly approved loans.
//! They are derived from payouts and loans; only the time until which they were read is stored.

/// The calls of the contract.
pub mod api;
mod messages;

pub use messages::{Later, tell};

use std::{collections::HashMap, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    auth::session::{self, Session},
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

/// A notification.
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

/// The latest notifications of somebody.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names in the contract")]
pub struct Notifications {
    unread: i64,
    unread_approved: i64,
    approved: i64,
    read_until: Option<UnixMillis>,
    notifications: Vec<Notification>,
}

const READ_UNTIL: &str = "SELECT read_until FROM notification_read WHERE staff_id = $1";

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
    let since = world.clock.now().minus(KEPT);
    let read_until: Option<UnixMillis> =
        query_scalar(READ_UNTIL).bind(staff_id).fetch_optional(&mut reader).await?;
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

/// The newest loan and the newest payouts, compared to find additions.
#[derive(Clone, Debug, Default)]
pub struct Newest {
    /// The id of the newest loan.
    pub loan: Option<String>,
    /// The number of notifications of each user, and the time of the last one.
    by_staff: HashMap<String, (i64, UnixMillis)>,
}

const NEWEST_LOAN: &str = "
    SELECT loan_id FROM loan WHERE status = 'APPROVED' ORDER BY approved_at DESC, loan_id DESC LIMIT 1";

const NEWEST_PAYOUTS: &str = "
    SELECT staff_id, count(*), max(processed_at) FROM payout
    WHERE staff_id IN (SELECT value ->> 'id' FROM json_each($1))
      AND processed_at > $2 AND processed_at - created_at >= 8000
    GROUP BY staff_id";

/// Returns the newest loan, and the newest notifications of `staff`.
pub async fn newest(connection: &mut Connection, staff: &[&str], now: UnixMillis) -> Result<Newest, Failure> {
    let asked: Vec<Value> = staff.iter().map(|id| json!({ "id": id })).collect();
    let loan: Option<String> = query_scalar(NEWEST_LOAN).fetch_optional(&mut *connection).await?;
    let payouts: Vec<(String, i64, UnixMillis)> = query_as(NEWEST_PAYOUTS)
        .bind_all((Value::from(asked).to_string(), now.minus(KEPT)))
        .fetch_all(connection)
        .await?;
    let by_staff = payouts.into_iter().map(|(staff_id, count, at)| (staff_id, (count, at))).collect();
    Ok(Newest { loan, by_staff })
}

impl Newest {
    /// Returns the users for whom something was added since `before`.
    pub fn staff_unlike<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a str> {
        let changed = self.by_staff.iter().filter(|(id, newest)| before.by_staff.get(*id) != Some(newest));
        changed.map(|(id, _)| id.as_str())
    }
}

const MARK: &str = "
    INSERT INTO notification_read (staff_id, read_until) VALUES ($1, $2)
    ON CONFLICT (staff_id) DO UPDATE SET read_until = excluded.read_until
        WHERE notification_read.read_until < excluded.read_until";

/// Marks the notifications of `session`'s user until a time as read.
///
/// # Errors
/// [`crate::auth::AuthRefusal::NoSession`].
pub async fn mark_read(world: &World, session: Session, until: UnixMillis) -> Result<(), Failure> {
    // Later notifications can't have been read yet.
    let until = until.min(world.clock.now());
    world
        .database
        .write_in_turn(async move |connection: &mut Connection| {
            session::check_open(connection, &session.session_id).await?;
            Ok(query(MARK).bind(&session.staff.staff_id).bind(until).run(connection).await?)
        })
        .await
}
