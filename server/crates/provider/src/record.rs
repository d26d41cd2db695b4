//! Records both lists of a provider, with made-up people and numbers in place of the real ones.

use std::collections::HashSet;

use anyhow::{Context, ensure};
use axum::http::StatusCode;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::{
    caller::{Call, Caller},
    check::Credentials,
    made_up::{MadeUp, ValueKind},
};
use base::clock::UnixMillis;
use lending::demo::Recording;

/// The treatment of a field.
#[derive(Clone, Copy)]
enum Field {
    /// Replaced by something made up.
    Replaced(ValueKind),
    /// Kept, because it says nothing about a person.
    Number,
    /// Kept if it is one word, such as `ACTIVE`.
    Word,
    /// An amount in KES, which can be jittered.
    Amount,
    /// A time, which can be jittered.
    Time,
    /// A reason for a failure, replaced by a text of ours.
    Reason,
}

const fn id(noun: &'static str) -> Field {
    Field::Replaced(ValueKind::Id(noun))
}

const NAME: Field = Field::Replaced(ValueKind::Name);
const PHONE: Field = Field::Replaced(ValueKind::Phone);
const EMAIL: Field = Field::Replaced(ValueKind::Email);

/// The fields that are recorded. Others, such as notes, may contain anything and are left out.
const FIELDS: [(&str, Field); 39] = [
    ("account_number", id("account number")),
    ("account_status", Field::Word),
    ("amount", Field::Amount),
    ("approved_at", Field::Time),
    ("approver_email", EMAIL),
    ("approver_id", id("staff")),
    ("approver_name", NAME),
    ("created_at", Field::Time),
    ("credit_score", Field::Number),
    ("customer_account_id", id("account")),
    ("customer_first_name", NAME),
    ("customer_gender", Field::Word),
    ("customer_id", id("customer")),
    ("customer_id_number", id("national id")),
    ("customer_last_name", NAME),
    ("customer_nickname", NAME),
    ("customer_phone_number", PHONE),
    ("customer_status", Field::Word),
    ("disbursement_status", Field::Word),
    ("error_message", Field::Reason),
    ("id", id("payout")),
    ("interest_rate", Field::Number),
    ("loan_created_at", Field::Time),
    ("loan_id", id("loan")),
    ("loan_status", Field::Word),
    ("loan_updated_at", Field::Time),
    ("mpesa_ref", id("receipt")),
    ("phone", PHONE),
    ("processed_at", Field::Time),
    ("remaining_balance", Field::Amount),
    ("risk_level", Field::Word),
    ("status", Field::Word),
    ("term", Field::Number),
    ("total_loan_amount", Field::Amount),
    ("transaction_id", id("transaction")),
    ("user_email", EMAIL),
    ("user_first_name", NAME),
    ("user_id", id("staff")),
    ("user_last_name", NAME),
];

/// The maximum time by which times are moved back, in minutes.
const MAX_MINUTES: u32 = 7 * 24 * 60;

/// Records both lists of the provider of `caller`. `key` is random, and is not kept. With `is_jittered`,
/// amounts and times are changed by up to a tenth and a week, those of one loan alike.
pub async fn record(
    caller: &Caller,
    credentials: Credentials,
    key: &[u8; 32],
    is_jittered: bool,
) -> anyhow::Result<Recording> {
    let token = caller.sign_in(&credentials.email, &credentials.password).await?;
    let lists = async {
        let pending = list(caller, "/disbursements/pending", &token).await?;
        let records = list(caller, "/disbursement-records", &token).await?;
        anyhow::Ok((pending, records))
    };
    let lists = lists.await;
    _ = caller.call(&Caller::logout().with_token(&token)).await;
    let (pending, records) = lists?;
    let mut originals = HashSet::new();
    pending.iter().chain(&records).for_each(|row| collect(row, &mut originals));
    let mut made_up = MadeUp::new(key, originals);
    let mut replace = |rows: Vec<Value>| -> Value {
        rows.iter().map(|row| replaced(&mut made_up, row, is_jittered)).collect()
    };
    let recording = json!({"pending_loans": replace(pending), "disbursement_records": replace(records)});
    serde_json::from_value(recording).context(
        "the provider's lists are not those of the contract; `mkopo provider check` says what differs",
    )
}

