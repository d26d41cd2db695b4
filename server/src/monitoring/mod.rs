//! What those who run the service look at: what is counted, and whether it is well.

// Whether the service is up and ready, and its counts as text.
pub mod health;
// What is counted.
pub mod metrics;
