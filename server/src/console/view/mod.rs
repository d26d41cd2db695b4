//! The parts that every page of the console is made of. Each page is written whole on the server and
//! works as it comes: forms, and answers that lead back to a page. The one script keeps lists live,
//! copies codes and asks before something is lost.

pub mod chart;
pub mod files;
pub mod form;
pub mod frame;
pub mod icon;
pub(super) mod page;
pub mod table;
pub mod visit;
pub mod words;

/// Where the pages are.
pub const ROOT: &str = "/console";

/// An address as it stands under [`ROOT`].
pub fn beneath(address: &'static str) -> &'static str {
    address.strip_prefix(ROOT).filter(|rest| !rest.is_empty()).unwrap_or("/")
}
