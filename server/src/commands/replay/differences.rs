//! What came out otherwise.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::file::Entry;
use crate::clock::UnixMillis;

/// How far apart times may be where the clock ran.
const TOLERANCE_MS: u64 = 60_000;

/// Where an id has its random part, after the time.
const RANDOM_PART: usize = 14;

/// A difference.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    /// The number of the call or act.
    pub number: u64,
    pub call: String,
    /// `status`, `fault`, or a JSON pointer into the body.
    pub place: String,
    pub recorded: Option<Value>,
    pub replayed: Option<Value>,
}

/// What is different in `replayed`.
pub(super) fn between(recorded: &[Entry], replayed: &[Entry]) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut is_exact = true;
    for (index, one) in recorded.iter().enumerate() {
        is_exact &= one.frozen;
        let call = format!("{} {}", one.request.method, one.request.path);
        let mut add = |place: &str, recorded: Option<&Value>, replayed: Option<&Value>| {
            let (call, place) = (call.clone(), place.to_owned());
            let (recorded, replayed) = (recorded.cloned(), replayed.cloned());
            all.push(Difference { number: one.number, call, place, recorded, replayed });
        };
        let Some(other) = replayed.get(index) else {
            add("", Some(&json!("it was answered")), None);
            continue;
        };
        let (status, other_status) = (json!(one.response.status), json!(other.response.status));
        if status != other_status {
            add("status", Some(&status), Some(&other_status));
        }
        if one.response.fault != other.response.fault {
            add("fault", Some(&one.response.fault), Some(&other.response.fault));
        }
        walk("", Some(&one.response.body), Some(&other.response.body), is_exact, &mut add);
    }
    all
}

fn walk(
    place: &str,
    recorded: Option<&Value>,
    replayed: Option<&Value>,
    is_exact: bool,
    add: &mut impl FnMut(&str, Option<&Value>, Option<&Value>),
) {
    match (recorded, replayed) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                walk(&format!("{place}/{escaped}"), one.get(name), other.get(name), is_exact, add);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for index in 0..one.len().max(other.len()) {
                walk(&format!("{place}/{index}"), one.get(index), other.get(index), is_exact, add);
            }
        }
        (one, other) if one == other => {}
        (Some(Value::String(one)), Some(Value::String(other))) if !is_exact && is_near(one, other) => {}
        (one, other) => add(if place.is_empty() { "body" } else { place }, one, other),
    }
}

/// Whether they differ only as the clock did: times, and the times in ids.
fn is_near(one: &str, other: &str) -> bool {
    let times = one.parse::<UnixMillis>().ok().zip(other.parse::<UnixMillis>().ok());
    let are_ids = [one, other].iter().all(|text| uuid::Uuid::parse_str(text).is_ok() && text.is_ascii());
    times.is_some_and(|(one, other)| one.0.abs_diff(other.0) <= TOLERANCE_MS)
        || are_ids && one.get(RANDOM_PART..) == other.get(RANDOM_PART..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(one: &Value, other: &Value, is_exact: bool) -> Vec<String> {
        let mut places = Vec::new();
        walk("", Some(one), Some(other), is_exact, &mut |place, _, _| places.push(place.to_owned()));
        places
    }

    #[test]
    fn differences_are_named_by_json_pointers() {
        let one = json!({"list": [{"id": 1}, {"id": 2}], "a/b": true, "gone": null});
        let other = json!({"list": [{"id": 1}, {"id": 3}], "a/b": false, "new": 1});
        assert_eq!(places(&one, &other, true), ["/a~1b", "/gone", "/list/1/id", "/new"]);
        assert_eq!(places(&json!("one"), &json!({}), true), ["body"]);
    }

    #[test]
    fn where_the_clock_ran_times_may_be_a_little_apart() {
        let one = json!({"at": "2026-11-14T09:00:00.000Z", "id": "019a8123-0000-7000-8000-000000000001"});
        let other = json!({"at": "2026-11-14T09:00:00.950Z", "id": "019a8123-03b6-7000-8000-000000000001"});
        let another = json!({"at": "2026-11-14T10:00:00.000Z", "id": "019a8123-0000-7000-8000-000000000002"});
        assert_eq!(places(&one, &other, false), Vec::<String>::new());
        assert_eq!(places(&one, &other, true), ["/at", "/id"]);
        assert_eq!(places(&one, &another, false), ["/at", "/id"]);
    }
}
