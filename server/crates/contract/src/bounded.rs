//! A body in pieces: a list element by element, anything else as a whole. So an answer costs little memory, however
//! it is built.

use std::{fmt, io::Read, ops::ControlFlow};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The maximum number of values in a piece. A row of a list has less than a hundred.
const MAX_VALUES: usize = 20_000;

/// Receives a piece, and says whether to go on.
type Each<'e> = &'e mut dyn FnMut(&Value) -> ControlFlow<()>;

/// Reads JSON. If it is a list and there is `each`, calls it for every element, and returns an empty list.
///
/// # Errors
/// If it is not JSON ([`is_data`](serde_json::Error::is_data) is false), a piece has too many values, or `each`
/// breaks off.
pub fn read(reader: impl Read, each: Option<Each<'_>>) -> Result<Value, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_reader(std::io::BufReader::new(reader));
    let body = Piece { left: &mut { MAX_VALUES }, each }.deserialize(&mut json)?;
    json.end()?;
    Ok(body)
}

struct Piece<'l, 'e> {
    /// The number of values that there may still be.
    left: &'l mut usize,
    each: Option<Each<'e>>,
}

impl Piece<'_, '_> {
    fn inner(&mut self) -> Piece<'_, '_> {
        Piece { left: self.left, each: None }
    }
}

impl<'de> DeserializeSeed<'de> for Piece<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        *self.left = self.left.checked_sub(1).ok_or_else(|| D::Error::custom("too many values"))?;
        deserializer.deserialize_any(self)
    }
}

// The functions of the visitor that keep a value as it is.
macro_rules! kept_as_it_is {
    ($($visit:ident: $kind:ty),+) => {
        $(fn $visit<E>(self, value: $kind) -> Result<Value, E> {
            Ok(value.into())
        })+
    };
}

impl<'de> Visitor<'de> for Piece<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    kept_as_it_is!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        if let Some(each) = self.each {
            while let Some(element) =
                list.next_element_seed(Piece { left: &mut { MAX_VALUES }, each: None })?
            {
                if each(&element).is_break() {
                    return Err(A::Error::custom("broken off"));
                }
            }
            return Ok(Value::Array(Vec::new()));
        }
        let mut elements = Vec::new();
        while let Some(element) = list.next_element_seed(self.inner())? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key()? {
            fields.insert(name, map.next_value_seed(self.inner())?);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_function_it_reads_what_there_is() {
        let text = r#"{"a": [1, -2, 0.5, "x", null, true], "b": {}}"#;
        assert_eq!(read(text.as_bytes(), None).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert!(!read(&b"[1, 2"[..], None).unwrap_err().is_data());
        assert!(!read(&b"[1] 2"[..], None).unwrap_err().is_data());
    }

    #[test]
    fn a_list_of_any_length_is_read_element_by_element_and_a_piece_of_too_many_values_is_not() {
        let long = format!("[{}0]", "0,".repeat(2 * MAX_VALUES));
        let mut count = 0;
        let list = read(long.as_bytes(), Some(&mut |_| (count += 1, ControlFlow::Continue(())).1));
        assert_eq!((list.unwrap(), count), (Value::Array(Vec::new()), 2 * MAX_VALUES + 1));
        for nested in [format!("[{long}]"), format!("{{\"a\":{long}}}")] {
            let broken = read(nested.as_bytes(), Some(&mut |_| ControlFlow::Continue(())));
            assert!(broken.unwrap_err().is_data());
        }
    }
}
