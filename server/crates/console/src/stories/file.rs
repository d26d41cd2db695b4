//! The file of a story: what it may have, and how it is checked.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::SecretString;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    clock::{Change, ClockChange},
    loans::GivenLoan,
    staff::AccountToOpen,
};
use ::slices::SliceName;
use base::{clock::UnixMillis, email::Email, error::Failure, ids::LoanId, phone::Msisdn};
use lending::{
    auth::Role,
    demo::{self, DemoData},
    mobile_money::ScenarioChange,
    payouts::PayoutStatus,
    rules::NewPortalRules,
};
use settings::Screens;
use worlds::faults::NewFault;

use super::scalar::{Checked, Given, Scalar, Whole, at_most};

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 64 * 1024;
const MAX_LOANS: usize = 1000;
const MAX_OTHERS: usize = 100;

/// A story.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the fields of a story")]
pub struct Story {
    /// Its title.
    pub title: Line,
    /// Its description.
    pub text: Option<String>,
    /// The demo data; that of the first seed if `None`.
    pub seed: Option<Seed>,
    /// The time at which it begins.
    #[serde(default)]
    pub clock: Beginning,
    /// The screens; those of the deployment if `None`.
    pub screens: Option<Screens>,
    /// Accounts besides the demo accounts. Their password is the demo accounts'.
    #[serde(default, deserialize_with = "at_most::<MAX_OTHERS, _, _>")]
    pub staff: Vec<Colleague>,
    /// Loans besides those of the demo data.
    #[serde(default, deserialize_with = "at_most::<MAX_LOANS, _, _>")]
    pub loans: Vec<Loan>,
    /// The outcomes of payouts.
    pub scenario: Option<Scenario>,
    /// Faults.
    #[serde(default, deserialize_with = "at_most::<MAX_OTHERS, _, _>")]
    pub faults: Vec<Fault>,
    /// The settings of the portal that administrators change on live screens.
    pub settings: Option<PortalSettings>,
    /// The builds that are live in the sandbox only, by slice. They are published already, and held.
    #[serde(default)]
    pub slices: BTreeMap<Slice, Version>,
    /// Slices whose screens throw an error when they are drawn.
    #[serde(default)]
    pub breaks: BTreeSet<Slice>,
    /// The steps, in order.
    #[serde(deserialize_with = "at_most::<MAX_OTHERS, _, _>")]
    pub steps: Vec<Step>,
}

/// The time at which a story begins.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beginning {
    /// The time; the real time if `None`.
    pub now: Option<Time>,
    /// `true` if the clock is stopped at that time.
    #[serde(default)]
    pub frozen: bool,
}

/// A step of a story. It is done once its act is done and what it expects is so; a step with neither is done as soon
/// as the one before it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the fields of a step")]
pub struct Step {
    /// The sentence for the presenter.
    pub say: Line,
    /// An act of the console in this step, done when the presenter or the test goes on.
    pub act: Option<Act>,
    /// The conditions at the end of the step, all of which must hold.
    pub expect: Option<Expect>,
}

/// An act of the console.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ActFields")]
pub enum Act {
    /// Sets the clock.
    Clock(Change),
    /// Changes the outcomes of payouts.
    Scenario(ScenarioChange),
    /// Adds a fault.
    Fault(NewFault),
    /// Removes all faults.
    EndFaults,
    /// Approves a loan.
    Loan(Box<GivenLoan>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActFields {
    clock: Option<ClockChange>,
    scenario: Option<Scenario>,
    fault: Option<Fault>,
    #[serde(default)]
    end_faults: bool,
    loan: Option<Box<Loan>>,
}

impl TryFrom<ActFields> for Act {
    type Error = Failure;

    fn try_from(fields: ActFields) -> Result<Self, Failure> {
        let ActFields { clock, scenario, fault, end_faults, loan } = fields;
        let clock = clock.map(ClockChange::checked).transpose()?.map(Self::Clock);
        let scenario = scenario.map(|scenario| Self::Scenario(scenario.0));
        let fault = fault.map(|fault| Self::Fault(fault.0));
        let end_faults = end_faults.then_some(Self::EndFaults);
        let loan = loan.map(|loan| Self::Loan(Box::new(loan.0)));
        let mut given = [clock, scenario, fault, end_faults, loan].into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(Self::Clock(Change { now: None, advance: None, frozen: None })), None) => {
                Err(bad("clock must have at least one of now, advance and frozen"))
            }
            (Some(act), None) => Ok(act),
            _ => Err(bad("act must have one of clock, scenario, fault, end_faults: true, and loan")),
        }
    }
}

