//! Values that are checked where they are read, so that an error has their line; and lists that end in time, whatever
//! the anchors of a file repeat.

use std::{fmt, marker::PhantomData};

use base::error::Failure;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

/// A value that a file has as a text or a number.
pub trait Scalar: Sized {
    /// Reads `text`.
    ///
    /// # Errors
    /// The reason as a sentence.
    fn read(text: &str) -> Result<Self, Failure>;
}

/// A scalar, checked where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Checked<T>(pub T);

impl<'de, T: Scalar> Deserialize<'de> for Checked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<T: Scalar> Visitor<'_> for Reader<T> {
            type Value = Checked<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            // YAML's own text of the value, whatever its type.
            fn visit_str<E: Error>(self, text: &str) -> Result<Checked<T>, E> {
                T::read(text).map(Checked).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Reader(PhantomData))
    }
}

/// A value with fields, and the check that a call of the console makes of it.
pub trait Fields: DeserializeOwned {
    /// # Errors
    /// The reason as a sentence.
    fn check_fields(&self) -> Result<(), Failure>;
}

/// A value with fields, checked where it is read: an error of `#[serde(try_from)]` would have the place of the list or
/// the value that it stands in.
#[derive(Clone, Debug)]
pub struct Given<T>(pub T);

impl<'de, T: Fields> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Fields> Visitor<'de> for Reader<T> {
            type Value = Given<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Given<T>, A::Error> {
                let value = T::deserialize(MapAccessDeserializer::new(fields))?;
                value.check_fields().map_err(A::Error::custom)?;
                Ok(Given(value))
            }
        }

        deserializer.deserialize_map(Reader(PhantomData))
    }
}

/// Reads a list of at most `MOST`.
pub fn at_most<'de, const MOST: usize, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Reader<const MOST: usize, T>(PhantomData<T>);

    impl<'de, const MOST: usize, T: Deserialize<'de>> Visitor<'de> for Reader<MOST, T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MOST}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<T>, A::Error> {
            let mut read = Vec::new();
            while let Some(next) = all.next_element()? {
                if read.len() == MOST {
                    return Err(A::Error::custom(format!("There may be at most {MOST} here.")));
                }
                read.push(next);
            }
            Ok(read)
        }
    }

    deserializer.deserialize_seq(Reader::<MOST, T>(PhantomData))
}
