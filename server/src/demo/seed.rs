//! Larger amounts of data, for load tests.

use rand::RngExt;

use super::{Colleague, DAY, DISBURSE_LOAN, Demo, DemoPayout, HOUR, MINUTE, REFUSALS, pick};
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query, query_as, query_scalar},
    error::Failure,
};

/// Loans per transaction: other writers wait no longer than one batch takes.
const BATCH: u32 = 500;

/// How often a batch is retried because one of its receipts exists already.
const TRIES: u64 = 5;

const STAFF: &str = "
    SELECT staff_id, first_name, last_name, email, role FROM staff WHERE is_active ORDER BY created_at, staff_id";

/// Demo customers and loans are numbered; this selects the last number. The ids of other customers
/// may start with the same prefix.
const LAST_NUMBER: &str = "
    SELECT COALESCE(max(CASE WHEN ltrim(substr(customer_id, 5), '0123456789') = ''
                             THEN CAST(substr(customer_id, 5) AS BIGINT) END), 0)
    FROM customer WHERE customer_id LIKE 'CUS-%' AND length(customer_id) BETWEEN 5 AND 13";

/// Adds waiting `loans`, and `records` of payouts from the last year, deterministic for `seed` on the
/// same data. After each batch, calls `progress` with the number added.
///
/// # Errors
/// When no account is active, or the database fails.
pub async fn seed(
    database: &Database,
    now: UnixMillis,
    seed: u64,
    loans: u32,
    records: u32,
    mut progress: impl FnMut(u32),
) -> anyhow::Result<()> {
    let mut reader = database.read().await?;
    let staff: Vec<Colleague> = query_as(STAFF).fetch_all(&mut reader).await?;
    let last_number: i64 = query_scalar(LAST_NUMBER).fetch_one(&mut reader).await?;
    drop(reader);
    anyhow::ensure!(
        !staff.is_empty(),
        "no account is active, so nobody can approve or pay loans; add one with `mkopo user add`, or \
         start once with MKOPO_DEMO=true"
    );
    let mut generator = Generator { seed, now, staff, last_number: u32::try_from(last_number)? };
    let batches = [(records, Kind::Records), (loans, Kind::Loans)];
    for (mut left, kind) in batches {
        while left > 0 {
            let batch = left.min(BATCH);
            generator.last_number = write(database, &generator, batch, kind).await?;
            left -= batch;
            progress(batch);
        }
    }
    database
        .write_in_turn(|connection: &mut Connection| Box::pin(async { Ok(connection.analyze().await?) }))
        .await?;
    Ok(())
}

/// Adds `count` approved loans, with approvers from the current staff, and returns their ids.
pub async fn approve(
    connection: &mut Connection,
    now: UnixMillis,
    seed: u64,
    count: u32,
) -> Result<Vec<String>, Failure> {
    let staff: Vec<Colleague> = query_as(STAFF).fetch_all(&mut *connection).await?;
    let last_number: i64 = query_scalar(LAST_NUMBER).fetch_one(&mut *connection).await?;
    let last_number = u32::try_from(last_number).map_err(|error| Failure::Internal(error.to_string()))?;
    let mut demo = Generator { seed, now, staff, last_number }.demo(0);
    let mut approved = Vec::new();
    for _ in 0..count {
        approved.push(demo.approve(connection, now, None, None).await?.loan_id);
    }
    Ok(approved)
}

/// The input from which batches are generated.
#[derive(Clone)]
struct Generator {
    seed: u64,
    now: UnixMillis,
    staff: Vec<Colleague>,
    last_number: u32,
}

#[derive(Clone, Copy)]
enum Kind {
    Records,
    Loans,
}

impl Generator {
    /// Starts the next batch. Each try has another seed, and so other ids and receipts.
    fn demo(self, tries: u64) -> Demo {
        let seed = self.seed ^ (u64::from(self.last_number) << 24) ^ (tries << 56);
        let mut demo = Demo::new(seed, self.now);
        demo.loans_made = self.last_number;
        for colleague in &self.staff {
            demo.assign(colleague.clone(), true);
        }
        // If nobody has the right role, everybody takes part.
        if demo.approvers.is_empty() {
            demo.approvers.clone_from(&self.staff);
        }
        if demo.payers.is_empty() {
            demo.payers = self.staff;
        }
        demo
    }
}

/// Adds one batch, and returns the last number in it. Receipts are random, so one may exist already;
/// the batch is then retried with others.
async fn write(database: &Database, generator: &Generator, batch: u32, kind: Kind) -> Result<u32, Failure> {
    let mut tries = 0;
    loop {
        let generator = generator.clone();
        let written = database
            .write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move {
                    let mut demo = generator.demo(tries);
                    match kind {
                        Kind::Records => demo.records(connection, batch).await?,
                        Kind::Loans => demo.loans(connection, batch).await?,
                    }
                    Ok(demo.loans_made)
                })
            })
            .await;
        match written {
            Err(failure) if failure.is_unique_violation() && tries < TRIES => tries += 1,
            written => return written,
        }
    }
}

impl Demo {
    async fn records(&mut self, db: &mut Connection, records: u32) -> Result<(), Failure> {
        let mut made = 0;
        while made < records {
            let paid_at = self.random_time_in(365);
            let loan = self.approve(db, paid_at.minus(DAY), None, None).await?;
            if self.rng.random_bool(0.125) && made + 1 < records {
                let refusal = DemoPayout::Refused(pick(&mut self.rng, &REFUSALS));
                self.pay(db, &loan, paid_at.minus(2 * HOUR), refusal).await?;
                made += 1;
            }
            self.pay(db, &loan, paid_at, DemoPayout::Completed).await?;
            query(DISBURSE_LOAN).bind(&loan.loan_id).bind(paid_at).execute(&mut *db).await?;
            made += 1;
        }
        Ok(())
    }

    async fn loans(&mut self, db: &mut Connection, loans: u32) -> Result<(), Failure> {
        for _ in 0..loans {
            let approved_at = self.random_time_in(30);
            self.approve(db, approved_at, None, None).await?;
        }
        Ok(())
    }

    /// A random minute of the last `days`.
    fn random_time_in(&mut self, days: u32) -> UnixMillis {
        self.now.minus(MINUTE * self.rng.random_range(1..days * 24 * 60))
    }
}
