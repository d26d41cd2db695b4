//! E-mails and SMS about payouts, to the users who chose them in their preferences.

use serde_json::{Value, json};

use crate::{outbox, preferences::Language};
use base::{
    clock::UnixMillis,
    email::Email,
    ids::{LoanId, StaffId},
    kes::Kes,
    phone::Msisdn,
    randomness::Randomness,
};
use store::{Connection, query_as};

/// A payout that settled after its call was answered.
#[derive(Clone, Copy, Debug)]
pub struct Later<'a> {
    pub staff_id: &'a StaffId,
    pub loan_id: &'a LoanId,
    pub amount: Kes,
    /// The receipt, or the reason why it failed.
    pub outcome: Result<&'a str, &'a str>,
}

/// A user who chose to get such messages.
#[derive(sqlx_macros::FromRow)]
struct Recipient {
    staff_id: StaffId,
    email: Email,
    phone_number: String,
    first_name: String,
    language: Language,
    notify_by_email: bool,
    notify_by_sms: bool,
}

const RECIPIENTS: &str = "
    SELECT staff.staff_id, email, phone_number, first_name, language, notify_by_email, notify_by_sms
    FROM preference JOIN staff ON staff.staff_id = preference.staff_id
    WHERE preference.staff_id IN (SELECT value ->> 'staff_id' FROM json_each($1))
      AND (notify_by_email OR notify_by_sms) AND is_active";

/// Adds messages about `settled` to the outbox, in the transaction that settles them.
pub async fn tell(
    connection: &mut Connection,
    randomness: &Randomness,
    brand: &str,
    now: UnixMillis,
    settled: &[Later<'_>],
) -> Result<(), sqlx::Error> {
    if settled.is_empty() {
        return Ok(());
    }
    let asked: Vec<Value> = settled.iter().map(|payout| json!({ "staff_id": payout.staff_id })).collect();
    let recipients: Vec<Recipient> =
        query_as(RECIPIENTS).bind(Value::from(asked).to_string()).fetch_all(&mut *connection).await?;
    for recipient in &recipients {
        for payout in settled.iter().filter(|payout| *payout.staff_id == recipient.staff_id) {
            if recipient.notify_by_email {
                let (subject, body) = (payout.subject(recipient.language), payout.letter(recipient, brand));
                outbox::email(connection, randomness, now, &recipient.email, &subject, &body, None).await?;
            }
            if recipient.notify_by_sms
                && let Some(phone) = Msisdn::parse(&recipient.phone_number)
            {
                let body = format!("{brand}: {}", payout.sentence(recipient.language));
                outbox::sms(connection, randomness, now, &phone, &body, None).await?;
            }
        }
    }
    Ok(())
}

impl Later<'_> {
    fn subject(&self, language: Language) -> String {
        let result = match (language, self.outcome.is_ok()) {
            (Language::En, true) => "Paid: loan",
            (Language::En, false) => "Not paid: loan",
            (Language::Sw, true) => "Umelipwa: mkopo",
            (Language::Sw, false) => "Haujalipwa: mkopo",
        };
        format!("{result} {}", self.loan_id)
    }

    fn letter(&self, to: &Recipient, brand: &str) -> String {
        let greeting = match to.language {
            Language::En => "Dear",
            Language::Sw => "Habari",
        };
        format!("{greeting} {},\n\n{}\n\n{brand}\n", outbox::name(&to.first_name), self.sentence(to.language))
    }

    fn sentence(&self, language: Language) -> String {
        let Self { loan_id, amount, .. } = self;
        match (language, self.outcome) {
            (Language::En, Ok(receipt)) => {
                format!("Your payout of {amount} for loan {loan_id} was completed. Receipt: {receipt}.")
            }
            (Language::En, Err(reason)) => {
                format!("Your payout of {amount} for loan {loan_id} failed, no money was sent: {reason}")
            }
            (Language::Sw, Ok(receipt)) => {
                format!("Malipo yako ya {amount} ya mkopo {loan_id} yamekamilika. Risiti: {receipt}.")
            }
            (Language::Sw, Err(reason)) => {
                format!(
                    "Malipo yako ya {amount} ya mkopo {loan_id} hayakufaulu, hakuna pesa iliyotumwa: {reason}"
                )
            }
        }
    }
}
