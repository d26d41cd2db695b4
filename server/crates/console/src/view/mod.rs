//! The shared parts of the pages. Pages are rendered on the server and work without JavaScript: each form
//! submission redirects back to a page. The script only refreshes lists, copies codes and asks for
//! confirmation.

pub mod chart;
pub mod files;
pub mod form;
pub mod frame;
pub mod icon;
pub(super) mod new_sandbox;
pub(super) mod page;
pub mod prelude;
pub mod table;
pub mod visit;
pub mod words;

pub const ROOT: &str = "/console";

pub fn under_root(address: &'static str) -> &'static str {
    address.strip_prefix(ROOT).filter(|rest| !rest.is_empty()).unwrap_or("/")
}
