//! Stories: sandboxes that begin with a situation and tell it step by step. A story is a YAML file.

pub mod api;
mod begin;
mod entry;
mod expected;
mod file;
mod folder;
pub mod guest;
pub mod links;
pub mod open;
pub(super) mod page;
mod scalar;
mod schema;
pub(super) mod section;
mod told;

pub use begin::{begin, check};
pub use file::{Act, BadFile, Expect, Step, Story};
pub use folder::{File, Stories, read_file};
pub use schema::schema;
pub use told::{Progress, StepState, ToldStep, go_on, progress};
