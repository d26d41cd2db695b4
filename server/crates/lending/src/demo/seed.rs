//! Larger amounts of data, for load tests.

use rand::{RngExt, rngs::ChaCha12Rng};

use super::{Colleague, DAY, Demo, DemoPayout, Details, HOUR, MINUTE, REFUSALS, loans::pick};
use crate::{loans::PendingLoan, mobile_money::Refusal, payouts::PayoutRefusal};
use base::{
    clock::UnixMillis,
    email::Email,
    error::Failure,
    ids::{LoanId, PayoutId},
};
use store::{Connection, Database, query_as, query_scalar};

/// Loans per transaction: other writers wait no longer than one batch takes.
const BATCH: u32 = 500;

/// The maximum number of attempts for a batch with receipts that exist already.
const TRIES: u64 = 5;

const STAFF: &str = "
    SELECT staff_id, first_name, last_name, email, role FROM staff WHERE is_active ORDER BY created_at, staff_id";

/// Demo customers and loans are numbered; this selects the last number. A loan of an existing customer has a
/// number of its own. Other ids may start with the same prefix.
const LAST_NUMBER: &str = "
    SELECT COALESCE(max(CASE WHEN ltrim(digits, '0123456789') = '' THEN CAST(digits AS BIGINT) END), 0)
    FROM (SELECT substr(customer_id, 5) AS digits FROM customer WHERE customer_id LIKE 'CUS-%'
          UNION ALL
          SELECT substr(loan_id, 9) AS digits FROM loan WHERE loan_id LIKE 'LN-____-%') AS numbers
    WHERE length(digits) BETWEEN 1 AND 9";

/// Adds waiting `loans`, and `records` of payouts from the last year, deterministic for `seed` on the
/// same data. After each batch, calls `progress` with the number added. Fails if no account is active.
pub async fn seed(
    database: &Database,
    now: UnixMillis,
    seed: u64,
    loans: u32,
    records: u32,
    mut progress: impl FnMut(u32),
) -> anyhow::Result<()> {
    let mut generator = Generator::read(&mut database.read().await?, now, seed).await?;
    anyhow::ensure!(
        !generator.staff.is_empty(),
        "no account is active, so nobody can approve or pay loans; add one with `mkopo user add`, or \
         start once with MKOPO_DEMO=true"
    );
    let batches = [(records, Kind::Records), (loans, Kind::Loans)];
    for (mut left, kind) in batches {
        while left > 0 {
            let batch = left.min(BATCH);
            generator.last_number = write(database, &generator, batch, kind).await?;
            left -= batch;
            progress(batch);
        }
    }
    database.write_in_turn(async |connection: &mut Connection| Ok(connection.analyze().await?)).await?;
    Ok(())
}

const LOANS: &str = "SELECT count(*) FROM loan";

/// Draws `count` approved loans, with approvers from the current staff, to be added. The same data at the same time
/// gets the same loans.
pub async fn draw_loans(
    connection: &mut Connection,
    now: UnixMillis,
    count: u32,
) -> Result<Vec<PendingLoan>, Failure> {
    let loans: i64 = query_scalar(LOANS).fetch_one(&mut *connection).await?;
    let mut demo = Generator::read(connection, now, loans.unsigned_abs()).await?.demo(0);
    Ok((0..count).map(|_| demo.draw(now, Details::default())).collect())
}

#[derive(Clone, Debug)]
pub struct PastPayout {
    pub created_at: UnixMillis,
    /// The id of the approved loan; a loan is generated if `None`.
    pub loan_id: Option<LoanId>,
    /// The user who paid the loan out; any active account if `None`.
    pub email: Option<Email>,
    /// The reason why it failed; `None` if it was paid.
    pub refusal: Option<Refusal>,
}

const APPROVED_LOAN: &str = "
    SELECT loan.loan_id, customer.phone_number, loan.amount
    FROM loan JOIN customer ON customer.customer_id = loan.customer_id
    WHERE loan.loan_id = $1 AND loan.status = 'APPROVED' AND loan.approved_at <= $2
      AND NOT EXISTS (SELECT 1 FROM payout WHERE payout.loan_id = loan.loan_id AND payout.status = 'PENDING')";

const COUNT_LOANS: &str = "SELECT count(*) FROM loan WHERE loan_id = $1";

/// Adds a payout of the past, with its payment in mobile money's books, and returns its id.
pub async fn pay_in_the_past(
    connection: &mut Connection,
    now: UnixMillis,
    seed: u64,
    payout: PastPayout,
) -> Result<PayoutId, Failure> {
    let PastPayout { created_at, loan_id, email, refusal } = payout;
    let mut generator = Generator::read(connection, now, seed).await?;
    if let Some(email) = &email {
        generator.staff.retain(|staff| staff.email == email.as_str());
    }
    if generator.staff.is_empty() {
        return Err(Failure::bad_field("user_email", "user_email must be that of an active account"));
    }
    let mut demo = generator.demo(0);
    let loan = match loan_id {
        None => demo.approve(connection, created_at.minus(DAY), Details::default()).await?,
        Some(loan_id) => {
            let found: i64 = query_scalar(COUNT_LOANS).bind(&loan_id).fetch_one(&mut *connection).await?;
            if found == 0 {
                return Err(PayoutRefusal::LoanNotFound(loan_id).into());
            }
            let loan = query_as(APPROVED_LOAN).bind(loan_id).bind(created_at);
            loan.fetch_optional(&mut *connection).await?.ok_or(PayoutRefusal::NotApproved)?
        }
    };
    let outcome = refusal.map_or(DemoPayout::Completed, DemoPayout::Refused);
    demo.pay(connection, &loan, created_at, outcome).await
}

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
    async fn read(connection: &mut Connection, now: UnixMillis, seed: u64) -> Result<Self, Failure> {
        let staff: Vec<Colleague> = query_as(STAFF).fetch_all(&mut *connection).await?;
        let last_number: i64 = query_scalar(LAST_NUMBER).fetch_one(connection).await?;
        let last_number = u32::try_from(last_number).map_err(Failure::internal)?;
        Ok(Self { seed, now, staff, last_number })
    }

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
            .write_alone(async move |connection: &mut Connection| {
                let mut demo = generator.demo(tries);
                match kind {
                    Kind::Records => demo.records(connection, batch).await?,
                    Kind::Loans => demo.loans(connection, batch).await?,
                }
                Ok(demo.loans_made)
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
            let mut chances = self.next_times();
            let paid_at = self.random_time_in(365, &mut chances);
            let loan = self.approve(db, paid_at.minus(DAY), Details::default()).await?;
            if chances.random_bool(0.125) && made + 1 < records {
                let refusal = DemoPayout::Refused(pick(&mut chances, &REFUSALS));
                self.pay(db, &loan, paid_at.minus(2 * HOUR), refusal).await?;
                made += 1;
            }
            self.pay(db, &loan, paid_at, DemoPayout::Completed).await?;
            made += 1;
        }
        Ok(())
    }

    async fn loans(&mut self, db: &mut Connection, loans: u32) -> Result<(), Failure> {
        for _ in 0..loans {
            let approved_at = self.random_time_in(30, &mut self.next_times());
            self.approve(db, approved_at, Details::default()).await?;
        }
        Ok(())
    }

    /// A random minute of the last `days`.
    fn random_time_in(&self, days: u32, chances: &mut ChaCha12Rng) -> UnixMillis {
        self.now.minus(MINUTE * chances.random_range(1..days * 24 * 60))
    }
}