/// The conditions at the end of a step, all of which must hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ExpectFields")]
pub struct Expect {
    /// The latest record of a loan.
    pub record: Option<ExpectedRecord>,
    /// A message that was sent.
    pub message: Option<ExpectedMessage>,
    /// The e-mail address of somebody who is signed in.
    pub session: Option<Email>,
    /// `true` if every shilling must be accounted for.
    pub books: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectFields {
    record: Option<ExpectedRecord>,
    message: Option<ExpectedMessage>,
    session: Option<String>,
    #[serde(default)]
    books: bool,
}

/// The latest record of a loan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRecord {
    /// The loan, one of the story's.
    pub loan: LoanId,
    /// Its status.
    pub status: PayoutStatus,
}

/// Messages in the outbox.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedMessage {
    /// The phone number or the e-mail address.
    pub to: String,
    /// The number of messages; `None` for any number above 0.
    pub times: Option<u32>,
}

impl TryFrom<ExpectFields> for Expect {
    type Error = Failure;

    fn try_from(fields: ExpectFields) -> Result<Self, Failure> {
        let ExpectFields { record, message, session, books } = fields;
        if record.is_none() && message.is_none() && session.is_none() && !books {
            return Err(bad("expect must have at least one of record, message, session, and books: true"));
        }
        let wrong = || bad("session must be the e-mail address of an account");
        let session = session.map(|email| Email::parse(&email).ok_or_else(wrong)).transpose()?;
        Ok(Self { record, message, session, books })
    }
}

/// A line of text, with 1 to 300 characters.
pub type Line = Checked<String>;

impl Scalar for String {
    fn read(text: &str) -> Result<Self, Failure> {
        let is_line =
            (1..=300).contains(&text.chars().count()) && !text.trim().is_empty() && !text.contains('\n');
        let wrong = || bad("title and say must be a line of 1 to 300 characters");
        if is_line { Ok(text.to_owned()) } else { Err(wrong()) }
    }
}

/// The seed of the demo data.
pub type Seed = Checked<DemoData>;

impl Scalar for DemoData {
    fn read(text: &str) -> Result<Self, Failure> {
        Self::of_json(Some(&Self::seed_of_text(text)))?.ok_or_else(|| bad("seed must not be empty"))
    }
}

/// A time that a clock can be set to.
pub type Time = Checked<UnixMillis>;

impl Scalar for UnixMillis {
    fn read(text: &str) -> Result<Self, Failure> {
        Self::settable(text)
    }
}

/// The name of a slice.
pub type Slice = Checked<SliceName>;

impl Scalar for SliceName {
    fn read(text: &str) -> Result<Self, Failure> {
        Self::from_request(text)
    }
}

/// A loan, checked as the console checks it.
pub type Loan = Given<GivenLoan>;

impl Whole for GivenLoan {
    type Fields = Self;

    fn of(loan: Self) -> Result<Self, Failure> {
        loan.check(1)?;
        Ok(loan)
    }
}

/// Outcomes of payouts, checked as the console checks them.
pub type Scenario = Given<ScenarioChange>;

impl Whole for ScenarioChange {
    type Fields = Self;

    fn of(change: Self) -> Result<Self, Failure> {
        change.check()?;
        Ok(change)
    }
}

/// A fault, checked as the console checks it.
pub type Fault = Given<NewFault>;

impl Whole for NewFault {
    type Fields = Self;

    fn of(fault: Self) -> Result<Self, Failure> {
        fault.check()?;
        Ok(fault)
    }
}

/// The settings, as far as no deployment sets their limits.
pub type PortalSettings = Given<NewPortalRules>;

impl Whole for NewPortalRules {
    type Fields = Self;

    fn of(settings: Self) -> Result<Self, Failure> {
        settings.check_payouts()?;
        Ok(settings)
    }
}

/// An account, checked as the console checks it.
pub type Colleague = Given<AccountToOpen>;

/// The fields of an account.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColleagueFields {
    email: String,
    username: Option<String>,
    first_name: String,
    last_name: String,
    phone_number: String,
    role: Role,
}

impl Whole for AccountToOpen {
    type Fields = ColleagueFields;

    fn of(fields: ColleagueFields) -> Result<Self, Failure> {
        let ColleagueFields { email, username, first_name, last_name, phone_number, role } = fields;
        let password = SecretString::from(demo::PASSWORD);
        let account = Self { email, username, first_name, last_name, phone_number, role, password };
        account.clone().checked()?;
        Ok(account)
    }
}

fn bad(text: &str) -> Failure {
    Failure::BadValue(text.to_owned())
}

