//! More data than a demo needs, to see how the service and the portal bear it.

use rand::RngExt;

use super::{Colleague, DAY, DISBURSE_LOAN, Demo, DemoPayout, HOUR, MINUTE, REFUSALS, pick};
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query, query_as, query_scalar},
    error::Failure,
};

/// How many loans one transaction makes: others who write wait no longer than that takes.
const BATCH: u32 = 500;

/// How often a batch is made anew because a receipt of it was there already.
const TRIES: u64 = 5;

const STAFF: &str = "
    SELECT staff_id, first_name, last_name, email, role FROM staff WHERE is_active ORDER BY created_at, staff_id";

/// Demo customers and loans are numbered; this is the last one there is. Others may be called
/// something else that begins like that.
const LAST_NUMBER: &str = "
    SELECT COALESCE(max(CASE WHEN ltrim(substr(customer_id, 5), '0123456789') = ''
                             THEN CAST(substr(customer_id, 5) AS BIGINT) END), 0)
    FROM customer WHERE customer_id LIKE 'CUS-%' AND length(customer_id) BETWEEN 5 AND 13";

/// Adds `loans` that wait and `records` of payouts of the last year, the same for the same `seed`
/// on the same data. Tells `progress` how many more there are each time some are.
///
/// # Errors
/// When there is nobody on the staff who could have paid, or the store fails.
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
        "there is nobody who could have paid loans out; open an account with `mkopo user add`, or start \
         once with MKOPO_DEMO=true"
    );
    let mut making = Making { seed, now, staff, last_number: u32::try_from(last_number)? };
    let batches = [(records, Made::Records), (loans, Made::Loans)];
    for (mut left, made) in batches {
        while left > 0 {
            let batch = left.min(BATCH);
            making.last_number = write(database, &making, batch, made).await?;
            left -= batch;
            progress(batch);
        }
    }
    database
        .write_in_turn(|connection: &mut Connection| Box::pin(async { Ok(connection.analyze().await?) }))
        .await?;
    Ok(())
}

/// Approves `count` loans, by whatever the staff is, and says which.
pub async fn approve(
    connection: &mut Connection,
    now: UnixMillis,
    chance: u64,
    count: u32,
) -> Result<Vec<String>, Failure> {
    let staff: Vec<Colleague> = query_as(STAFF).fetch_all(&mut *connection).await?;
    let last_number: i64 = query_scalar(LAST_NUMBER).fetch_one(&mut *connection).await?;
    let last_number = u32::try_from(last_number).map_err(|error| Failure::Internal(error.to_string()))?;
    let mut demo = Making { seed: chance, now, staff, last_number }.demo(0);
    let mut approved = Vec::new();
    for _ in 0..count {
        approved.push(demo.approve(connection, now, None, None).await?.loan_id);
    }
    Ok(approved)
}

/// What a batch is made from.
#[derive(Clone)]
struct Making {
    seed: u64,
    now: UnixMillis,
    staff: Vec<Colleague>,
    last_number: u32,
}

#[derive(Clone, Copy)]
enum Made {
    Records,
    Loans,
}

impl Making {
    /// Who makes the next batch: at each try with other chance, so also other ids.
    fn demo(self, tries: u64) -> Demo {
        let chance = self.seed ^ (u64::from(self.last_number) << 24) ^ (tries << 56);
        let mut demo = Demo::new(chance, self.now);
        demo.loans_made = self.last_number;
        for colleague in &self.staff {
            demo.join(colleague.clone(), true);
        }
        // Where nobody has the right role, everybody has.
        if demo.approvers.is_empty() {
            demo.approvers.clone_from(&self.staff);
        }
        if demo.payers.is_empty() {
            demo.payers = self.staff;
        }
        demo
    }
}

/// Makes one batch, and says the last number in it. Receipts are drawn by chance, so among very
/// many one may come twice; the batch is then made with others.
async fn write(database: &Database, making: &Making, batch: u32, made: Made) -> Result<u32, Failure> {
    let mut tries = 0;
    loop {
        let making = making.clone();
        let written = database
            .write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move {
                    let mut demo = making.demo(tries);
                    match made {
                        Made::Records => demo.records(connection, batch).await?,
                        Made::Loans => demo.loans(connection, batch).await?,
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
            let paid_at = self.moment_in(365);
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
            let approved_at = self.moment_in(30);
            self.approve(db, approved_at, None, None).await?;
        }
        Ok(())
    }

    /// Some minute of the last `days`.
    fn moment_in(&mut self, days: u32) -> UnixMillis {
        self.now.minus(MINUTE * self.rng.random_range(1..days * 24 * 60))
    }
}
