//! Realistic Kenyan demo data, deterministic for a seed, with dates relative to the clock.

mod loans;
mod names;
mod recorded;
mod seed;

pub use recorded::Recording;
pub use seed::{PastPayout, draw_loans, pay_in_the_past, seed};

use std::{collections::BTreeSet, fmt, time::Duration};

use futures::future::try_join_all;
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};

use crate::{
    auth::{Auth, Role, accounts::ADD_STAFF, password::Passwords},
    mobile_money::Refusal,
};
use base::{
    clock::UnixMillis,
    error::Failure,
    ids::{LoanId, StaffId},
    kes::Kes,
    randomness::Randomness,
};
use store::{Connection, query, query_scalar};

/// The password of every demo account. They exist in demo mode only.
pub const PASSWORD: &str = "Mkopo-demo-1";

pub const FIRST_SEED: u64 = 1;

struct DemoStaff {
    email: &'static str,
    first_name: &'static str,
    last_name: &'static str,
    phone_number: &'static str,
    role: Role,
    is_active: bool,
}

const fn staff(
    email: &'static str,
    first_name: &'static str,
    last_name: &'static str,
    phone_number: &'static str,
    role: Role,
) -> DemoStaff {
    DemoStaff { email, first_name, last_name, phone_number, role, is_active: true }
}

const STAFF: [DemoStaff; 4] = [
    staff("admin@mkopo.test", "Achieng", "Otieno", "+254711000001", Role::Admin),
    staff("supervisor@mkopo.test", "Peter", "Njoroge", "+254711000002", Role::Supervisor),
    staff("agent@mkopo.test", "Wanjiru", "Maina", "+254711000003", Role::Agent),
    DemoStaff {
        is_active: false,
        ..staff("inactive@mkopo.test", "Juma", "Barasa", "+254711000004", Role::Agent)
    },
];

pub fn emails() -> BTreeSet<String> {
    STAFF.iter().map(|staff| staff.email.to_owned()).collect()
}

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The text that is printed at start in demo mode.
pub fn welcome(address: &str) -> String {
    let mut text = format!("\n  Portal    {address}\n  Password  {PASSWORD}, for each of\n");
    for staff in &STAFF {
        let note = if staff.is_active { "" } else { " (deactivated)" };
        text.extend(["            ", staff.email, note, "\n"]);
    }
    text
}

/// Fills the database with the data of [`FIRST_SEED`], if it has no accounts yet.
pub async fn fill_when_empty(auth: &Auth) -> anyhow::Result<Option<Beginning>> {
    if !is_empty(&mut auth.world.database.read().await?).await? {
        return Ok(None);
    }
    let hashes = hash_passwords(&auth.passwords).await?;
    let now = auth.world.clock.now();
    let world = DemoData::Seeded(FIRST_SEED);
    let is_filled = auth
        .world
        .database
        .write_alone(async move |connection: &mut Connection| {
            // Several servers may start at once, but only one may fill the database.
            let is_first = is_empty(connection).await?;
            if is_first {
                fill(connection, world, now, hashes).await?;
            }
            Ok(is_first)
        })
        .await?;
    Ok(is_filled.then_some(Beginning { world, now, is_frozen: false }))
}

const COUNT_STAFF: &str = "SELECT count(*) FROM staff";

async fn is_empty(connection: &mut Connection) -> Result<bool, Failure> {
    let staff: i64 = query_scalar(COUNT_STAFF).fetch_one(connection).await?;
    Ok(staff == 0)
}

/// The hash of the password, for each account.
pub type Hashes = Vec<String>;

/// Hashes the password for each account, which takes too long for a transaction.
pub async fn hash_passwords(passwords: &Passwords) -> Result<Hashes, Failure> {
    try_join_all(STAFF.iter().map(|_| passwords.hash_for_demo(PASSWORD.into()))).await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoData {
    /// 24 waiting loans and 60 records, deterministic for a seed.
    Seeded(u64),
    /// The demo accounts, without loans and records.
    Empty,
    /// No data, and no accounts.
    Nothing,
}

impl fmt::Display for DemoData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seeded(seed) => seed.fmt(f),
            Self::Empty => f.write_str("empty"),
            Self::Nothing => f.write_str("none"),
        }
    }
}

