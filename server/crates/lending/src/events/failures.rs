//! The limit on listed failures of people without a session. The limits on attempts bound failures per
//! address, but somebody may have many addresses.

use std::time::Duration;

use super::EventKind;
use base::clock::UnixMillis;
use store::{Connection, query, query_scalar};

/// The maximum number of failures listed in an hour. Further ones are only counted.
const MAX_AN_HOUR: i64 = 1000;

const HOUR: Duration = Duration::from_hours(1);

const LISTED: &str = "
    SELECT count(*) FROM event
    WHERE kind IN ('sign_in_failed', 'password_reset_failed', 'console_sign_in_failed',
                   'deploy_token_refused')
      AND at > $1 AND at <= $2";

pub(super) async fn may_be_listed(connection: &mut Connection, now: UnixMillis) -> Result<bool, sqlx::Error> {
    let listed: i64 =
        query_scalar(LISTED).bind(now.minus(HOUR)).bind(now.plus(HOUR)).fetch_one(connection).await?;
    Ok(listed < MAX_AN_HOUR)
}

const COUNT: &str = "
    UPDATE event SET times = times + 1 WHERE position =
        (SELECT position FROM event WHERE kind = $1 AND at > $2 AND at <= $3 ORDER BY at DESC LIMIT 1)";

const BEGIN: &str = "INSERT INTO event (at, kind, who, times) VALUES ($1, $2, 'unknown', 1)";

/// Counts a failure that is not listed, in one row for each hour.
pub(super) async fn count(connection: &mut Connection, now: UnixMillis) -> Result<(), sqlx::Error> {
    let counted = query(COUNT)
        .bind_all((EventKind::FailuresNotListed, now.minus(HOUR), now.plus(HOUR)))
        .execute(&mut *connection)
        .await?;
    if counted == 0 {
        query(BEGIN).bind(now).bind(EventKind::FailuresNotListed).execute(connection).await?;
    }
    Ok(())
}
