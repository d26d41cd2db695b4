//! The maximum of a payout while loans are claimed.

use std::{thread, time::Duration};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{
    crash::{LOANS, fill},
    server::{Answer, Server, sign_in, sign_in_as},
    servers::{self, WAITING_FOR_A_ROW, WITHOUT_LOCK, pay_once, wait_until},
};

fn set_maximum(server: &Server, admin: &str, maximum: i64) -> Answer {
    let new = json!({
        "preferences":
            {"language": "en", "time_zone": null, "notify_by_email": false, "notify_by_sms": false},
        "rules": {
            "session_minutes": 480, "maximum_amount": maximum, "confirmation_required": true,
            "auto_retry": false, "retry_attempts": 3,
        },
    });
    servers::call(&server.address, "PUT", "/api/v1/settings", admin, Some(&new))
}

/// The connections that can't go on because of what another one has locked.
const WAITING: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// The number of payouts of `LN-X7`.
async fn payouts(connection: &mut PgConnection) -> i64 {
    let count = "SELECT count(*) FROM payout WHERE loan_id = 'LN-X7'";
    sqlx::query_scalar(count).fetch_one(connection).await.unwrap()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn once_a_lower_maximum_is_answered_no_claim_from_before_is_still_being_written_on_postgresql() {
    let cluster = servers::Cluster::start();
    fill(cluster.settings(), LOANS);
    // Only there is a maximum.
    let live = ["--screens", "live"].map(str::to_owned);
    let server = Server::start_on(&[&cluster.options()[..], &live].concat());
    let (token, admin) = (sign_in(&server.address), sign_in_as("admin@mkopo.test", &server.address).unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let other = || runtime.block_on(PgConnection::connect(&cluster.url)).unwrap();
    let (mut writer, mut observer, mut reader) = (other(), other(), other());
    let mut write = |statement: &'static str| {
        runtime.block_on(sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut writer)).unwrap();
    };
    // The claim has read the maximum, and waits for somebody who has entered a payout of the same loan.
    write("BEGIN");
    write(WITHOUT_LOCK);
    let (paid, maximum, there) = thread::scope(|scope| {
        let paying = scope.spawn(|| pay_once(&server, &token, 7));
        wait_until("the claim waits", Duration::from_secs(30), || {
            let waiting = sqlx::query_scalar::<_, i64>(WAITING_FOR_A_ROW).fetch_one(&mut observer);
            runtime.block_on(waiting).unwrap() == 1
        });
        let setting = scope.spawn(|| {
            let answer = set_maximum(&server, &admin, 1006);
            (answer, runtime.block_on(payouts(&mut reader)))
        });
        wait_until("the change waits for the claim, or is answered", Duration::from_secs(30), || {
            let waiting = sqlx::query_scalar::<_, i64>(WAITING).fetch_one(&mut observer);
            setting.is_finished() || runtime.block_on(waiting).unwrap() >= 2
        });
        write("ROLLBACK");
        let (maximum, there) = setting.join().unwrap();
        (paying.join().unwrap(), maximum, there)
    });
    assert_eq!(maximum.status, 200, "{}", maximum.body);
    match paid.status {
        200 => assert_eq!(there, 1, "it was claimed after the lower maximum was answered"),
        // On a machine that is very busy, its time to wait for the row runs out first.
        503 => assert_eq!(paid.body["code"], "busy"),
        _ => assert_eq!(paid.body["code"], Value::from("amount_above_maximum"), "{}", paid.body),
    }
}