impl DemoData {
    /// The seed in a form or a file, as [`Self::of_json`] takes it.
    pub fn seed_of_text(text: &str) -> Value {
        text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number))
    }

    /// Parses the demo data that a caller asks for: a number, or `empty`; `None` for null.
    pub fn of_json(seed: Option<&Value>) -> Result<Option<Self>, Failure> {
        let Some(seed) = seed.filter(|seed| !seed.is_null()) else { return Ok(None) };
        let number = seed.as_u64().and_then(|number| u32::try_from(number).ok());
        match number {
            Some(number) => Ok(Some(Self::Seeded(number.into()))),
            None if *seed == "empty" => Ok(Some(Self::Empty)),
            None => {
                let text = "seed must be a whole number from 0 to 4294967295, or `empty`";
                Err(Failure::bad_field("seed", text))
            }
        }
    }
}

/// The start of a sandbox.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    pub world: DemoData,
    /// The time that the dates of the data are relative to.
    pub now: UnixMillis,
    /// `true` if the clock was stopped at that time.
    pub is_frozen: bool,
}

/// Adds the demo accounts, and the loans and records of `world`, with dates before `now`.
pub async fn fill(
    connection: &mut Connection,
    world: DemoData,
    now: UnixMillis,
    hashes: Hashes,
) -> Result<(), Failure> {
    let seed = match world {
        DemoData::Seeded(seed) => seed,
        DemoData::Empty => FIRST_SEED,
        DemoData::Nothing => return Ok(()),
    };
    let mut demo = Demo::new(seed, now);
    for (staff, hash) in STAFF.iter().zip(hashes) {
        let colleague = demo.add_staff(connection, staff, &hash).await?;
        demo.assign(colleague, staff.is_active);
    }
    if world == DemoData::Empty {
        return Ok(());
    }
    demo.history(connection).await?;
    demo.waiting(connection).await
}

/// A noun whose rows have chances of their own.
#[derive(Clone, Copy)]
enum Noun {
    Customer,
    Loan,
    Time,
    Payout,
}

/// Generates demo data from one seed.
struct Demo {
    seed: u64,
    ids: Randomness,
    now: UnixMillis,
    /// The staff who approve loans; some loans have no known approver.
    approvers: Vec<Colleague>,
    payers: Vec<Colleague>,
    loans_made: u32,
    payouts_made: u32,
}

#[derive(Clone, sqlx_macros::FromRow)]
struct Colleague {
    staff_id: StaffId,
    first_name: String,
    last_name: String,
    email: String,
    role: Role,
}

/// The details of a loan that are not generated.
#[derive(Clone, Copy, Default)]
struct Details {
    amount: Option<Kes>,
    phone_number: Option<&'static str>,
    notes: Option<&'static str>,
}

const fn of_amount(amount: i64) -> Details {
    Details { amount: Some(Kes(amount)), phone_number: None, notes: None }
}

/// A loan whose customer has a magic number.
const fn magic(phone_number: &'static str, notes: &'static str) -> Details {
    Details { amount: None, phone_number: Some(phone_number), notes: Some(notes) }
}

const ABOVE_MAXIMUM: &str =
    "Demo: mobile money refuses this payment, which is above its maximum of KES 250,000.";

/// The waiting loans of which not everything is generated, by their index.
const WAITING: [(u32, Details); 8] = [
    (0, of_amount(25_000)),
    (1, of_amount(75_000)),
    (2, magic("+254700002040", "Demo: mobile money refuses this payment.")),
    (4, magic("+254700009003", "Demo: the result takes 12 seconds.")),
    (5, magic("+254700009001", "Demo: paid, but the answer is lost; it settles by itself.")),
    (10, magic("+254700009002", "Demo: the request is lost; it fails by itself and can be tried again.")),
    (13, magic("+254700000001", "Demo: the float is too low.")),
    (22, Details { amount: Some(Kes(300_000)), phone_number: None, notes: Some(ABOVE_MAXIMUM) }),
];

#[derive(Clone, Copy)]
enum DemoPayout {
    Completed,
    Refused(Refusal),
    /// Mobile money is processing it, and reports the result a day after the start.
    Processing,
}

const REFUSALS: [Refusal; 3] =
    [Refusal::InsufficientFunds, Refusal::UnregisteredCustomer, Refusal::MaximumBalance];

/// The time that mobile money took to answer.
pub const ANSWERED_AFTER: Duration = Duration::from_secs(2);

