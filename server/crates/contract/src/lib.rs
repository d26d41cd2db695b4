//! The contract of the API: its operations, and the differences of requests and answers from it.

// A body in pieces.
mod bounded;
// The content of the contract.
mod description;
// The differences of requests and answers.
mod differences;
// The fields of calls, and which of them are secret.
mod fields;
// Comparison of lists that are kept by hand with the contract, for tests.
pub mod listed;
// The shape of a value, without its content.
mod shape;

pub use self::{
    description::{API, CONTRACT_PATH, Operation, json, words},
    differences::{Difference, DifferenceKind, Differences, Side, of_answer, of_request},
    fields::fields_of_calls,
    shape::shape,
};
