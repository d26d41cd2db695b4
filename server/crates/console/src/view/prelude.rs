//! What pages are made of: `use crate::view::prelude::*` in a page.

pub(crate) use super::table::cells;
pub use super::{
    form::{Button, Field, Submit, TIME_HINT},
    frame::{Frame, SuccessMessages, card, done, empty_state, list_card, note},
    icon::Icon,
    page::Page,
    table::{actions, beside, digits, first, left, older_link, right, table},
    visit::{Done, FieldError, Question, Visit},
    words::{Tone, count, duration_text, kes, number, tag, timestamp},
};