/// A file that is not a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{file}{}: {reason}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct BadFile {
    /// The name of the file.
    pub file: String,
    /// The line, from 1; `None` if it is about the file as a whole.
    pub line: Option<usize>,
    /// The reason, as a sentence.
    pub reason: String,
}

impl Story {
    /// Reads the `text` of `file`, and checks it.
    ///
    /// # Errors
    /// The line, and the reason as a sentence.
    pub fn read(file: &str, text: &str) -> Result<Self, BadFile> {
        let story = Self::parse(file, text)?;
        let checked = story.check(text);
        checked.map_err(|(line, reason)| BadFile { file: file.to_owned(), line, reason })?;
        Ok(story)
    }

    /// Reads the `text` of `file`, which [`Self::read`] has accepted before.
    ///
    /// # Errors
    /// The line, and the reason as a sentence.
    pub fn parse(file: &str, text: &str) -> Result<Self, BadFile> {
        let bad = |line, reason: String| BadFile { file: file.to_owned(), line, reason };
        if text.len() > MAX_BYTES {
            return Err(bad(None, format!("A story has at most {} KiB.", MAX_BYTES / 1024)));
        }
        // Editors of Windows write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        yaml_serde::from_str(text).map_err(|error| {
            let line = error.location().map(|at| at.line());
            bad(line, without_place(&error.to_string()))
        })
    }

    /// Checks what more than one part of the file says.
    fn check(&self, text: &str) -> Result<(), (Option<usize>, String)> {
        if self.steps.is_empty() {
            return Err((line_of(text, "steps", "[]", 0), "A story has at least one step.".to_owned()));
        }
        let mut loans = BTreeSet::new();
        let later = self.steps.iter().filter_map(|step| match &step.act {
            Some(Act::Loan(loan)) => Some(&**loan),
            _ => None,
        });
        for loan in self.loans.iter().map(|loan| &loan.0).chain(later) {
            let Some(id) = &loan.loan_id else { continue };
            if !loans.insert(id.as_str()) {
                let reason = format!("The loan {} is there twice.", id.as_str());
                return Err((line_of(text, "loan_id", id, 1), reason));
            }
        }
        let mut staff = demo::emails();
        for (index, Given(account)) in self.staff.iter().enumerate() {
            if !staff.insert(account.email.to_lowercase()) {
                let is_twice = self.staff[..index]
                    .iter()
                    .any(|Given(other)| other.email.eq_ignore_ascii_case(&account.email));
                let reason = if is_twice { "is there twice" } else { "is a demo account already" };
                let line = line_of(text, "email", &account.email, usize::from(is_twice));
                return Err((line, format!("The account {} {reason}.", account.email)));
            }
        }
        for expect in self.steps.iter().filter_map(|step| step.expect.as_ref()) {
            expect.check(text, &loans, &staff)?;
        }
        Ok(())
    }
}

impl Expect {
    /// Checks that it can be so: `loans` and `staff` are all that the story has.
    fn check(
        &self,
        text: &str,
        loans: &BTreeSet<&str>,
        staff: &BTreeSet<String>,
    ) -> Result<(), (Option<usize>, String)> {
        if let Some(ExpectedRecord { loan, .. }) = &self.record
            && !loans.contains(loan.as_str())
        {
            let reason = format!("No loan of the story has the loan_id {}.", loan.as_str());
            return Err((line_of(text, "loan", loan, 0), reason));
        }
        if let Some(ExpectedMessage { to, .. }) = &self.message
            && Msisdn::parse(to).is_none()
            && Email::parse(to).is_none()
        {
            let reason = format!("{to} is neither a Kenyan mobile number nor an e-mail address.");
            return Err((line_of(text, "to", to, 0), reason));
        }
        if let Some(email) = &self.session
            && !staff.contains(email.as_str())
        {
            let reason = format!("{email} is neither a demo account nor one of the story's staff.");
            return Err((line_of(text, "session", email.as_str(), 0), reason));
        }
        Ok(())
    }
}

/// The line of the `text`, from 1, on which `field` has this `value`, after `before` others.
fn line_of(text: &str, field: &str, value: &str, before: usize) -> Option<usize> {
    let field = format!("{field}:");
    let lines = text.lines().zip(1..).flat_map(|(line, number)| {
        let values = line.replace(['"', '\''], "");
        let is_it = |rest: &&str| {
            let given = rest.trim_start().split([',', '}', ' ']).next();
            given.is_some_and(|given| given.eq_ignore_ascii_case(value))
        };
        let times = values.split(&field).skip(1).filter(is_it).count();
        std::iter::repeat_n(number, times)
    });
    lines.into_iter().nth(before)
}

/// The message of an error of YAML without the place at its end, which stands before it.
fn without_place(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].to_owned()
}