async fn list(caller: &Caller, path: &str, token: &SecretString) -> anyhow::Result<Vec<Value>> {
    let answer = caller.call(&Call::get(path).with_token(token)).await?;
    ensure!(answer.status == StatusCode::OK, "the provider answered {} to {path}", answer.status.as_u16());
    answer
        .json()
        .as_array()
        .cloned()
        .with_context(|| format!("the provider's answer to {path} is not a list"))
}

/// The texts in a row, whole and word by word.
fn collect(row: &Value, originals: &mut HashSet<String>) {
    for text in row.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_str) {
        originals.insert(text.to_owned());
        originals.extend(text.split_whitespace().map(str::to_owned));
    }
}

fn replaced(made_up: &mut MadeUp, row: &Value, is_jittered: bool) -> Value {
    // All values of one loan are jittered alike.
    let loan = row["loan_id"].as_str().unwrap_or_default().to_owned();
    let mut fields = Map::new();
    for (name, field) in FIELDS {
        let Some(value) = row.get(name) else { continue };
        let value = match (field, value) {
            (_, Value::Null) => Value::Null,
            (Field::Replaced(kind), Value::String(text)) => json!(made_up.of(kind, text)),
            (Field::Word, Value::String(text)) => json!(word(text)),
            (Field::Reason, Value::String(_)) => json!("The payment failed."),
            (Field::Amount, value) if is_jittered => jittered_amount(made_up, &loan, value),
            (Field::Time, Value::String(text)) if is_jittered => jittered_time(made_up, &loan, text),
            (Field::Number | Field::Amount, Value::Number(_)) => value.clone(),
            (Field::Time, Value::String(text)) => {
                text.parse().map_or(Value::Null, |at: UnixMillis| json!(at))
            }
            // A value of another type than the contract's may contain anything.
            _ => Value::Null,
        };
        fields.insert(name.to_owned(), value);
    }
    Value::Object(fields)
}

fn word(text: &str) -> &str {
    let is_word = text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if is_word { text } else { "OTHER" }
}

/// Returns the amount multiplied by 0.9 to 1.1.
fn jittered_amount(made_up: &MadeUp, loan: &str, amount: &Value) -> Value {
    let thousandths = 900 + i64::from(made_up.number("the amounts of a loan", loan, 200));
    amount
        .as_i64()
        .map_or(Value::Null, |amount| json!((amount.saturating_mul(thousandths) + 500).div_euclid(1000)))
}

fn jittered_time(made_up: &MadeUp, loan: &str, time: &str) -> Value {
    let minutes = u64::from(made_up.number("the times of a loan", loan, MAX_MINUTES));
    let time = time.parse::<UnixMillis>();
    time.map_or(Value::Null, |time| json!(time.minus(std::time::Duration::from_mins(minutes))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, fields_of};

    #[test]
    fn each_field_of_the_lists_is_recorded_or_left_out() {
        const LEFT_OUT: [&str; 2] = ["notes", "purpose"];
        assert_same(
            FIELDS.into_iter().map(|(name, _)| name).chain(LEFT_OUT),
            &fields_of(&["PendingLoan", "DisbursementRecord"]),
            "Add a field to FIELDS with what becomes of it in a recording, or, if it may say anything, to LEFT_OUT \
             of this test.",
        );
    }

    #[test]
    fn jitter_makes_no_debt_out_of_none() {
        let made_up = MadeUp::new(&[7; 32], HashSet::new());
        let jittered = |amount: i64| jittered_amount(&made_up, "a", &json!(amount)).as_i64().unwrap();
        assert_eq!(jittered(0), 0);
        assert_eq!(jittered(-10_000), -jittered(10_000));
        assert!((9_000..=11_000).contains(&jittered(10_000)));
    }
}