/// A loan, with the fields that its payouts need.
#[derive(sqlx_macros::FromRow)]
struct DemoLoan {
    loan_id: LoanId,
    phone_number: String,
    amount: Kes,
}

impl Demo {
    fn new(seed: u64, now: UnixMillis) -> Self {
        Self {
            seed,
            ids: Randomness::seeded(seed),
            now,
            approvers: Vec::new(),
            payers: Vec::new(),
            loans_made: 0,
            payouts_made: 0,
        }
    }

    /// The chances of the row with this number. They are those of no other row, so that one more draw changes nothing
    /// else.
    fn chances_of(&self, noun: Noun, number: u32) -> ChaCha12Rng {
        let mut chances = ChaCha12Rng::seed_from_u64(self.seed);
        chances.set_stream((noun as u64) << 32 | u64::from(number));
        chances
    }

    /// The chances of the times of the next loan.
    fn next_times(&self) -> ChaCha12Rng {
        self.chances_of(Noun::Time, self.loans_made + 1)
    }

    /// Lets `colleague` approve or pay the loans that are generated from now on.
    fn assign(&mut self, colleague: Colleague, is_active: bool) {
        if !is_active {
            return;
        }
        if colleague.role != Role::Agent {
            self.approvers.push(colleague.clone());
        }
        if colleague.role != Role::Supervisor {
            self.payers.push(colleague);
        }
    }

    async fn add_staff(
        &mut self,
        db: &mut Connection,
        staff: &DemoStaff,
        hash: &str,
    ) -> Result<Colleague, Failure> {
        let created_at = self.now.minus(400 * DAY);
        let staff_id: StaffId = self.ids.id(created_at);
        query(ADD_STAFF)
            // The first name is the user name, too.
            .bind_all((&staff_id, staff.email, staff.first_name, staff.first_name, staff.last_name))
            .bind_all((staff.phone_number, staff.role, hash, staff.is_active, created_at))
            .execute(db)
            .await?;
        Ok(Colleague {
            staff_id,
            first_name: staff.first_name.to_owned(),
            last_name: staff.last_name.to_owned(),
            email: staff.email.to_owned(),
            role: staff.role,
        })
    }

    /// Adds 56 records of the last 90 days, including today: loans that were paid out, one in eight
    /// on the second try.
    async fn history(&mut self, db: &mut Connection) -> Result<(), Failure> {
        let mut records = 0;
        while records < 56 {
            let back = match records {
                0..3 => HOUR * (records + 1),
                3..12 => HOUR * 12 * (records - 2),
                _ => DAY * (2 * records - 18),
            };
            let paid_at =
                self.now.minus(back.min(90 * DAY)).minus(MINUTE * self.next_times().random_range(0..50));
            let loan = self.approve(db, paid_at.minus(DAY), Details::default()).await?;
            if records % 8 == 5 {
                let refusal = REFUSALS[records as usize % REFUSALS.len()];
                self.pay(db, &loan, paid_at.minus(2 * HOUR), DemoPayout::Refused(refusal)).await?;
                records += 1;
            }
            self.pay(db, &loan, paid_at, DemoPayout::Completed).await?;
            records += 1;
        }
        Ok(())
    }

    /// Adds 24 waiting loans: two have failed before, two are being paid, and five show a problem
    /// when they are paid.
    async fn waiting(&mut self, db: &mut Connection) -> Result<(), Failure> {
        for number in 0..24_u32 {
            let approved_at =
                self.now.minus(HOUR * (2 + 7 * number)).minus(MINUTE * self.next_times().random_range(0..55));
            let details = WAITING.iter().find(|(index, _)| *index == number);
            let details = details.map(|(_, details)| *details).unwrap_or_default();
            let loan = self.approve(db, approved_at, details).await?;
            match number {
                6 => {
                    let refusal = DemoPayout::Refused(Refusal::UnregisteredCustomer);
                    self.pay(db, &loan, self.now.minus(90 * MINUTE), refusal).await?;
                }
                22 => {
                    let refusal = DemoPayout::Refused(Refusal::AboveMaximum);
                    self.pay(db, &loan, self.now.minus(26 * HOUR), refusal).await?;
                }
                8 | 9 => {
                    self.pay(db, &loan, self.now.minus(number * MINUTE), DemoPayout::Processing).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
