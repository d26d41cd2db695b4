//! Payouts per second: 64 at once with group commit, 64 at once with a commit for each transaction,
//! and one after the other. Every commit is flushed to disk. Compare the ratios: the absolute
//! figures depend on the machine.
//!
//! `cargo bench --bench payouts`

#![expect(clippy::unwrap_used, reason = "a benchmark fails on the first error")]

#[path = "figures/mod.rs"]
mod figures;

use std::time::Instant;

use self::figures::{Section, rounds};

use clap::Parser;
use futures::future::join_all;
use mkopo::{
    Sandbox,
    auth::{Staff, session::Session},
    clock::Clock,
    commands::{Command, CommandLine},
    database::{Connection, Database, MAX_BATCH_SIZE},
    error::FailureFormat,
    payouts::{self, DisbursementRequest},
    phone::Msisdn,
    randomness::Randomness,
};
use tempfile::TempDir;

const AT_ONCE: usize = 64;
/// Payouts of each kind in one round; the kinds are interleaved, so that all run under the same
/// conditions.
const PER_ROUND: usize = 1280;
const ROUNDS: usize = 5;

const CUSTOMERS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 19999)
    INSERT INTO customer
    SELECT 'CUS-X' || n, first_name, last_name, '+2547' || (20000000 + n), id_number, nickname, gender,
           status, account_id, account_number, account_status, credit_score, risk_level
    FROM number, (SELECT * FROM customer LIMIT 1) AS one";

const LOANS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 19999)
    INSERT INTO loan
    SELECT 'LN-X' || n, 'CUS-X' || n, 100, interest_rate_bp, term_months, purpose, 'APPROVED', 100,
           notes, approver_id, approver_name, approver_email, approved_at, NULL, created_at, updated_at
    FROM number, (SELECT * FROM loan WHERE status = 'APPROVED' LIMIT 1) AS one";

/// One that has not ended, because those are cleaned up.
const SESSION: &str = "
    INSERT INTO session (session_id, staff_id, created_at, expires_at)
    SELECT 'the-session', staff_id, 0, 4102444800000 FROM staff WHERE email = 'agent@mkopo.test'";

/// A service with loans to pay.
struct Kind {
    sandbox: Sandbox,
    session: Session,
    next_loan: usize,
    _data_dir: TempDir,
}

impl Kind {
    async fn committing(max_batch_size: usize) -> Self {
        let data_dir = tempfile::tempdir().unwrap();
        let folder = data_dir.path().to_str().unwrap();
        let line = ["mkopo", "serve", "--demo", "true", "--data-dir", folder];
        let Command::Serve(settings) = CommandLine::parse_from(line).command else { unreachable!() };
        let file = data_dir.path().join("mkopo.db");
        let database = Database::open_with_batch_size(&file, max_batch_size).await.unwrap();
        let sandbox = Sandbox::on(database, settings, Clock::system(), Randomness::from_os()).await.unwrap();
        let add = sandbox.database.write(async move |connection: &mut Connection| {
            mkopo::database::query(CUSTOMERS).execute(&mut *connection).await?;
            mkopo::database::query(LOANS).execute(&mut *connection).await?;
            mkopo::database::query(SESSION).execute(connection).await?;
            Ok(())
        });
        add.await.unwrap();
        let email = serde_json::from_str("\"agent@mkopo.test\"").unwrap();
        let mut reader = sandbox.database.read().await.unwrap();
        let staff = Staff::by_email(&mut reader, &email).await.unwrap().unwrap();
        drop(reader);
        let session = Session { session_id: "the-session".to_owned(), staff };
        Self { sandbox, session, next_loan: 0, _data_dir: data_dir }
    }

    /// Pays `count` loans, `at_once` at a time, and returns how many per second.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    async fn pay(&mut self, count: usize, at_once: usize) -> f64 {
        let began = Instant::now();
        for _ in 0..count / at_once {
            let loans = self.next_loan..self.next_loan + at_once;
            self.next_loan = loans.end;
            join_all(loans.map(|loan| pay(&self.sandbox, &self.session, loan))).await;
        }
        count as f64 / began.elapsed().as_secs_f64()
    }
}

async fn pay(sandbox: &Sandbox, session: &Session, loan: usize) {
    let request = DisbursementRequest {
        loan_id: format!("LN-X{loan}"),
        agent_id: "1".to_owned(),
        amount: 100,
        phone_number: Msisdn::parse(&format!("+2547{}", 20_000_000 + loan)),
    };
    let format = FailureFormat { request_id: String::new().into(), problem: false };
    let reply = payouts::disburse(sandbox, session, request, None, format).await.unwrap();
    assert_eq!(reply.status, 200, "{}", reply.body);
}

#[tokio::main]
async fn main() {
    let mut together = Kind::committing(MAX_BATCH_SIZE).await;
    let mut alone = Kind::committing(1).await;
    let (mut fast, mut slow, mut one) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds(ROUNDS) {
        let rates = [
            together.pay(PER_ROUND, AT_ONCE).await,
            alone.pay(PER_ROUND, AT_ONCE).await,
            alone.pay(PER_ROUND / 4, 1).await,
        ];
        // The first round is the warm-up.
        if round > 0 {
            for (figures, rate) in [&mut fast, &mut slow, &mut one].into_iter().zip(rates) {
                figures.push(rate);
            }
        }
    }
    let how = format!(
        "On SQLite, in one process without a network. In each round, each kind pays {PER_ROUND} loans ({} one after \
         the other), in turns, after a first round that does not count. Every commit is flushed to the disk of the \
         folder for temporary files, named below: without a real disk there, the ratios say nothing.",
        PER_ROUND / 4
    );
    let mut section = Section::new("payouts", "Payouts on SQLite", how, Vec::new());
    let ratio = |other: &[f64]| fast.iter().zip(other).map(|(fast, other)| fast / other).collect();
    let (to_slow, to_one) = (ratio(&slow), ratio(&one));
    section.table("Payouts a second");
    section.figure(format!("{AT_ONCE} at once, sharing commits"), "/s", fast, "");
    section.figure(format!("{AT_ONCE} at once, a commit for each transaction"), "/s", slow, "");
    section.figure("one after the other", "/s", one, "");
    section.figure("the first against the second", "", to_slow, "");
    section.figure("the first against the third", "", to_one, "");
    for kind in [together, alone] {
        let audit = payouts::invariant(&mut kind.sandbox.database.read().await.unwrap()).await.unwrap();
        assert!(audit.ok, "{audit:?}");
    }
    section.write();
}
