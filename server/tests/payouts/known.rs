//! A test's observations of payouts, which must stay true.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::test_app::Answer;

/// A call to pay a loan out.
#[derive(Clone, Debug)]
pub struct Call {
    /// The loan's id.
    pub loan_id: String,
    pub user: usize,
    pub key: Option<u8>,
}

/// Observations of one store. Data that is put back takes what was observed since with it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The first answer to each user's key, and its loan.
    answered: HashMap<(usize, u8), (String, Vec<u8>)>,
    /// Each settled record as it was first observed.
    settled: BTreeMap<String, Value>,
}

impl Known {
    /// Checks the answer to `call`; `has_keys` if no key can have expired.
    pub fn check_answer(&mut self, call: &Call, answer: &Answer, has_keys: bool) {
        let Call { loan_id, user, key } = call;
        let body = answer.body();
        let code = body["code"].as_str().unwrap_or_default();
        let status = answer.status.as_u16();
        match status {
            200 | 202 => assert_eq!(body["loan_id"], *loan_id),
            409 | 422 => {}
            // The server stopped during the call; the payout shows the result.
            503 => return,
            _ => panic!("{}", answer.status),
        }
        match code {
            "idempotency_key_reused" => {
                let first = self.answered.get(&(*user, key.unwrap())).map(|(loan_id, _)| loan_id);
                assert!(!has_keys || first != Some(loan_id), "the key was used with this loan");
            }
            "idempotency_key_in_use" | "in_progress" => {}
            "" | "already_disbursed" | "mobile_money_refused" => {
                let record = if code.is_empty() { &body } else { &body["record"] };
                if record["status"] != "PENDING" && !answer.is_replay() {
                    self.check_settled(record);
                }
                if let Some(key) = key.filter(|_| has_keys) {
                    let first = self.answered.entry((*user, key));
                    let first = first.or_insert_with(|| (loan_id.clone(), answer.bytes.clone()));
                    assert_eq!(first.0, *loan_id);
                    assert!(first.1 == answer.bytes, "another answer under the same key: {body}");
                }
            }
            _ => panic!("{}", answer.status),
        }
    }

    /// Checks all records: a settled payout never changes and never disappears.
    pub fn check_records(&mut self, records: &[Value], loans: &[Value]) {
        for loan in loans {
            for record in records.iter().filter(|record| record["loan_id"] == loan["loan_id"]) {
                if record["status"] != "PENDING" {
                    self.check_settled(record);
                }
            }
        }
        for known in self.settled.keys() {
            assert!(
                records.iter().any(|record| record["id"] == known.as_str()),
                "a settled payout has disappeared"
            );
        }
    }

    fn check_settled(&mut self, record: &Value) {
        let facts =
            json!([record["loan_id"], record["status"], record["mpesa_ref"], record["error_message"]]);
        let id = record["id"].as_str().unwrap().to_owned();
        let first = self.settled.entry(id).or_insert_with(|| facts.clone());
        assert_eq!(*first, facts);
    }
}
