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

use super::scalar::{Checked, Fields, Given, Scalar, at_most};

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 64 * 1024;
const MAX_LOANS: usize = 1000;
const MAX_OTHERS: usize = 100;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the fields of a story")]
pub struct Story {
    pub title: Line,
    pub text: Option<String>,
    /// The demo data; that of the first seed if `None`.
    pub seed: Option<Seed>,
    #[serde(default)]
    pub clock: Beginning,
    /// The screens; those of the deployment if `None`.
    pub screens: Option<Screens>,
    /// Accounts besides the demo accounts.
    #[serde(default, deserialize_with = "at_most::<MAX_OTHERS, _, _>")]
    pub staff: Vec<Colleague>,
    /// Loans besides those of the demo data.
    #[serde(default, deserialize_with = "at_most::<MAX_LOANS, _, _>")]
    pub loans: Vec<Loan>,
    pub scenario: Option<Scenario>,
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
    #[serde(deserialize_with = "at_most::<MAX_OTHERS, _, _>")]
    pub steps: Vec<Step>,
}

/// The time at which a story begins.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beginning {
    /// The time; the real time if `None`.
    pub now: Option<Time>,
    #[serde(default)]
    pub frozen: bool,
}

/// A step of a story. It is done once its act is done and what it expects is so; a step with neither is done as soon
/// as the one before it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the fields of a step")]
pub struct Step {
    pub say: Line,
    /// An act of the console in this step, done when the presenter or the test goes on.
    pub act: Option<Act>,
    pub expect: Option<Given<Expect>>,
}

/// An act of the console.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ActFields")]
pub enum Act {
    Clock(Change),
    Scenario(ScenarioChange),
    Fault(NewFault),
    EndFaults,
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
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub record: Option<ExpectedRecord>,
    pub message: Option<ExpectedMessage>,
    /// The e-mail address of somebody who is signed in.
    pub session: Option<Checked<Email>>,
    /// `true` if every shilling must be accounted for.
    #[serde(default)]
    pub books: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRecord {
    /// The loan, one of the story's.
    pub loan: LoanId,
    pub status: PayoutStatus,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedMessage {
    /// The phone number or the e-mail address.
    pub to: String,
    /// The number of messages; `None` for any number above 0.
    pub times: Option<u32>,
}

impl Fields for Expect {
    fn check_fields(&self) -> Result<(), Failure> {
        if self.record.is_none() && self.message.is_none() && self.session.is_none() && !self.books {
            return Err(bad("expect must have at least one of record, message, session, and books: true"));
        }
        Ok(())
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

impl Scalar for Email {
    fn read(text: &str) -> Result<Self, Failure> {
        Self::parse(text).ok_or_else(|| bad("session must be the e-mail address of an account"))
    }
}

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

pub type Slice = Checked<SliceName>;

impl Scalar for SliceName {
    fn read(text: &str) -> Result<Self, Failure> {
        Self::from_request(text)
    }
}

pub type Loan = Given<GivenLoan>;

impl Fields for GivenLoan {
    fn check_fields(&self) -> Result<(), Failure> {
        self.check(1)
    }
}

pub type Scenario = Given<ScenarioChange>;

impl Fields for ScenarioChange {
    fn check_fields(&self) -> Result<(), Failure> {
        self.check()
    }
}

pub type Fault = Given<NewFault>;

impl Fields for NewFault {
    fn check_fields(&self) -> Result<(), Failure> {
        self.check()
    }
}

pub type PortalSettings = Given<NewPortalRules>;

impl Fields for NewPortalRules {
    /// As far as no deployment sets the limits.
    fn check_fields(&self) -> Result<(), Failure> {
        self.check_payouts()
    }
}

pub type Colleague = Given<ColleagueFields>;

/// An account, whose password is the demo accounts'.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColleagueFields {
    pub email: String,
    username: Option<String>,
    first_name: String,
    last_name: String,
    phone_number: String,
    role: Role,
}

impl ColleagueFields {
    pub fn account(self) -> AccountToOpen {
        let Self { email, username, first_name, last_name, phone_number, role } = self;
        let password = SecretString::from(demo::PASSWORD);
        AccountToOpen { email, username, first_name, last_name, phone_number, role, password }
    }
}

impl Fields for ColleagueFields {
    fn check_fields(&self) -> Result<(), Failure> {
        self.clone().account().checked().map(|_| ())
    }
}

fn bad(text: &str) -> Failure {
    Failure::BadValue(text.to_owned())
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{file}{}: {reason}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct BadFile {
    pub file: String,
    /// The line, from 1; `None` if it is about the file as a whole.
    pub line: Option<usize>,
    pub reason: String,
}

impl Story {
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
        for Given(expect) in self.steps.iter().filter_map(|step| step.expect.as_ref()) {
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
        if let Some(Checked(email)) = &self.session
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
